# Figure 3: a policy is sampled, reward models label its responses, DPO trains it on them, a judge says who answers better.


rule sft_policy:
    input:
        base=PATHS.base_model(ALIGNMENT["policy"]),
        rows=[PATHS.translated("train", language) for language in LANGUAGES],
    output:
        directory(PATHS.policy("sft")),
    log:
        PATHS.log("sft_policy", "all"),
    benchmark:
        PATHS.benchmark("sft_policy", "all")
    priority: 1  # all that follows waits for it
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["train"]
    resources:
        **holding("supervise", lambda wc: [ALIGNMENT["policy"]], ALIGNMENT["sft"]),
    params:
        rows=(ALIGNMENT["sft"] or {}).get("rows"),
        settings=training_settings(ALIGNMENT["sft"], left_out="rows"),
        launch=LAUNCH,
        seed=job_seed(SEED, "sft_policy"),
        code=code("alignment.policies", "launch"),
    script:
        "../scripts/sft_policy.py"


rule sampled_responses:
    input:
        policy=start_policy(),
        rows=PATHS.translated(prompt_rows(), "{language}"),
    output:
        PATHS.alignment("responses_{language}.jsonl"),
    log:
        PATHS.log("sampled_responses", "{language}"),
    benchmark:
        PATHS.benchmark("sampled_responses", "{language}")
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("generate", lambda wc: [ALIGNMENT["policy"]]),
    params:
        prompts=ALIGNMENT["prompts"],
        responses=ALIGNMENT["responses"],
        sampling={"dtype": PRECISION, **ALIGNMENT["sampling"]},
        serve=SERVE,
        seed=lambda wc: job_seed(SEED, "sampled_responses", wc.language),
        code=code("alignment.sampling", "files"),
    script:
        "../scripts/sampled_responses.py"


rule labelled_pairs:
    input:
        models=lambda wc: labellers(wc.language),
        responses=PATHS.alignment("responses_{language}.jsonl"),
    output:
        pairs=[PATHS.alignment(f"pairs_{labeller}_{{language}}.jsonl") for labeller in LABELLERS],
        counts=PATHS.alignment("pairs_{language}.csv"),
    log:
        PATHS.log("labelled_pairs", "{language}"),
    benchmark:
        PATHS.benchmark("labelled_pairs", "{language}")
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score", lambda wc: [ALIGNMENT["reward_base"]]),
    params:
        labellers=LABELLERS,
        scoring=SCORING,
        code=code("alignment.preferences", "scoring.load"),
    script:
        "../scripts/labelled_pairs.py"


rule dpo_policy:
    input:
        policy=start_policy(),
        pairs=PATHS.alignment("pairs_{labeller}_{language}.jsonl"),
    output:
        directory(PATHS.policy("dpo_{labeller}_{language}")),
    log:
        PATHS.log("dpo_policy", "{labeller}_{language}"),
    benchmark:
        PATHS.benchmark("dpo_policy", "{labeller}_{language}")
    wildcard_constraints:
        labeller=one_of(LABELLERS),
    priority: 1
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["train"]
    resources:
        **holding("train", lambda wc: [ALIGNMENT["policy"]], ALIGNMENT["dpo"]),
    params:
        settings=training_settings(ALIGNMENT["dpo"]),
        launch=LAUNCH,
        seed=lambda wc: job_seed(SEED, "dpo_policy", wc.language),
        code=code("alignment.policies", "launch"),
    script:
        "../scripts/dpo_policy.py"


rule instructions:
    input:
        items_of(ALIGNMENT["instructions"]),
    output:
        [PATHS.translated("instructions", language) for language in LANGUAGES],
    log:
        PATHS.log("instructions", "all"),
    benchmark:
        PATHS.benchmark("instructions", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        languages=LANGUAGES,
        roles=["prompt"] if ALIGNMENT["reference"] else ["prompt", "reference"],
        code=code("alignment.instructions", "files"),
    script:
        "../scripts/instructions.py"


rule reference_answers:
    # A model's own answers to compare with, where alignment.reference names one and the instructions bring none.
    input:
        models=[folder for name in [ALIGNMENT["reference"]] if name for folder in folders(CATALOG[name])],
        instructions=PATHS.translated("instructions", "{language}"),
    output:
        PATHS.translated("answered_instructions", "{language}"),
    log:
        PATHS.log("reference_answers", "{language}"),
    benchmark:
        PATHS.benchmark("reference_answers", "{language}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score", lambda wc: [CATALOG[ALIGNMENT["reference"]]]),
    params:
        entry=lambda wc: located(CATALOG[ALIGNMENT["reference"]]),
        scoring=SCORING,
        cache=PATHS.scores_cache(f"{ALIGNMENT['reference']}-references"),
        code=code("alignment.references", "scoring.families", "files"),
    script:
        "../scripts/reference_answers.py"


rule policy_answers:
    # Every policy of a language on the held-out instructions, as often as there are runs.
    input:
        policies=[start_policy(), *(PATHS.policy(f"dpo_{labeller}_{{language}}") for labeller in LABELLERS)],
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
        **holding("generate", lambda wc: [ALIGNMENT["policy"]]),
    params:
        names=["base", *LABELLERS],
        runs=ALIGNMENT["runs"],
        sampling={"dtype": PRECISION, **ALIGNMENT["sampling"]},
        serve=SERVE,
        seed=lambda wc: job_seed(SEED, "policy_answers", wc.language),
        code=code("alignment.sampling", "files"),
    script:
        "../scripts/policy_answers.py"


rule judgements:
    input:
        models=folders(CATALOG[ALIGNMENT["judge"]]),
        answers=PATHS.alignment("answers_{language}.jsonl"),
        instructions=PATHS.translated(judged_instructions(), "{language}"),
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
        **holding("score", lambda wc: [CATALOG[ALIGNMENT["judge"]]]),
    params:
        entry=located(CATALOG[ALIGNMENT["judge"]]),
        scoring=SCORING,
        cache=PATHS.scores_cache(f"{ALIGNMENT['judge']}-alignment"),
        code=code("alignment.judging", "scoring.families", "tables"),
    script:
        "../scripts/judgements.py"


rule win_rates:
    input:
        [PATHS.alignment(f"judgements_{language}.csv") for language in ALIGNMENT["languages"]],
    output:
        judgements=PATHS.analysis("judgements.csv"),
        win_rates=PATHS.analysis("win_rates.csv"),
    log:
        PATHS.log("win_rates", "all"),
    benchmark:
        PATHS.benchmark("win_rates", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        interval=interval_settings(),
        code=code("alignment.win_rates", "alignment.judging", "tables"),
    script:
        "../scripts/win_rates.py"
