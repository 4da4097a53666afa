# Stage 4: Bradley-Terry reward models, one per base and training language; and the policies of Figure 3: one is sampled, reward
# models label its responses, DPO trains it on them.


rule reward_model:
    input:
        base=lambda wc: SCALE.base_folder(ModelName.parse(wc.model).base),
        rows=lambda wc: PATHS.translated("train", ModelName.parse(wc.model).language),
    output:
        directory(PATHS.model("{model}")),
    log:
        PATHS.log("reward_model", "{model}"),
    benchmark:
        PATHS.benchmark("reward_model", "{model}")
    priority: 1
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["train"]
    resources:
        **RESOURCES.of(
            "train",
            lambda wc: [ModelName.parse(wc.model).base],
            config["reward_model"],
            mb=240_000,
            minutes=1440,
        ),
    params:
        settings=SCALE.training_settings(config["reward_model"]),
        launch=SCALE.launch,
        seed=lambda wc: SCALE.reward_model_seed(wc.model),
        checkpoints=PATHS.model("checkpoints/{model}"),
    script:
        "../scripts/reward_model.py"


rule sft_policy:
    input:
        base=SCALE.base_folder(ALIGNMENT.policy),
        rows=[PATHS.translated("train", language) for language in SCALE.languages],
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
        **RESOURCES.of(
            "supervise", lambda wc: [ALIGNMENT.policy], ALIGNMENT.settings["sft"], mb=320_000, minutes=720
        ),
    params:
        rows=(ALIGNMENT.settings["sft"] or {}).get("rows"),
        settings=SCALE.training_settings(ALIGNMENT.settings["sft"], left_out="rows"),
        launch=SCALE.launch,
        seed=SCALE.job_seed("sft_policy"),
        checkpoints=PATHS.policy("checkpoints/sft"),
    script:
        "../scripts/sft_policy.py"


rule sampled_responses:
    input:
        policy=ALIGNMENT.start,
        rows=PATHS.translated(ALIGNMENT.prompt_rows, "{language}"),
    output:
        PATHS.policy_data("responses_{language}.jsonl"),
    log:
        PATHS.log("sampled_responses", "{language}"),
    benchmark:
        PATHS.benchmark("sampled_responses", "{language}")
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("generate", lambda wc: [ALIGNMENT.policy], mb=64_000, minutes=1440),
    params:
        prompts=ALIGNMENT.settings["prompts"],
        responses=ALIGNMENT.settings["responses"],
        sampling={"dtype": SCALE.precision, **ALIGNMENT.settings["sampling"]},
        serve=SCALE.serve,
        seed=lambda wc: SCALE.job_seed("sampled_responses", wc.language),
    script:
        "../scripts/sampled_responses.py"


rule labelled_pairs:
    input:
        models=lambda wc: ALIGNMENT.labellers(wc.language),
        responses=PATHS.policy_data("responses_{language}.jsonl"),
    output:
        pairs=[PATHS.policy_data(f"pairs_{labeller}_{{language}}.jsonl") for labeller in LABELLERS],
        counts=PATHS.policy_data("pairs_{language}.csv"),
    log:
        PATHS.log("labelled_pairs", "{language}"),
    benchmark:
        PATHS.benchmark("labelled_pairs", "{language}")
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["score"]
    resources:
        **RESOURCES.of("score", lambda wc: [ALIGNMENT.settings["reward_base"]], mb=64_000, minutes=720),
    params:
        labellers=LABELLERS,
        scoring=SCALE.scoring,
    script:
        "../scripts/labelled_pairs.py"


rule dpo_policy:
    input:
        policy=ALIGNMENT.start,
        pairs=PATHS.policy_data("pairs_{labeller}_{language}.jsonl"),
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
        **RESOURCES.of(
            "train", lambda wc: [ALIGNMENT.policy], ALIGNMENT.settings["dpo"], mb=320_000, minutes=1440
        ),
    params:
        settings=SCALE.training_settings(ALIGNMENT.settings["dpo"]),
        launch=SCALE.launch,
        seed=lambda wc: SCALE.job_seed("dpo_policy", wc.language),
        checkpoints=PATHS.policy("checkpoints/dpo_{labeller}_{language}"),
    script:
        "../scripts/dpo_policy.py"
