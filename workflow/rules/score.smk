# Stage 5: every scorer on every benchmark: reward models, one job for all languages of each; and baselines.


rule reward_scores:
    # What Table 1 needs of a base and a target language: its own reward model and the source language's, on that language.
    input:
        models=[PATHS.model("{base}_{language}{seed}"), PATHS.model(f"{{base}}_{SOURCE}{{seed}}")],
        rows=[PATHS.translated("{benchmark}", "{language}")],
    output:
        PATHS.scores("{benchmark}", "{base}_{language}{seed}", "{language}"),
        PATHS.scores("{benchmark}", f"{{base}}_{SOURCE}{{seed}}", "{language}"),
    log:
        PATHS.log("reward_scores", "{benchmark}_{base}_{language}{seed}"),
    benchmark:
        PATHS.benchmark("reward_scores", "{benchmark}_{base}_{language}{seed}")
    wildcard_constraints:
        language=one_of(TARGETS),
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score", lambda wc: [trained_base(wc)]),
    params:
        pairs=[(0, 0), (1, 0)],
        scoring=SCORING,
        top_layers=frozen_layers(),
        code=code("scoring.in_turn"),
    script:
        "../scripts/reward_scores.py"


use rule reward_scores as source_reward_scores with:
    # The source language's reward model on that language.
    input:
        models=[PATHS.model(f"{{base}}_{SOURCE}{{seed}}")],
        rows=[PATHS.translated("{benchmark}", SOURCE)],
    output:
        PATHS.scores("{benchmark}", f"{{base}}_{SOURCE}{{seed}}", SOURCE),
    log:
        PATHS.log("source_reward_scores", "{benchmark}_{base}{seed}"),
    benchmark:
        PATHS.benchmark("source_reward_scores", "{benchmark}_{base}{seed}")
    params:
        pairs=[(0, 0)],
        scoring=SCORING,
        top_layers=frozen_layers(),
        code=code("scoring.in_turn"),


use rule reward_scores as cross_reward_scores with:
    # What Tables 3-7 need beside that: every other pair of a training and an evaluation language.
    input:
        models=[PATHS.model(f"{{base}}_{training}{{seed}}") for training in TARGETS],
        rows=[PATHS.translated(MAIN, language) for language in LANGUAGES],
    output:
        [
            PATHS.scores(MAIN, f"{{base}}_{training}{{seed}}", language)
            for training in TARGETS
            for language in LANGUAGES
            if language != training
        ],
    log:
        PATHS.log("cross_reward_scores", "{base}{seed}"),
    benchmark:
        PATHS.benchmark("cross_reward_scores", "{base}{seed}")
    params:
        pairs=[
            (model, rows)
            for model, training in enumerate(TARGETS)
            for rows, language in enumerate(LANGUAGES)
            if language != training
        ],
        scoring=SCORING,
        top_layers=frozen_layers(),
        code=code("scoring.in_turn"),


rule listed_reward_scores:
    # A reward model of config.yaml is loaded once for all benchmarks and languages.
    input:
        models=lambda wc: folders(LISTED[wc.listed]),
        rows=[
            *(PATHS.translated(benchmark, language) for benchmark in SCORED for language in LANGUAGES),
            *(PATHS.translated(name, own["language"]) for name, own in OWN.items()),
        ],
    output:
        [PATHS.scores(benchmark, "{listed}", language) for benchmark in SCORED for language in LANGUAGES],
        [PATHS.scores(name, "{listed}", own["language"]) for name, own in OWN.items()],
    log:
        PATHS.log("listed_reward_scores", "{listed}"),
    benchmark:
        PATHS.benchmark("listed_reward_scores", "{listed}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score", lambda wc: [LISTED[wc.listed]]),
    params:
        entry=lambda wc: located(LISTED[wc.listed]),
        scoring=SCORING,
        cache=PATHS.scores_cache("{listed}"),
        code=code("scoring.families", "scoring.pairs", "tables"),
    script:
        "../scripts/listed_reward_scores.py"


use rule listed_reward_scores as off_the_shelf_scores with:
    # A reward model of the catalog, for the paper's tables: on the main benchmark only.
    input:
        models=lambda wc: folders(CATALOG[wc.shelf]),
        rows=[PATHS.translated(MAIN, language) for language in LANGUAGES],
    output:
        [PATHS.scores(MAIN, "{shelf}", language) for language in LANGUAGES],
    log:
        PATHS.log("off_the_shelf_scores", "{shelf}"),
    benchmark:
        PATHS.benchmark("off_the_shelf_scores", "{shelf}")
    resources:
        **holding("score", lambda wc: [CATALOG[wc.shelf]]),
    params:
        entry=lambda wc: located(CATALOG[wc.shelf]),
        scoring=SCORING,
        cache=PATHS.scores_cache("{shelf}"),
        code=code("scoring.families", "scoring.pairs", "tables"),


use rule reward_scores as own_reward_scores with:
    input:
        models=[PATHS.model("{model}")],
        rows=lambda wc: [PATHS.translated(wc.own, OWN[wc.own]["language"])],
    output:
        [PATHS.scores("{own}", "{model}", "{language}")],
    log:
        PATHS.log("own_reward_scores", "{own}_{model}_{language}"),
    benchmark:
        PATHS.benchmark("own_reward_scores", "{own}_{model}_{language}")
    params:
        pairs=[(0, 0)],
        scoring=SCORING,
        top_layers=frozen_layers(),
        code=code("scoring.in_turn"),


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
    params:
        seed=job_seed(SEED, "text_baseline_scores"),
        code=code("baselines", "scoring.pairs", "tables"),
    script:
        "../scripts/text_baseline_scores.py"


rule base_loglik_scores:
    input:
        base=PATHS.base_model("{base}"),
        rows=[PATHS.translated(MAIN, language) for language in LANGUAGES],
    output:
        scores=[PATHS.scores(MAIN, "loglik-{base}", language) for language in LANGUAGES],
        statistics=PATHS.base_statistics(MAIN, "{base}"),
    log:
        PATHS.log("base_loglik_scores", "{base}"),
    benchmark:
        PATHS.benchmark("base_loglik_scores", "{base}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score", lambda wc: [wc.base]),
    params:
        scoring=SCORING,
        code=code("baselines", "scoring.pairs", "tables"),
    script:
        "../scripts/base_loglik_scores.py"


use rule base_loglik_scores as twin_loglik_scores with:
    input:
        base=PATHS.base_model("{base}"),
        rows=[PATHS.translated(TWINS, language) for language in LANGUAGES],
    output:
        scores=[PATHS.scores(TWINS, "loglik-{base}", language) for language in LANGUAGES],
        statistics=PATHS.base_statistics(TWINS, "{base}"),
    log:
        PATHS.log("twin_loglik_scores", "{base}"),
    benchmark:
        PATHS.benchmark("twin_loglik_scores", "{base}")


rule base_baseline_scores:
    input:
        **{benchmark: [PATHS.translated(benchmark, language) for language in LANGUAGES] for benchmark in SCORED},
        base=PATHS.base_model("{base}"),
        train=[PATHS.translated("train", language) for language in LANGUAGES],
        statistics=[PATHS.base_statistics(benchmark, "{base}") for benchmark in SCORED],
    output:
        [
            PATHS.scores(benchmark, f"{kind}-{{base}}", language)
            for benchmark in SCORED
            for language in LANGUAGES
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
        **holding("score", lambda wc: [wc.base]),
    params:
        benchmarks=SCORED,
        scoring=SCORING,
        seed=job_seed(SEED, "base_baseline_scores"),
        code=code("baselines", "scoring.pairs", "tables"),
    script:
        "../scripts/base_baseline_scores.py"


rule passage_states:
    # The last hidden states of parallel passages, under a base and each of its reward models.
    input:
        models=[PATHS.base_model("{base}"), *(PATHS.model(f"{{base}}_{training}") for training in LANGUAGES)],
        passages=[PATHS.translated("passages", language) for language in LANGUAGES],
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
        **holding("score", lambda wc: [wc.base]),
    params:
        names=["base", *LANGUAGES],
        limits=[config["scoring"]["max_length"], config["scoring"]["token_budget"]],
        code=code("hidden_states"),
    script:
        "../scripts/passage_states.py"
