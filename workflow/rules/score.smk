# Stage 5: every scorer on every benchmark: reward models, one job for all languages of each; baselines; and the policies of
# Figure 3, whose answers a judge compares with references.


rule reward_scores:
    # What Table 1 needs of a base and a target language: its own reward model and the source language's, on that language.
    input:
        models=[PATHS.model("{base}_{language}{seed}"), PATHS.model(f"{{base}}_{SCALE.source}{{seed}}")],
        rows=[PATHS.translated("{benchmark}", "{language}")],
    output:
        PATHS.scores("{benchmark}", "{base}_{language}{seed}", "{language}"),
        PATHS.scores("{benchmark}", f"{{base}}_{SCALE.source}{{seed}}", "{language}"),
    log:
        PATHS.log("reward_scores", "{benchmark}_{base}_{language}{seed}"),
    benchmark:
        PATHS.benchmark("reward_scores", "{benchmark}_{base}_{language}{seed}")
    wildcard_constraints:
        language=one_of(SCALE.targets),
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of(
            "score", lambda wc: [wc.get("base") or ModelName.parse(wc.model).base], mb=64_000, minutes=240
        ),
    params:
        pairs=[(0, 0), (1, 0)],
        scoring=SCALE.scoring,
        top_layers=SCALE.frozen_layers,
    script:
        "../scripts/reward_scores.py"


use rule reward_scores as source_reward_scores with:
    # The source language's reward model on that language.
    input:
        models=[PATHS.model(f"{{base}}_{SCALE.source}{{seed}}")],
        rows=[PATHS.translated("{benchmark}", SCALE.source)],
    output:
        PATHS.scores("{benchmark}", f"{{base}}_{SCALE.source}{{seed}}", SCALE.source),
    log:
        PATHS.log("source_reward_scores", "{benchmark}_{base}{seed}"),
    benchmark:
        PATHS.benchmark("source_reward_scores", "{benchmark}_{base}{seed}")
    params:
        pairs=[(0, 0)],
        scoring=SCALE.scoring,
        top_layers=SCALE.frozen_layers,


# What Tables 3-7 need beside that: every other pair of a training and an evaluation language. Snakemake finds the rules that may make
# a file by how their patterns begin, and tries the patterns of such a rule one by one: so a rule for each base and few languages.
for number, (base, trainings) in enumerate(SCALE.cross_scored, start=1):

    rule:
        name:
            f"cross_reward_scores_{number}"
        input:
            models=[PATHS.model(f"{base}_{training}{{seed}}") for training in trainings],
            rows=[PATHS.translated(SCALE.main, language) for language in SCALE.languages],
        output:
            [
                PATHS.scores(SCALE.main, f"{base}_{training}{{seed}}", language)
                for training in trainings
                for language in SCALE.languages
                if language != training
            ],
        log:
            PATHS.log("cross_reward_scores", f"{base}{{seed}}_{'_'.join(trainings)}"),
        benchmark:
            PATHS.benchmark("cross_reward_scores", f"{base}{{seed}}_{'_'.join(trainings)}")
        conda:
            "../../envs/score.yaml"
        threads: config["threads"]["score"]
        resources:
            **RESOURCES.of("score_long", lambda wc, base=base: [base], mb=64_000, minutes=480),
        params:
            pairs=[
                (model, rows)
                for model, training in enumerate(trainings)
                for rows, language in enumerate(SCALE.languages)
                if language != training
            ],
            scoring=SCALE.scoring,
            top_layers=SCALE.frozen_layers,
        script:
            "../scripts/reward_scores.py"


rule configured_reward_scores:
    # A reward model of config.yaml is loaded once for both benchmarks and all languages.
    input:
        models=lambda wc: FILES.folders(SCALE.configured[wc.configured]),
        rows=[
            PATHS.translated(benchmark, language)
            for benchmark in SCALE.benchmarks
            for language in SCALE.languages
        ],
    output:
        [
            PATHS.scores(benchmark, "{configured}", language)
            for benchmark in SCALE.benchmarks
            for language in SCALE.languages
        ],
    log:
        PATHS.log("configured_reward_scores", "{configured}"),
    benchmark:
        PATHS.benchmark("configured_reward_scores", "{configured}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score", lambda wc: [SCALE.configured[wc.configured]], mb=160_000, minutes=720),
    params:
        entry=lambda wc: FILES.loadable(SCALE.configured[wc.configured]),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{configured}"),
    script:
        "../scripts/configured_reward_scores.py"


use rule configured_reward_scores as catalogued_reward_scores with:
    # A reward model of the catalog, for the paper's tables: on the main benchmark only.
    input:
        models=lambda wc: FILES.folders(SCALE.catalogued[wc.catalogued]),
        rows=[PATHS.translated(SCALE.main, language) for language in SCALE.languages],
    output:
        [PATHS.scores(SCALE.main, "{catalogued}", language) for language in SCALE.languages],
    log:
        PATHS.log("catalogued_reward_scores", "{catalogued}"),
    benchmark:
        PATHS.benchmark("catalogued_reward_scores", "{catalogued}")
    resources:
        **RESOURCES.of("score", lambda wc: [SCALE.catalogued[wc.catalogued]], mb=160_000, minutes=720),
    params:
        entry=lambda wc: FILES.loadable(SCALE.catalogued[wc.catalogued]),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{catalogued}"),


use rule configured_reward_scores as own_configured_reward_scores with:
    # A benchmark of the user's own waits for no other.
    input:
        models=lambda wc: FILES.folders(SCALE.configured[wc.configured]),
        rows=[PATHS.translated("{own}", "{language}")],
    output:
        [PATHS.scores("{own}", "{configured}", "{language}")],
    log:
        PATHS.log("own_configured_reward_scores", "{own}_{configured}_{language}"),
    benchmark:
        PATHS.benchmark("own_configured_reward_scores", "{own}_{configured}_{language}")
    params:
        entry=lambda wc: FILES.loadable(SCALE.configured[wc.configured]),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{configured}"),


use rule reward_scores as own_reward_scores with:
    input:
        models=[PATHS.model("{model}")],
        rows=lambda wc: [PATHS.translated(wc.own, SCALE.own_benchmarks[wc.own]["language"])],
    output:
        [PATHS.scores("{own}", "{model}", "{language}")],
    log:
        PATHS.log("own_reward_scores", "{own}_{model}_{language}"),
    benchmark:
        PATHS.benchmark("own_reward_scores", "{own}_{model}_{language}")
    wildcard_constraints:
        language=one_of(sorted({own["language"] for own in SCALE.own_benchmarks.values()})),
    params:
        pairs=[(0, 0)],
        scoring=SCALE.scoring,
        top_layers=SCALE.frozen_layers,


rule text_baseline_scores:
    input:
        train=PATHS.translated("train", "{language}"),
        rows=PATHS.translated("{scored}", "{language}"),
    output:
        length=PATHS.scores("{scored}", "length", "{language}"),
        answer=PATHS.scores("{scored}", "tfidf-answer", "{language}"),
        prompt_answer=PATHS.scores("{scored}", "tfidf-prompt-answer", "{language}"),
    log:
        PATHS.log("text_baseline_scores", "{scored}_{language}"),
    benchmark:
        PATHS.benchmark("text_baseline_scores", "{scored}_{language}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.without_model(mb=16_000, minutes=60),
    params:
        seed=SCALE.job_seed("text_baseline_scores"),
    script:
        "../scripts/text_baseline_scores.py"


rule base_loglik_scores:
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
        rows=[PATHS.translated(SCALE.main, language) for language in SCALE.languages],
    output:
        scores=[PATHS.scores(SCALE.main, "loglik-{base}", language) for language in SCALE.languages],
        statistics=PATHS.base_statistics(SCALE.main, "{base}"),
    log:
        PATHS.log("base_loglik_scores", "{base}"),
    benchmark:
        PATHS.benchmark("base_loglik_scores", "{base}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score", lambda wc: [wc.base], mb=64_000, minutes=240),
    params:
        scoring=SCALE.scoring,
    script:
        "../scripts/base_loglik_scores.py"


use rule base_loglik_scores as twin_loglik_scores with:
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
        rows=[PATHS.translated(SCALE.twins, language) for language in SCALE.languages],
    output:
        scores=[PATHS.scores(SCALE.twins, "loglik-{base}", language) for language in SCALE.languages],
        statistics=PATHS.base_statistics(SCALE.twins, "{base}"),
    log:
        PATHS.log("twin_loglik_scores", "{base}"),
    benchmark:
        PATHS.benchmark("twin_loglik_scores", "{base}")


rule base_baseline_scores:
    input:
        **{
            benchmark: [PATHS.translated(benchmark, language) for language in SCALE.languages]
            for benchmark in SCALE.benchmarks
        },
        base=lambda wc: SCALE.base_folder(wc.base),
        train=[PATHS.translated("train", language) for language in SCALE.languages],
        statistics=[PATHS.base_statistics(benchmark, "{base}") for benchmark in SCALE.benchmarks],
    output:
        [
            PATHS.scores(benchmark, f"{kind}-{{base}}", language)
            for benchmark in SCALE.benchmarks
            for language in SCALE.languages
            for kind in ("probe", "pmi")
        ],
    log:
        PATHS.log("base_baseline_scores", "{base}"),
    benchmark:
        PATHS.benchmark("base_baseline_scores", "{base}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score", lambda wc: [wc.base], mb=64_000, minutes=240),
    params:
        benchmarks=SCALE.benchmarks,
        scoring=SCALE.scoring,
        pairs=config["probe_pairs"],
        seed=SCALE.job_seed("base_baseline_scores"),
    script:
        "../scripts/base_baseline_scores.py"


rule passage_states:
    # The last hidden states of parallel passages, under a base and each of its reward models.
    input:
        models=lambda wc: [
            SCALE.base_folder(wc.base),
            *(PATHS.model(f"{wc.base}_{training}") for training in SCALE.languages),
        ],
        passages=[PATHS.translated("passages", language) for language in SCALE.languages],
    output:
        PATHS.passage_states("{base}"),
    log:
        PATHS.log("passage_states", "{base}"),
    benchmark:
        PATHS.benchmark("passage_states", "{base}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score", lambda wc: [wc.base], mb=64_000, minutes=60),
    params:
        names=["base", *SCALE.languages],
        limits=[config["scoring"]["max_length"], config["scoring"]["token_budget"]],
        top_layers=SCALE.frozen_layers,
    script:
        "../scripts/passage_states.py"


rule policy_answers:
    # Every policy of a language on the held-out instructions, as often as there are runs.
    input:
        policies=[ALIGNMENT.start, *(PATHS.policy(f"dpo_{labeller}_{{language}}") for labeller in LABELLERS)],
        instructions=PATHS.translated("instructions", "{language}"),
    output:
        PATHS.alignment("answers_{language}.jsonl"),
    log:
        PATHS.log("policy_answers", "{language}"),
    benchmark:
        PATHS.benchmark("policy_answers", "{language}")
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("generate", lambda wc: [ALIGNMENT.policy], mb=64_000, minutes=240),
    params:
        names=["base", *LABELLERS],
        runs=ALIGNMENT.settings["runs"],
        sampling={"dtype": SCALE.precision, **ALIGNMENT.settings["sampling"]},
        serve=SCALE.serve,
        seed=lambda wc: SCALE.job_seed("policy_answers", wc.language),
    script:
        "../scripts/policy_answers.py"


rule reference_answers:
    # A model's own answers to compare with, where alignment.reference names one and the instructions bring none.
    input:
        models=[
            folder
            for name in [ALIGNMENT.settings["reference"]]
            if name
            for folder in FILES.folders(KNOWN.reward_models[name])
        ],
        instructions=PATHS.translated("instructions", "{language}"),
    output:
        PATHS.alignment("references_{language}.jsonl"),
    log:
        PATHS.log("reference_answers", "{language}"),
    benchmark:
        PATHS.benchmark("reference_answers", "{language}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of(
            "score",
            lambda wc: [KNOWN.reward_models[ALIGNMENT.settings["reference"]]],
            mb=160_000,
            minutes=720,
        ),
    params:
        entry=lambda wc: FILES.loadable(KNOWN.reward_models[ALIGNMENT.settings["reference"]]),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache(f"{ALIGNMENT.settings['reference']}-references"),
    script:
        "../scripts/reference_answers.py"


rule judgements:
    input:
        models=FILES.folders(KNOWN.reward_models[ALIGNMENT.settings["judge"]]),
        answers=PATHS.alignment("answers_{language}.jsonl"),
        instructions=ALIGNMENT.judged_instructions("{language}"),
    output:
        PATHS.alignment("judgements_{language}.csv"),
    log:
        PATHS.log("judgements", "{language}"),
    benchmark:
        PATHS.benchmark("judgements", "{language}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of(
            "score", lambda wc: [KNOWN.reward_models[ALIGNMENT.settings["judge"]]], mb=160_000, minutes=720
        ),
    params:
        entry=FILES.loadable(KNOWN.reward_models[ALIGNMENT.settings["judge"]]),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache(f"{ALIGNMENT.settings['judge']}-alignment"),
    script:
        "../scripts/judgements.py"
