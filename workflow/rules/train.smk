# Stage 4: Bradley-Terry reward models, one per base and training language; and the policies of Figure 3: one is sampled, reward
# models label its responses, DPO trains it on them.


rule truncated_base:
    # The lowest layers of a base, which read a request better than the top ones do.
    input:
        base=lambda wc: MODELS.base(wc.base),
    output:
        directory("<models>/cut_bases/{base}"),
    log:
        "<logs>/truncated_base/{base}.log",
    benchmark:
        "<benchmarks>/truncated_base/{base}.tsv"
    conda:
        "../../envs/train.yaml"
    resources:
        **for_models("load", "{base}", minutes=60),
    params:
        layers=lambda wc: SETTINGS.reward_model.depth[wc.base],
    script:
        "../scripts/train/truncated_base.py"


rule reward_model:
    input:
        start=lambda wc: MODELS.reward_base(ModelName.parse(wc.model).base),
        rows=lambda wc: f"<translated>/train/{ModelName.parse(wc.model).language}.jsonl",
    output:
        directory("<models>/{model}"),
    log:
        "<logs>/reward_model/{model}.log",
    benchmark:
        "<benchmarks>/reward_model/{model}.tsv"
    priority: 1
    conda:
        "../../envs/train.yaml"
    threads: THREADS.train
    resources:
        **for_models(
            "train",
            lambda wc: [ModelName.parse(wc.model).base],
            SETTINGS.reward_model,
            minutes=1440,
        ),
    params:
        training=SETTINGS.training_arguments(SETTINGS.reward_model),
        launch=LAUNCH,
        seed=lambda wc: seed_of(
            "reward_model",
            (
                wc.model
                if SETTINGS.seed_per_language
                else str(ModelName(SHEET.base[wc.model], SOURCE, SHEET.seed[wc.model]))
            ),
        ),
        checkpoints=f"{TRAININGS}/checkpoints/{{model}}",
        # Target languages only: a control with a known answer
        flipped=lambda wc: {
            "share": 0.0 if SHEET.trained_in[wc.model] == SOURCE else SETTINGS.pool.flipped_labels,
            "seed": SEED,
        },
    script:
        "../scripts/train/reward_model.py"


use rule reward_model as judge_reward_model with:
    # Figure 3's judge, where it is trained here: with other templates and another seed than the reward models that label.
    input:
        start=lambda wc: MODELS.reward_base(ModelName.parse(wc.model).base),
        rows=lambda wc: f"<translated>/judge/{ModelName.parse(wc.model).language}.jsonl",
    output:
        directory("<models>/judges/{model}"),
    log:
        "<logs>/judge_reward_model/{model}.log",
    benchmark:
        "<benchmarks>/judge_reward_model/{model}.tsv"
    priority: 0
    params:
        seed=lambda wc: seed_of("judge_reward_model", wc.model),
        checkpoints=f"{TRAININGS}/checkpoints/judges/{{model}}",
        flipped={"share": 0.0, "seed": SEED},


rule sft_policy:
    input:
        base=MODELS.base(ALIGNMENT.policy),
        rows=expand("<translated>/train/{language}.jsonl", language=LANGUAGES),
    output:
        directory("<models>/policies/sft"),
    log:
        "<logs>/sft_policy/all.log",
    benchmark:
        "<benchmarks>/sft_policy/all.tsv"
    priority: 1  # all that follows waits for it
    conda:
        "../../envs/align.yaml"
    threads: THREADS.train
    resources:
        **for_models("supervise", ALIGNMENT.policy, ALIGNMENT.sft, minutes=720),
    params:
        training=SETTINGS.policy_arguments(ALIGNMENT.sft),
        launch=LAUNCH,
        seed=seed_of("sft_policy"),
        checkpoints=f"{TRAININGS}/policies/checkpoints/sft",
    script:
        "../scripts/train/sft_policy.py"


rule sampled_responses:
    input:
        policy=MODELS.policy_start,
        rows=f"<translated>/{'prompts' if ALIGNMENT.prompt_data else 'dev'}/{{language}}.jsonl",
    output:
        "<models>/policy_data/responses_{language}.jsonl",
    log:
        "<logs>/sampled_responses/{language}.log",
    benchmark:
        "<benchmarks>/sampled_responses/{language}.tsv"
    conda:
        "../../envs/align.yaml"
    threads: THREADS.score
    resources:
        **for_models("generate", ALIGNMENT.policy, minutes=1440, tokens=SAMPLED_AT_ONCE),
    params:
        prompts=ALIGNMENT.prompts,
        # Those of a dataset are drawn before they are translated; a few translations may be alike.
        alike=0.01 if ALIGNMENT.prompt_data else 0,
        responses=ALIGNMENT.responses,
        sampling=SETTINGS.sampling_arguments(ALIGNMENT.sampling),
        seed=lambda wc: seed_of("sampled_responses", wc.language),
    script:
        "../scripts/train/sampled_responses.py"


rule labelled_pairs:
    input:
        models=[f"<models>/{ALIGNMENT.reward_base}_{training}" for training in ["{language}", SOURCE]],
        responses="<models>/policy_data/responses_{language}.jsonl",
    output:
        pairs=expand("<models>/policy_data/pairs_{labeller}_{{language}}.jsonl", labeller=LABELLERS),
        counts="<models>/policy_data/pairs_{language}.csv",
    log:
        "<logs>/labelled_pairs/{language}.log",
    benchmark:
        "<benchmarks>/labelled_pairs/{language}.tsv"
    conda:
        "../../envs/align.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", ALIGNMENT.reward_base, minutes=720),
    params:
        labellers=LABELLERS,
        scoring=SCORING,
    script:
        "../scripts/train/labelled_pairs.py"


rule dpo_policy:
    input:
        policy=MODELS.policy_start,
        pairs="<models>/policy_data/pairs_{labeller}_{language}.jsonl",
    output:
        directory("<models>/policies/dpo_{labeller}_{language}{seed}"),
    log:
        "<logs>/dpo_policy/{labeller}_{language}{seed}.log",
    benchmark:
        "<benchmarks>/dpo_policy/{labeller}_{language}{seed}.tsv"
    wildcard_constraints:
        labeller=one_of(LABELLERS),
    priority: 1
    conda:
        "../../envs/align.yaml"
    threads: THREADS.train
    resources:
        **for_models("train", ALIGNMENT.policy, ALIGNMENT.dpo, minutes=1440),
    params:
        training=SETTINGS.policy_arguments(ALIGNMENT.dpo),
        launch=LAUNCH,
        seed=lambda wc: seed_of("dpo_policy", f"{wc.language}{wc.seed}"),
        checkpoints=f"{TRAININGS}/policies/checkpoints/dpo_{{labeller}}_{{language}}{{seed}}",
    script:
        "../scripts/train/dpo_policy.py"
