# Stage 5: every scorer on every benchmark: reward models, one job for all languages of each; baselines; and the policies of
# Figure 3, whose answers a judge compares with references.


rule reward_scores:
    # What Table 1 needs of a base and a target language: its own reward model and the source language's, on that language.
    input:
        models=["<models>/{base}_{language}{seed}", "<models>/{base}_<source>{seed}"],
        rows=["<translated>/{benchmark}/{language}.jsonl"],
    output:
        "<scores>/{benchmark}/{base}_{language}{seed}/{language}.parquet",
        "<scores>/{benchmark}/{base}_<source>{seed}/{language}.parquet",
    wildcard_constraints:
        language=one_of(TARGETS),
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models(
            "score", lambda wc: [wc.get("base") or ModelName.parse(wc.model).base], minutes=240
        ),
    params:
        scoring=SCALE.scoring,
        # The layers that training changes; those below are the base's, and run once for all models of a job
        top_layers=SCALE.top_layers,
    script:
        "../scripts/score/reward_scores.py"


use rule reward_scores as source_reward_scores with:
    # The source language's reward model on that language.
    input:
        models=["<models>/{base}_<source>{seed}"],
        rows=["<translated>/{benchmark}/<source>.jsonl"],
    output:
        "<scores>/{benchmark}/{base}_<source>{seed}/<source>.parquet",


use rule reward_scores as cross_reward_scores with:
    # What Tables 3-7 need next to that: every other pair of a training and an evaluation language.
    input:
        models=expand("<models>/{{base}}_{training}{{seed}}", training=TARGETS),
        rows=expand("<translated>/<main>/{language}.jsonl", language=LANGUAGES),
    output:
        [
            f"<scores>/<main>/{{base}}_{training}{{seed}}/{language}.parquet"
            for training in TARGETS
            for language in LANGUAGES
            if language != training
        ],
    resources:
        **RESOURCES.for_models("score_long", "{base}", minutes=480),


rule configured_reward_scores:
    # A reward model of config.yaml is loaded once for all benchmarks and languages of the scale.
    input:
        models=lambda wc: FILES.folders(SCALE.ready_made[wc.scorer]),
        rows=expand(
            "<translated>/{benchmark}/{language}.jsonl", benchmark=SCALE.benchmarks, language=LANGUAGES
        ),
    output:
        expand(
            "<scores>/{benchmark}/{{scorer}}/{language}.parquet",
            benchmark=SCALE.benchmarks,
            language=LANGUAGES,
        ),
    wildcard_constraints:
        scorer=one_of(SCALE.configured),
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", lambda wc: [SCALE.ready_made[wc.scorer]], minutes=720),
    params:
        entry=lambda wc: FILES.loadable(SCALE.ready_made[wc.scorer]),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{scorer}"),
        may_be_missing=lambda wc, output: SCALE.may_be_missing(wc.scorer),
    script:
        "../scripts/score/configured_reward_scores.py"


use rule configured_reward_scores as catalogued_reward_scores with:
    # A reward model of the catalog, for the paper's tables: on the main benchmark only.
    input:
        models=lambda wc: FILES.folders(SCALE.ready_made[wc.scorer]),
        rows=expand("<translated>/<main>/{language}.jsonl", language=LANGUAGES),
    output:
        expand("<scores>/<main>/{{scorer}}/{language}.parquet", language=LANGUAGES),
    wildcard_constraints:
        scorer=one_of(SCALE.catalogued),


use rule configured_reward_scores as anchor_scores with:
    # A reward model of the catalog on a benchmark that the scale's tables are not about, for its printed numbers.
    input:
        models=lambda wc: FILES.folders(SCALE.ready_made[wc.scorer]),
        rows=["<translated>/{benchmark}/{language}.jsonl"],
    output:
        ["<scores>/{benchmark}/{scorer}/{language}.parquet"],
    wildcard_constraints:
        scorer=one_of(SCALE.catalogued),


ruleorder: catalogued_reward_scores > anchor_scores


use rule configured_reward_scores as own_configured_reward_scores with:
    # A benchmark of the user's own waits for no other.
    input:
        models=lambda wc: FILES.folders(SCALE.ready_made[wc.scorer]),
        rows=["<translated>/{benchmark}/{language}.jsonl"],
    output:
        ["<scores>/{benchmark}/{scorer}/{language}.parquet"],
    wildcard_constraints:
        benchmark=one_of(OWN),
        scorer=one_of(SCALE.configured),


use rule reward_scores as own_reward_scores with:
    input:
        models=["<models>/{model}"],
        rows=lambda wc: [f"<translated>/{wc.benchmark}/{OWN[wc.benchmark].language}.jsonl"],
    output:
        ["<scores>/{benchmark}/{model}/{language}.parquet"],
    wildcard_constraints:
        benchmark=one_of(OWN),
        language=one_of(sorted({own.language for own in OWN.values()})),


rule text_baseline_scores:
    input:
        train="<translated>/train/{language}.jsonl",
        rows="<translated>/{benchmark}/{language}.jsonl",
    output:
        "<scores>/{benchmark}/tfidf-answer/{language}.parquet",
        "<scores>/{benchmark}/tfidf-prompt-answer/{language}.parquet",
    wildcard_constraints:
        benchmark=one_of([*KNOWN.benchmarks, *OWN]),
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_tfidf(SETTINGS.probe_pairs, minutes=60),
    params:
        pairs=SETTINGS.probe_pairs,
        seed=SCALE.job_seed("text_baseline_scores"),
    script:
        "../scripts/score/text_baseline_scores.py"


use rule text_baseline_scores as length_scores with:
    # By itself, since the gate and the claims wait for it and for no TF-IDF.
    input:
        rows="<translated>/{benchmark}/{language}.jsonl",
    output:
        "<scores>/{benchmark}/length/{language}.parquet",
    resources:
        **RESOURCES.for_tables(mb=2_000, minutes=30),
    params:
        pairs=None,
        seed=None,


rule base_loglik_scores:
    # The whole base, with all its layers.
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
        rows=expand("<translated>/{{benchmark}}/{language}.jsonl", language=LANGUAGES),
    output:
        expand("<scores>/{{benchmark}}/loglik-{{base}}/{language}.parquet", language=LANGUAGES),
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", "{base}", minutes=240),
    params:
        scoring=SCALE.scoring,
    script:
        "../scripts/score/base_loglik_scores.py"


use rule base_loglik_scores as base_pmi_scores with:
    # Pointwise mutual information: the log-likelihood, less that without the request.
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
        rows=expand("<translated>/{{benchmark}}/{language}.jsonl", language=LANGUAGES),
        prompted=expand("<scores>/{{benchmark}}/loglik-{{base}}/{language}.parquet", language=LANGUAGES),
    output:
        expand("<scores>/{{benchmark}}/pmi-{{base}}/{language}.parquet", language=LANGUAGES),


rule base_probe_scores:
    # A linear probe on the base as reward models start from it.
    input:
        base=lambda wc: SCALE.reward_base(wc.base),
        rows=expand(
            "<translated>/{benchmark}/{language}.jsonl", benchmark=SCALE.benchmarks, language=LANGUAGES
        ),
        train=expand("<translated>/train/{language}.jsonl", language=LANGUAGES),
    output:
        expand(
            "<scores>/{benchmark}/probe-{{base}}/{language}.parquet",
            benchmark=SCALE.benchmarks,
            language=LANGUAGES,
        ),
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", "{base}", minutes=240),
    params:
        scoring=SCALE.scoring,
        pairs=SETTINGS.probe_pairs,
        seed=SCALE.job_seed("base_probe_scores"),
    script:
        "../scripts/score/base_probe_scores.py"


rule passage_states:
    # The last hidden states of parallel passages, under a base and its reward models of the first seed.
    input:
        base=lambda wc: SCALE.reward_base(wc.base),
        models=expand("<models>/{{base}}_{training}", training=LANGUAGES),
        passages=expand("<translated>/passages/{language}.jsonl", language=LANGUAGES),
    output:
        "<scores>/passages/{base}.safetensors",
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", "{base}", minutes=60),
    params:
        languages=LANGUAGES,
        limits=[SETTINGS.scoring.max_length, SETTINGS.scoring.token_budget],
        top_layers=SCALE.top_layers,
        precision=SETTINGS.precision,
    script:
        "../scripts/score/passage_states.py"


rule policy_answers:
    # Every policy of a language on the held-out instructions, in each run; a policy's trainings take turns in the runs.
    input:
        start=SCALE.policy_start,
        policies=[
            f"<models>/policies/dpo_{labeller}_{{language}}{seed_suffix(training)}"
            for labeller in LABELLERS
            for training in range(1, ALIGNMENT.trainings + 1)
        ],
        instructions="<translated>/instructions/{language}.jsonl",
    output:
        "<scores>/alignment/answers_{language}.jsonl",
    conda:
        "../../envs/align.yaml"
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("generate", ALIGNMENT.policy, minutes=240, tokens=SAMPLED_AT_ONCE),
    params:
        runs=ALIGNMENT.runs,
        sampling=SCALE.policy_sampling,
        seed=lambda wc: SCALE.job_seed("policy_answers", wc.language),
    script:
        "../scripts/score/policy_answers.py"


rule reference_answers:
    # Answers to compare with, written by a language model of the catalog, where the instructions bring none.
    input:
        models=[
            folder
            for name in [ALIGNMENT.reference]
            if name
            for folder in FILES.folders(KNOWN.reward_models[name])
        ],
        instructions="<translated>/instructions/{language}.jsonl",
    output:
        "<scores>/alignment/references_{language}.jsonl",
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", lambda wc: [KNOWN.reward_models[ALIGNMENT.reference]], minutes=720),
    params:
        entry=lambda wc: FILES.loadable(KNOWN.reward_models[ALIGNMENT.reference]),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache(f"{ALIGNMENT.reference}-references"),
    script:
        "../scripts/score/reference_answers.py"


rule judgements:
    # A judge compares each policy's answers with references. known: what it says of pairs whose better answer is known.
    input:
        models=lambda wc: FILES.folders(SCALE.alignment_judge(wc.language)),
        answers="<scores>/alignment/answers_{language}.jsonl",
        instructions=(
            "<scores>/alignment/references_{language}.jsonl"
            if ALIGNMENT.reference
            else "<translated>/instructions/{language}.jsonl"
        ),
    output:
        judgements="<scores>/alignment/judgements_{language}.csv",
        known="<scores>/alignment/known_{language}.csv",
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models(
            "score",
            lambda wc: (
                [SCALE.alignment_judge(wc.language)] if ALIGNMENT.judge else [ALIGNMENT.reward_base]
            ),
            minutes=720,
        ),
    params:
        entry=lambda wc: FILES.loadable(SCALE.alignment_judge(wc.language)),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache(f"{ALIGNMENT.judge or 'judge'}-alignment"),
    script:
        "../scripts/score/judgements.py"
