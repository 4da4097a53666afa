# Stage 5 of the CARB paper: every scorer on the items, on rewrites of them, and on what policies answer.


rule carb_item_states:
    # What a base's reward models share on CARB's items is computed once.
    input:
        base=PATHS.base_model("{base}"),
        item_files=carb_item_files(),
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
        **holding("score_long", lambda wc: [wc.base]),
    params:
        limits=[frozen_layers(), config["scoring"]["max_length"], config["scoring"]["token_budget"]],
        code=code("carb.scores"),
    script:
        "../scripts/carb_item_states.py"


rule carb_scores:
    # A scorer is loaded once for all cultures; the prompt of an item is computed once for its four answers.
    input:
        models=lambda wc: carb_folders(wc.single),
        item_files=carb_item_files(),
        frozen=lambda wc: item_states(wc.single),
    output:
        carb_score_files("{single}"),
    log:
        PATHS.log("carb_scores", "{single}"),
    benchmark:
        PATHS.benchmark("carb_scores", "{single}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score_long", lambda wc: [carb_model(wc.single)]),
    params:
        entry=lambda wc: carb_entry(wc.single),
        scoring=SCORING,
        cache=PATHS.scores_cache("{single}"),
        knockout=None,
        code=code("carb.scores", "tables"),
    script:
        "../scripts/carb_scores.py"


use rule carb_scores as carb_judge_scores with:
    input:
        models=lambda wc: carb_folders(wc.playing),
        item_files=carb_item_files(),
        frozen=[],
    output:
        carb_score_files("{playing}", "{playing}-knockout"),
    log:
        PATHS.log("carb_judge_scores", "{playing}"),
    benchmark:
        PATHS.benchmark("carb_judge_scores", "{playing}")
    priority: 1  # the longest of the jobs
    resources:
        **holding("score_long", lambda wc: [carb_model(wc.playing)]),
    params:
        entry=lambda wc: carb_entry(wc.playing),
        scoring=SCORING,
        cache=PATHS.scores_cache("{playing}"),
        knockout=job_seed(SEED, "knockout"),
        code=code("carb.scores", "tables"),


use rule carb_item_states as carb_perturbed_states with:
    input:
        base=PATHS.base_model("{base}"),
        item_files=carb_perturbed_files(),
    output:
        temp(PATHS.item_states("{base}", "carb_perturbed")),
    log:
        PATHS.log("carb_perturbed_states", "{base}"),
    benchmark:
        PATHS.benchmark("carb_perturbed_states", "{base}")


rule carb_perturbed_scores:
    # A reward model is loaded once for the rewrites and for the same answers in all languages.
    input:
        models=lambda wc: carb_folders(wc.perturbed),
        item_files=carb_perturbed_files(),
        frozen=lambda wc: item_states(wc.perturbed, "carb_perturbed"),
    output:
        scores=carb_perturbed_score_files(PERTURBED_SETS, ["{perturbed}"]),
        replies=PATHS.perturbed_replies("{perturbed}"),
    log:
        PATHS.log("carb_perturbed_scores", "{perturbed}"),
    benchmark:
        PATHS.benchmark("carb_perturbed_scores", "{perturbed}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score_long", lambda wc: [carb_model(wc.perturbed)]),
    params:
        entry=lambda wc: carb_entry(wc.perturbed),
        scoring=SCORING,
        cache=PATHS.scores_cache("{perturbed}"),
        code=code("carb.scores", "carb.against_first", "locals.evaluation", "locals.replies", "tables"),
    script:
        "../scripts/carb_perturbed_scores.py"


use rule carb_perturbed_scores as locals_perturbed_scores with:
    # Judges that write criteria take long, so that they see the rewrites of the cultures alone that they are evaluated on.
    input:
        models=lambda wc: folders(LOCALS_JUDGES[PERTURBED_JUDGES[wc.perturbed_judge]]),
        item_files=[PATHS.carb_perturbed("carb_perturbation", culture) for culture in LOCALS["evaluation"]["cultures"]],
        frozen=[],
    output:
        scores=locals_perturbed_score_files(["{perturbed_judge}"]),
        replies=PATHS.perturbed_replies("{perturbed_judge}"),
    log:
        PATHS.log("locals_perturbed_scores", "{perturbed_judge}"),
    benchmark:
        PATHS.benchmark("locals_perturbed_scores", "{perturbed_judge}")
    resources:
        **holding("score_long", lambda wc: [LOCALS_MODEL]),
    params:
        entry=lambda wc: located(LOCALS_JUDGES[PERTURBED_JUDGES[wc.perturbed_judge]]),
        scoring=locals_scoring(),
        cache=PATHS.scores_cache("{perturbed_judge}"),
        code=code("carb.scores", "carb.against_first", "locals.evaluation", "locals.replies", "tables"),


rule locals_scores:
    # A judge in the layout of Think-as-Locals, on the parts of both benchmarks that config.yaml names.
    input:
        models=lambda wc: folders(LOCALS_JUDGES[wc.local]),
        rows=[PATHS.translated(MAIN, language) for language in LANGUAGES],
        item_files=[PATHS.carb_items(culture) for culture in LOCALS["evaluation"]["cultures"]],
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
        **holding("score_long", lambda wc: [LOCALS_MODEL]),
    params:
        entry=lambda wc: located(LOCALS_JUDGES[wc.local]),
        scoring=locals_scoring(),
        cache=PATHS.scores_cache("{local}"),
        part={key: LOCALS["evaluation"][key] for key in ("rows_per_subset", "items_per_cell")},
        languages=LANGUAGES,
        seed=job_seed(SEED, "locals_scores"),
        code=code("draws", "locals.evaluation", "locals.replies", "scoring.families", "tables"),
    script:
        "../scripts/locals_scores.py"


rule locals_samples:
    # What judges reply before and after training, to read.
    input:
        models=[folder for judge in SAMPLED for folder in folders(written_by(judge))],
        questions=PATHS.locals_pairs("samples"),
    output:
        PATHS.analysis("locals/samples.csv"),
    log:
        PATHS.log("locals_samples", "all"),
    benchmark:
        PATHS.benchmark("locals_samples", "all")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score_long", lambda wc: [LOCALS_MODEL]),
    params:
        entries={judge: located(written_by(judge)) for judge in SAMPLED},
        scoring=locals_scoring(),
        cache=PATHS.scores_cache("locals"),
        temperature=LOCALS["grpo"]["temperature"],
        seed=job_seed(SEED, "locals_samples"),
        code=code("locals.samples", "scoring.families", "tables"),
    script:
        "../scripts/locals_samples.py"


rule carb_text_scores:
    input:
        item_files=carb_item_files(),
    output:
        carb_score_files("length", "script"),
    log:
        PATHS.log("carb_text_scores", "all"),
    benchmark:
        PATHS.benchmark("carb_text_scores", "all")
    conda:
        "../../envs/score.yaml"
    params:
        scorers=["length", "script"],
        code=code("carb.scores", "carb.baselines", "tables"),
    script:
        "../scripts/carb_text_scores.py"


use rule carb_text_scores as carb_perturbed_text_scores with:
    input:
        item_files=[PATHS.carb_perturbed("carb_perturbation", culture) for culture in CARB["cultures"]],
    output:
        carb_perturbed_score_files(["carb_perturbation"], ["length"]),
    log:
        PATHS.log("carb_perturbed_text_scores", "all"),
    benchmark:
        PATHS.benchmark("carb_perturbed_text_scores", "all")
    params:
        scorers=["length"],
        code=code("carb.scores", "carb.baselines", "tables"),


rule candidates:
    # A policy's answers to questions with accepted answers, several to each.
    input:
        policy=PATHS.base_model("{policy}"),
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
        **holding("generate", lambda wc: [wc.policy]),
    params:
        sampling={"dtype": PRECISION, **CARB["candidates"]},
        seed=lambda wc: job_seed(SEED, "candidates", wc.policy),
        code=code("carb.candidates", "files"),
    script:
        "../scripts/candidates.py"


use rule carb_scores as candidate_scores with:
    input:
        models=lambda wc: carb_folders(wc.single),
        item_files=[PATHS.candidates(policy) for policy in CARB["policies"]],
        frozen=[],
    output:
        [PATHS.candidate_scores(policy, "{single}") for policy in CARB["policies"]],
    log:
        PATHS.log("candidate_scores", "{single}"),
    benchmark:
        PATHS.benchmark("candidate_scores", "{single}")


use rule carb_judge_scores as candidate_judge_scores with:
    input:
        models=lambda wc: carb_folders(wc.playing),
        item_files=[PATHS.candidates(policy) for policy in CARB["policies"]],
        frozen=[],
    output:
        [PATHS.candidate_scores(policy, f"{{playing}}{kind}") for kind in ("", "-knockout") for policy in CARB["policies"]],
    log:
        PATHS.log("candidate_judge_scores", "{playing}"),
    benchmark:
        PATHS.benchmark("candidate_judge_scores", "{playing}")
    resources:
        **holding("score_long", lambda wc: [carb_model(wc.playing)]),
