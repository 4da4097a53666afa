# Stage 4 of the CARB paper. Think-as-Locals: a judge learns the layout, then by GRPO to write criteria that help and verdicts that are right.
# And a policy for each reward model, trained by GRPO with its score as the reward.


rule locals_warmup:
    input:
        base=SCALE.base_folder(JUDGES.settings.base),
        rows="<prepared>/locals/warmup.jsonl",
    output:
        directory("<models>/locals/{warmup}"),
    wildcard_constraints:
        warmup=one_of(WARMUPS),
    priority: 2  # three trainings wait for it
    conda:
        "../../envs/align.yaml"
    threads: SETTINGS.threads.train
    resources:
        **RESOURCES.for_models("supervise", JUDGES.settings.base, JUDGES.settings.warmup, minutes=720),
    params:
        training=SCALE.policy_training(JUDGES.settings.warmup),
        launch=SCALE.launch,
        criteria=lambda wc: WARMUPS[wc.warmup],
        seed=SCALE.job_seed("locals_warmup"),
        checkpoints=PATHS.locals_model("checkpoints/{warmup}"),
    script:
        "../scripts/train/locals_warmup.py"


rule locals_grpo:
    input:
        start=lambda wc: JUDGES.start(wc.run),
        questions="<prepared>/locals/grpo.jsonl",
    output:
        directory("<models>/locals/{run}"),
    wildcard_constraints:
        run=one_of([*JUDGES.settings.runs, *JUDGES.repeats]),
    priority: 2
    conda:
        "../../envs/align.yaml"
    threads: SETTINGS.threads.train
    resources:
        **RESOURCES.for_models("grpo", JUDGES.settings.base, JUDGES.settings.grpo, minutes=2880),
    params:
        training=lambda wc: {
            **SCALE.policy_training(JUDGES.settings.grpo),
            "rewards": JUDGES.rewards(wc.run),
            "criteria": JUDGES.criteria(wc.run),
            "quote": JUDGES.quote(wc.run),
        },
        launch=SCALE.launch,
        seed=lambda wc: JUDGES.grpo_seed(wc.run),
        checkpoints=PATHS.locals_model("checkpoints/{run}"),
    script:
        "../scripts/train/locals_grpo.py"


rule grpo_policy:
    # A policy that a reward model's score rewards, on prompts of topics that no item of the benchmark is of.
    input:
        policy=lambda wc: SCALE.base_folder(SETTINGS.carb.grpo.policy),
        models=lambda wc: CARB.folders(wc.scorer),
        item_files=list(CARB.training_items.values()),
    output:
        directory("<models>/policies/grpo_{scorer}"),
    wildcard_constraints:
        scorer=one_of(CARB.rewarding),
    priority: 1
    conda:
        "../../envs/align.yaml"
    threads: SETTINGS.threads.train
    resources:
        **RESOURCES.for_models(
            "grpo", lambda wc: [CARB.grpo_models(wc.scorer)], SETTINGS.carb.grpo, minutes=1440
        ),
    params:
        training=SCALE.policy_training(SETTINGS.carb.grpo),
        reward=lambda wc: {
            "entry": CARB.entry(wc.scorer),
            "scoring": SCALE.scoring,
            "cache": PATHS.scores_cache(wc.scorer),
        },
        may_be_missing=lambda wc, output: SCALE.may_be_missing(wc.scorer),
        launch=SCALE.launch,
        seed=SCALE.job_seed("grpo_policy"),
        checkpoints=PATHS.policy("checkpoints/grpo_{scorer}"),
    script:
        "../scripts/train/grpo_policy.py"
