# Stage 5 of the CARB paper: every scorer on the items, on rewrites of them, and on what policies answer.


rule carb_item_states:
    # What a base's reward models share on CARB's items is computed once.
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
        item_files=CARB.item_files,
    output:
        temp(PATHS.item_states("{base}", "carb")),
    log:
        PATHS.log("carb_item_states", "{base}"),
    benchmark:
        PATHS.benchmark("carb_item_states", "{base}")
    priority: 1
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score_long", lambda wc: [wc.base], mb=64_000, minutes=240),
    params:
        limits=[SCALE.frozen_layers, config["scoring"]["max_length"], config["scoring"]["token_budget"]],
    script:
        "../scripts/carb_item_states.py"


rule carb_scores:
    # A scorer is loaded once for all cultures; the prompt of an item is computed once for its four answers.
    input:
        models=lambda wc: CARB.folders(wc.single),
        item_files=CARB.item_files,
        frozen=lambda wc: CARB.item_states(wc.single),
    output:
        CARB.score_files(["{single}"]),
    log:
        PATHS.log("carb_scores", "{single}"),
    benchmark:
        PATHS.benchmark("carb_scores", "{single}")
    priority: lambda wc: int(CARB.entry(wc.single)["kind"] == "generative")  # judges take longest
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score_long", lambda wc: [CARB.model(wc.single)], mb=160_000, minutes=480),
    params:
        entry=lambda wc: CARB.entry(wc.single),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{single}"),
        knockout=None,
    script:
        "../scripts/carb_scores.py"


use rule carb_scores as carb_judge_scores with:
    input:
        models=lambda wc: CARB.folders(wc.playing),
        item_files=CARB.item_files,
        frozen=[],
    output:
        CARB.score_files(["{playing}", "{playing}-knockout"]),
    log:
        PATHS.log("carb_judge_scores", "{playing}"),
    benchmark:
        PATHS.benchmark("carb_judge_scores", "{playing}")
    priority: 1  # the longest of the jobs
    resources:
        **RESOURCES.of("score_long", lambda wc: [CARB.model(wc.playing)], mb=160_000, minutes=720),
    params:
        entry=lambda wc: CARB.entry(wc.playing),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{playing}"),
        knockout=SCALE.job_seed("knockout"),


use rule carb_item_states as carb_perturbed_states with:
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
        item_files=CARB.perturbed_files(*PERTURBED_SETS),
    output:
        temp(PATHS.item_states("{base}", "carb_perturbed")),
    log:
        PATHS.log("carb_perturbed_states", "{base}"),
    benchmark:
        PATHS.benchmark("carb_perturbed_states", "{base}")


rule carb_perturbed_scores:
    # A reward model is loaded once for the rewrites and for the same answers in all languages.
    input:
        models=lambda wc: CARB.folders(wc.perturbed),
        item_files=CARB.perturbed_files(*PERTURBED_SETS),
        frozen=lambda wc: CARB.item_states(wc.perturbed, "carb_perturbed"),
    output:
        scores=CARB.perturbed_score_files(PERTURBED_SETS, ["{perturbed}"]),
        replies=PATHS.perturbed_replies("{perturbed}"),
    log:
        PATHS.log("carb_perturbed_scores", "{perturbed}"),
    benchmark:
        PATHS.benchmark("carb_perturbed_scores", "{perturbed}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score_long", lambda wc: [CARB.model(wc.perturbed)], mb=160_000, minutes=720),
    params:
        entry=lambda wc: CARB.entry(wc.perturbed),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{perturbed}"),
    script:
        "../scripts/carb_perturbed_scores.py"


use rule carb_perturbed_scores as locals_perturbed_scores with:
    # Judges that write criteria take long, so that they see the rewrites of the cultures alone that they are evaluated on.
    input:
        models=lambda wc: FILES.folders(LOCALS.judges[PERTURBED_JUDGES[wc.perturbed_judge]]),
        item_files=[PATHS.carb_perturbed("carb_perturbation", culture) for culture in LOCALS.cultures],
        frozen=[],
    output:
        scores=LOCALS.perturbed_score_files(["{perturbed_judge}"]),
        replies=PATHS.perturbed_replies("{perturbed_judge}"),
    log:
        PATHS.log("locals_perturbed_scores", "{perturbed_judge}"),
    benchmark:
        PATHS.benchmark("locals_perturbed_scores", "{perturbed_judge}")
    resources:
        **RESOURCES.of("score_long", lambda wc: [LOCALS.model], mb=96_000, minutes=240),
    params:
        entry=lambda wc: FILES.loadable(LOCALS.judges[PERTURBED_JUDGES[wc.perturbed_judge]]),
        scoring=LOCALS.scoring,
        cache=PATHS.scores_cache("{perturbed_judge}"),


rule locals_scores:
    # A judge on the parts of both benchmarks that config.yaml names: in the layout of Think-as-Locals, or of others as they are asked.
    input:
        models=lambda wc: FILES.folders(LOCALS.judges[wc.local]),
        rows=[PATHS.translated(SCALE.main, language) for language in SCALE.languages],
        item_files=[PATHS.carb_items(culture) for culture in LOCALS.cultures],
    output:
        rewardbench=PATHS.locals_scores("{local}", "rewardbench.parquet"),
        carb=PATHS.locals_scores("{local}", "carb.parquet"),
        matches=PATHS.locals_scores("{local}", "matches.parquet"),
        replies=PATHS.locals_scores("{local}", "replies.csv"),
    log:
        PATHS.log("locals_scores", "{local}"),
    benchmark:
        PATHS.benchmark("locals_scores", "{local}")
    priority: 1
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score_long", lambda wc: [LOCALS.model_of(wc.local)], mb=160_000, minutes=720),
    params:
        entry=lambda wc: FILES.loadable(LOCALS.judges[wc.local]),
        scoring=LOCALS.scoring,
        cache=PATHS.scores_cache("{local}"),
        part={key: LOCALS.settings["evaluation"][key] for key in ("rows_per_subset", "items_per_cell")},
        languages=SCALE.languages,
        seed=SCALE.job_seed("locals_scores"),
    script:
        "../scripts/locals_scores.py"


rule locals_held_out:
    # What a judge has learnt: its verdicts on pairs of the topics that it is trained on, which it was not trained on.
    input:
        models=lambda wc: FILES.folders(LOCALS.written_by(wc.learner)),
        questions=PATHS.locals_pairs("held_out"),
    output:
        PATHS.locals_scores("{learner}", "held_out.parquet"),
    log:
        PATHS.log("locals_held_out", "{learner}"),
    benchmark:
        PATHS.benchmark("locals_held_out", "{learner}")
    wildcard_constraints:
        learner=one_of(LOCALS.learners),
    priority: 1
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score_long", lambda wc: [LOCALS.model], mb=160_000, minutes=120),
    params:
        entry=lambda wc: FILES.loadable({**LOCALS.written_by(wc.learner), "forced_close": True}),
        scoring=LOCALS.scoring,
        cache=PATHS.scores_cache("locals"),
    script:
        "../scripts/locals_held_out.py"


rule locals_samples:
    # What judges reply before and after training, to read.
    input:
        models=[folder for judge in LOCALS.sampled for folder in FILES.folders(LOCALS.written_by(judge))],
        questions=PATHS.locals_pairs("samples"),
    output:
        PATHS.locals_samples(),
    log:
        PATHS.log("locals_samples", "all"),
    benchmark:
        PATHS.benchmark("locals_samples", "all")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score_long", lambda wc: [LOCALS.model], mb=160_000, minutes=120),
    params:
        entries={judge: FILES.loadable(LOCALS.written_by(judge)) for judge in LOCALS.sampled},
        scoring=LOCALS.scoring,
        cache=PATHS.scores_cache("locals"),
        temperature=LOCALS.settings["grpo"]["temperature"],
        seed=SCALE.job_seed("locals_samples"),
    script:
        "../scripts/locals_samples.py"


rule carb_text_scores:
    input:
        item_files=CARB.item_files,
    output:
        CARB.score_files(TEXT_SCORERS),
    log:
        PATHS.log("carb_text_scores", "all"),
    benchmark:
        PATHS.benchmark("carb_text_scores", "all")
    conda:
        "../../envs/score.yaml"
    params:
        scorers=TEXT_SCORERS,
    script:
        "../scripts/carb_text_scores.py"


use rule carb_text_scores as carb_perturbed_text_scores with:
    input:
        item_files=CARB.perturbed_files("carb_perturbation"),
    output:
        CARB.perturbed_score_files(["carb_perturbation"], ["length"]),
    log:
        PATHS.log("carb_perturbed_text_scores", "all"),
    benchmark:
        PATHS.benchmark("carb_perturbed_text_scores", "all")
    params:
        scorers=["length"],


rule candidates:
    # A policy's answers to questions with accepted answers, several to each.
    input:
        policy=lambda wc: SCALE.base_folder(wc.policy),
        questions=PATHS.carb_questions(),
    output:
        PATHS.candidates("{policy}"),
    log:
        PATHS.log("candidates", "{policy}"),
    benchmark:
        PATHS.benchmark("candidates", "{policy}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("generate", lambda wc: [wc.policy], mb=64_000, minutes=480),
    params:
        sampling={"dtype": SCALE.precision, **CARB.settings["candidates"]},
        seed=lambda wc: SCALE.job_seed("candidates", wc.policy),
    script:
        "../scripts/candidates.py"


use rule candidates as grpo_answers with:
    # The likeliest answer of a policy that was trained by GRPO, in its chat template, as it was trained.
    input:
        policy=PATHS.policy("grpo_{rewarding}"),
        questions=PATHS.carb_questions(),
    output:
        PATHS.grpo_answers("{rewarding}"),
    log:
        PATHS.log("grpo_answers", "{rewarding}"),
    benchmark:
        PATHS.benchmark("grpo_answers", "{rewarding}")
    wildcard_constraints:
        rewarding=one_of(CARB.rewarding),
    resources:
        **RESOURCES.of("generate", lambda wc: [CARB.grpo["policy"]], mb=64_000, minutes=240),
    params:
        sampling=CARB.greedy,
        seed=SCALE.job_seed("grpo_answers"),


use rule grpo_answers as grpo_start_answers with:
    # The same of the policy before its training.
    input:
        policy=lambda wc: SCALE.base_folder(CARB.grpo["policy"]),
        questions=PATHS.carb_questions(),
    output:
        PATHS.grpo_start_answers(),
    log:
        PATHS.log("grpo_start_answers", "all"),
    benchmark:
        PATHS.benchmark("grpo_start_answers", "all")


use rule carb_scores as candidate_scores with:
    input:
        models=lambda wc: CARB.folders(wc.single),
        item_files=CARB.candidates,
        frozen=[],
    output:
        CARB.candidate_scores(["{single}"]),
    log:
        PATHS.log("candidate_scores", "{single}"),
    benchmark:
        PATHS.benchmark("candidate_scores", "{single}")


use rule candidate_scores as candidate_judge_scores with:
    input:
        models=lambda wc: CARB.folders(wc.playing),
        item_files=CARB.candidates,
        frozen=[],
    output:
        [
            PATHS.candidate_scores(policy, f"{{playing}}{kind}")
            for kind in ("", "-knockout")
            for policy in CARB.policies
        ],
    log:
        PATHS.log("candidate_judge_scores", "{playing}"),
    benchmark:
        PATHS.benchmark("candidate_judge_scores", "{playing}")
    priority: 1
    resources:
        **RESOURCES.of("score_long", lambda wc: [CARB.model(wc.playing)], mb=160_000, minutes=720),
    params:
        entry=lambda wc: CARB.entry(wc.playing),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{playing}"),
        knockout=SCALE.job_seed("knockout"),
