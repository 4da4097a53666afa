# Stage 4: Bradley-Terry reward models, one per base and training language.


rule reward_model:
    input:
        base=lambda wc: PATHS.base_model(ModelName.parse(wc.model).base),
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
        **holding("train", lambda wc: [ModelName.parse(wc.model).base], config["reward_model"]),
    params:
        settings=training_settings(config["reward_model"]),
        launch=LAUNCH,
        seed=lambda wc: job_seed(SEED, "reward_model", wc.model),
        checkpoints=PATHS.model("checkpoints/{model}"),
        code=code("training", "launch"),
    script:
        "../scripts/reward_model.py"
