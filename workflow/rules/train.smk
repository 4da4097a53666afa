# Stage 4: Bradley-Terry reward models, one per base and training language.


rule frozen_states:
    # What adapters on the top layers never change is computed once per base and text, for every epoch and reward model.
    input:
        base=PATHS.base_model("{base}"),
        rows=[PATHS.translated("{rowset}", language) for language in LANGUAGES],
    output:
        temp(directory(PATHS.frozen("{base}", "{rowset}"))),
    log:
        PATHS.log("frozen_states", "{base}_{rowset}"),
    benchmark:
        PATHS.benchmark("frozen_states", "{base}_{rowset}")
    priority: 1  # long jobs first: short ones fill the last minutes
    conda:
        "../../envs/train.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score", lambda wc: [wc.base]),
    params:
        languages=LANGUAGES,
        top_layers=frozen_layers(),
        max_length=lambda wc: config["reward_model" if wc.rowset == "train" else "scoring"]["max_length"],
        bf16=lambda wc: wc.rowset == "train" and config["reward_model"]["bf16"],
        token_budget=config["scoring"]["token_budget"],
        code=code("frozen", "reward_model"),
    script:
        "../scripts/frozen_states.py"


rule reward_model:
    input:
        base=lambda wc: PATHS.base_model(ModelName.parse(wc.model).base),
        rows=lambda wc: PATHS.translated("train", ModelName.parse(wc.model).language),
        frozen=lambda wc: frozen_states(ModelName.parse(wc.model).base, "train"),
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
        language=lambda wc: ModelName.parse(wc.model).language,
        settings=training_settings(config["reward_model"]),
        launch=LAUNCH,
        seed=lambda wc: job_seed(SEED, "reward_model", wc.model),
        checkpoints=PATHS.model("checkpoints/{model}"),
        code=code("training", "launch"),
    script:
        "../scripts/reward_model.py"
