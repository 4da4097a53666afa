# Think-as-Locals: a judge learns the layout, then by GRPO to write criteria that help and verdicts that are right.


rule locals_warmup:
    input:
        base=PATHS.base_model(LOCALS["base"]),
        rows=PATHS.locals_pairs("warmup"),
    output:
        directory(PATHS.locals_model("warmup")),
    log:
        PATHS.log("locals_warmup", "all"),
    benchmark:
        PATHS.benchmark("locals_warmup", "all")
    priority: 2  # three trainings wait for it
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["train"]
    resources:
        **holding("supervise", lambda wc: [LOCALS["base"]], LOCALS["warmup"]),
    params:
        settings=training_settings(LOCALS["warmup"], left_out="pairs"),
        launch=LAUNCH,
        seed=job_seed(SEED, "locals_warmup"),
        code=code("alignment.policies", "launch"),
    script:
        "../scripts/locals_warmup.py"


rule locals_grpo:
    # The seed is the same for all choices of rewards, so that they start from the same replies.
    input:
        start=locals_start(),
        questions=PATHS.locals_pairs("grpo"),
    output:
        directory(PATHS.locals_model("{run}")),
    log:
        PATHS.log("locals_grpo", "{run}"),
    benchmark:
        PATHS.benchmark("locals_grpo", "{run}")
    wildcard_constraints:
        run=one_of(LOCALS["runs"]),
    priority: 2
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["train"]
    resources:
        **holding("grpo", lambda wc: [LOCALS["base"]], LOCALS["grpo"]),
    params:
        settings=lambda wc: {**training_settings(LOCALS["grpo"], left_out="pairs"), "rewards": LOCALS["runs"][wc.run]},
        launch=LAUNCH,
        seed=job_seed(SEED, "locals_grpo"),
        checkpoints=PATHS.locals_model("checkpoints/{run}"),
        code=code("locals.training", "launch"),
    script:
        "../scripts/locals_grpo.py"
