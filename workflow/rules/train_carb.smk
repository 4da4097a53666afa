# Stage 4 of the CARB paper, Think-as-Locals: a judge learns the layout, then by GRPO to write criteria that help and verdicts that are right.


rule locals_warmup:
    input:
        base=SCALE.base_folder(LOCALS.base),
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
        **RESOURCES.of("supervise", lambda wc: [LOCALS.base], LOCALS.settings["warmup"], mb=400_000, minutes=720),
    params:
        settings=SCALE.training_settings(LOCALS.settings["warmup"], left_out="pairs"),
        launch=SCALE.launch,
        seed=SCALE.job_seed("locals_warmup"),
        checkpoints=PATHS.locals_model("checkpoints/warmup"),
    script:
        "../scripts/locals_warmup.py"


rule locals_grpo:
    input:
        start=LOCALS.start,
        questions=PATHS.locals_pairs("grpo"),
    output:
        directory(PATHS.locals_model("{run}")),
    log:
        PATHS.log("locals_grpo", "{run}"),
    benchmark:
        PATHS.benchmark("locals_grpo", "{run}")
    wildcard_constraints:
        run=one_of([*LOCALS.runs, *LOCALS.repeats]),
    priority: 2
    conda:
        "../../envs/align.yaml"
    threads: config["threads"]["train"]
    resources:
        **RESOURCES.of("grpo", lambda wc: [LOCALS.base], LOCALS.settings["grpo"], mb=480_000, minutes=2880),
    params:
        settings=lambda wc: {
            **SCALE.training_settings(LOCALS.settings["grpo"], left_out="pairs"),
            "rewards": LOCALS.rewards(wc.run),
        },
        launch=SCALE.launch,
        seed=lambda wc: LOCALS.grpo_seed(wc.run),
        checkpoints=PATHS.locals_model("checkpoints/{run}"),
    script:
        "../scripts/locals_grpo.py"
