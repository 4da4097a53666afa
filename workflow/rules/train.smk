# Stage 4: Bradley-Terry reward models, one per base and training language; and the policies of Figure 3: one is sampled, reward
# models label its responses, DPO trains it on them.


rule truncated_base:
    # The lowest layers of a base, which read a request better than the top ones do.
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
    output:
        directory("<models>/bases/{base}"),
    resources:
        **RESOURCES.for_models("load", "{base}", minutes=60),
    params:
        layers=lambda wc: SETTINGS.reward_model.depth[wc.base],
    script:
        "../scripts/train/truncated_base.py"


rule reward_model:
    input:
        base=lambda wc: SCALE.reward_base(ModelName.parse(wc.model).base),
        rows=lambda wc: f"<translated>/train/{ModelName.parse(wc.model).language}.jsonl",
    output:
        directory("<models>/{model}"),
    priority: 1
    threads: SETTINGS.threads.train
    resources:
        **RESOURCES.for_models(
            "train",
            lambda wc: [ModelName.parse(wc.model).base],
            SETTINGS.reward_model,
            minutes=1440,
        ),
    params:
        training=SCALE.training(SETTINGS.reward_model),
        launch=SCALE.launch,
        seed=lambda wc: SCALE.reward_model_seed(wc.model),
        checkpoints=PATHS.model("checkpoints/{model}"),
    script:
        "../scripts/train/reward_model.py"


use rule reward_model as judge_reward_model with:
    # Figure 3's judge, where it is trained here: with other templates and another seed than the reward models that label.
    input:
        base=lambda wc: SCALE.reward_base(ModelName.parse(wc.model).base),
        rows=lambda wc: f"<translated>/judge/{ModelName.parse(wc.model).language}.jsonl",
    output:
        directory("<models>/judges/{model}"),
    priority: 0
    params:
        seed=lambda wc: SCALE.job_seed("judge_reward_model", wc.model),
        checkpoints=PATHS.model("checkpoints/judges/{model}"),


rule sft_policy:
    input:
        base=SCALE.base_folder(ALIGNMENT.policy),
        rows=expand("<translated>/train/{language}.jsonl", language=LANGUAGES),
    output:
        directory("<models>/policies/sft"),
    priority: 1  # all that follows waits for it
    conda:
        "../../envs/align.yaml"
    threads: SETTINGS.threads.train
    resources:
        **RESOURCES.for_models("supervise", ALIGNMENT.policy, ALIGNMENT.sft, minutes=720),
    params:
        training=SCALE.policy_training(ALIGNMENT.sft),
        launch=SCALE.launch,
        seed=SCALE.job_seed("sft_policy"),
        checkpoints=PATHS.policy("checkpoints/sft"),
    script:
        "../scripts/train/sft_policy.py"


rule sampled_responses:
    input:
        policy=SCALE.policy_start,
        rows=f"<translated>/{'prompts' if ALIGNMENT.prompt_data else 'dev'}/{{language}}.jsonl",
    output:
        "<models>/policy_data/responses_{language}.jsonl",
    conda:
        "../../envs/align.yaml"
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("generate", ALIGNMENT.policy, minutes=1440, tokens=SAMPLED_AT_ONCE),
    params:
        prompts=ALIGNMENT.prompts,
        # Those of a dataset are drawn before they are translated; a few translations may be alike.
        alike=0.01 if ALIGNMENT.prompt_data else 0,
        responses=ALIGNMENT.responses,
        sampling=SCALE.policy_sampling,
        seed=lambda wc: SCALE.job_seed("sampled_responses", wc.language),
    script:
        "../scripts/train/sampled_responses.py"


rule labelled_pairs:
    input:
        models=[f"<models>/{ALIGNMENT.reward_base}_{training}" for training in ["{language}", SOURCE]],
        responses="<models>/policy_data/responses_{language}.jsonl",
    output:
        pairs=expand("<models>/policy_data/pairs_{labeller}_{{language}}.jsonl", labeller=LABELLERS),
        counts="<models>/policy_data/pairs_{language}.csv",
    conda:
        "../../envs/align.yaml"
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", ALIGNMENT.reward_base, minutes=720),
    params:
        labellers=LABELLERS,
        scoring=SCALE.scoring,
    script:
        "../scripts/train/labelled_pairs.py"


rule dpo_policy:
    input:
        policy=SCALE.policy_start,
        pairs="<models>/policy_data/pairs_{labeller}_{language}.jsonl",
    output:
        directory("<models>/policies/dpo_{labeller}_{language}{seed}"),
    wildcard_constraints:
        labeller=one_of(LABELLERS),
    priority: 1
    conda:
        "../../envs/align.yaml"
    threads: SETTINGS.threads.train
    resources:
        **RESOURCES.for_models("train", ALIGNMENT.policy, ALIGNMENT.dpo, minutes=1440),
    params:
        training=SCALE.policy_training(ALIGNMENT.dpo),
        launch=SCALE.launch,
        seed=lambda wc: SCALE.job_seed("dpo_policy", f"{wc.language}{wc.seed}"),
        checkpoints=PATHS.policy("checkpoints/dpo_{labeller}_{language}{seed}"),
    script:
        "../scripts/train/dpo_policy.py"
