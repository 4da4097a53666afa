# Stage 4 of the CARB paper. Think-as-Locals: a judge learns the layout, then by GRPO to write criteria that help and verdicts that are right.
# And a policy for each reward model, trained by GRPO with its score as the reward.


rule locals_warmup:
    input:
        base=MODELS.base(LOCALS.base),
        rows="<prepared>/locals/warmup.jsonl",
    output:
        directory("<models>/locals/{warmup}"),
    log:
        "<logs>/locals_warmup/{warmup}.log",
    benchmark:
        "<benchmarks>/locals_warmup/{warmup}.tsv"
    wildcard_constraints:
        warmup=one_of(WARMUPS),
    priority: 2  # three trainings wait for it
    conda:
        "../../envs/align.yaml"
    threads: THREADS.train
    resources:
        **for_models("supervise", LOCALS.base, LOCALS.warmup, minutes=720),
    params:
        training=SETTINGS.policy_arguments(LOCALS.warmup),
        launch=LAUNCH,
        criteria=lambda wc: WARMUPS[wc.warmup],
        seed=seed_of("locals_warmup"),
        checkpoints=f"{TRAININGS}/locals/checkpoints/{{warmup}}",
    script:
        "../scripts/train/locals_warmup.py"


rule locals_grpo:
    input:
        start=lambda wc: (
            f"<models>/locals/{'warmup-at-once' if wc.run == WITHOUT_CRITERIA else 'warmup'}"
            if LOCALS.warmup
            else MODELS.base(LOCALS.base)
        ),
        questions="<prepared>/locals/grpo.jsonl",
    output:
        directory("<models>/locals/{run}"),
    log:
        "<logs>/locals_grpo/{run}.log",
    benchmark:
        "<benchmarks>/locals_grpo/{run}.tsv"
    wildcard_constraints:
        run=one_of([*LOCALS.runs, *LOCALS.repeats]),
    priority: 2
    conda:
        "../../envs/align.yaml"
    threads: THREADS.train
    resources:
        **for_models("grpo", LOCALS.base, LOCALS.grpo, minutes=2880),
    params:
        training=lambda wc: {
            **SETTINGS.policy_arguments(LOCALS.grpo),
            **LOCALS.training(wc.run),
        },
        launch=LAUNCH,
        seed=lambda wc: seed_of(
            "locals_grpo", *([str(SHEET.seed[wc.run])] if wc.run in LOCALS.repeats else [])
        ),
        checkpoints=f"{TRAININGS}/locals/checkpoints/{{run}}",
    script:
        "../scripts/train/locals_grpo.py"


rule grpo_policy:
    # A policy that a reward model's score rewards, on prompts of topics that no item of the benchmark is of.
    input:
        policy=lambda wc: MODELS.base(CARB.grpo.policy),
        models=lambda wc: CARB_FOLDERS[wc.scorer],
        item_files=expand("<prepared>/carb_train/{culture}.jsonl", culture=BUILT_CULTURES),
    output:
        directory("<models>/policies/grpo_{scorer}"),
    log:
        "<logs>/grpo_policy/{scorer}.log",
    benchmark:
        "<benchmarks>/grpo_policy/{scorer}.tsv"
    wildcard_constraints:
        scorer=one_of(REWARDING),
    priority: 1
    conda:
        "../../envs/align.yaml"
    threads: THREADS.train
    resources:
        **for_models(
            "grpo",
            lambda wc: [{**CATALOG.models[CARB.grpo.policy], "reference": PLAN.resources.model(wc.scorer)}],
            CARB.grpo,
            minutes=1440,
        ),
    params:
        training=SETTINGS.policy_arguments(CARB.grpo),
        reward=lambda wc: {
            "entry": CARB_ENTRIES[wc.scorer],
            "scoring": SCORING,
            "cache": f"{REPLIES}/{wc.scorer}",
        },
        may_be_missing=lambda wc, output: wc.scorer in MAY_BE_MISSING,
        launch=LAUNCH,
        seed=seed_of("grpo_policy"),
        checkpoints=f"{TRAININGS}/policies/checkpoints/grpo_{{scorer}}",
    script:
        "../scripts/train/grpo_policy.py"


use rule reward_model as taught_reward_model with:
    # A trained reward model has lessons on place quartets.
    input:
        start="<models>/{model}",
        rows=lambda wc: f"<prepared>/lessons/{ModelName.parse(wc.model).language}.jsonl",
    output:
        directory("<models>/taught/{model}"),
    log:
        "<logs>/taught_reward_model/{model}.log",
    benchmark:
        "<benchmarks>/taught_reward_model/{model}.tsv"
    priority: 0
    params:
        training=SETTINGS.training_arguments(
            SETTINGS.reward_model.model_copy(
                update={"epochs": CARB.lessons.epochs, "batch_size": CARB.lessons.batch_size}
            )
        ),
        seed=lambda wc: seed_of("taught_reward_model", wc.model),
        checkpoints=f"{TRAININGS}/checkpoints/taught/{{model}}",
        flipped={"share": 0.0, "seed": SEED},
