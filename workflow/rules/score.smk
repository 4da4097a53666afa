# Stage 5: every scorer on every benchmark. Table 1's cells come first, so that it waits for no other; and the policies of
# Figure 3, whose answers a judge compares with references.
#
# FOLDERS[scorer] and ENTRIES[scorer]: the folders and files that a scorer is loaded from, and how. MODELS.base and
# MODELS.reward_base: the folder of a base, whole or without its upper layers. {seed}: the end of a reward model's name, empty for
# the first training. seed_of: a job's own seed. top_layers: layers that a reward model has of its own; 0 for one with all its own.
# for_models("score", ...): what the job asks of a machine, by the models that it loads; "score_long" on a cluster for longer.


rule reward_scores:
    # Table 1: a target language's reward model and the source language's, on that language. Layers that both share run once.
    input:
        models=["<models>/{base}_{language}{seed}", "<models>/{base}_<source>{seed}"],
        rows=["<translated>/{benchmark}/{language}.jsonl"],
    output:
        "<scores>/{benchmark}/{base}_{language}{seed}/{language}.parquet",
        "<scores>/{benchmark}/{base}_<source>{seed}/{language}.parquet",
    log:
        "<logs>/reward_scores/{benchmark}_{base}_{language}{seed}.log",
    benchmark:
        "<benchmarks>/reward_scores/{benchmark}_{base}_{language}{seed}.tsv"
    wildcard_constraints:
        language=one_of(TARGETS),
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", "{base}", minutes=240),
    params:
        scoring=SCORING,
        top_layers=SETTINGS.top_layers,
    script:
        "../scripts/score/reward_scores.py"


use rule reward_scores as cross_reward_scores with:
    # Tables 3-7: every other pair of a training and an evaluation language.
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
    log:
        "<logs>/cross_reward_scores/{base}{seed}.log",
    benchmark:
        "<benchmarks>/cross_reward_scores/{base}{seed}.tsv"
    resources:
        **for_models("score_long", "{base}", minutes=480),


rule ready_made_scores:
    # A reward model that is not trained here, on one benchmark in all languages.
    input:
        models=lambda wc: FOLDERS[wc.scorer],
        rows=expand("<translated>/{{benchmark}}/{language}.jsonl", language=LANGUAGES),
    output:
        expand("<scores>/{{benchmark}}/{{scorer}}/{language}.parquet", language=LANGUAGES),
    log:
        "<logs>/ready_made_scores/{benchmark}_{scorer}.log",
    benchmark:
        "<benchmarks>/ready_made_scores/{benchmark}_{scorer}.tsv"
    wildcard_constraints:
        benchmark=one_of(BENCHMARKS),
        scorer=one_of(READY_MADE),
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", "{scorer}", minutes=720),
    params:
        entry=lambda wc: ENTRIES[wc.scorer],
        scoring=SCORING,
        cache=f"{REPLIES}/{{scorer}}",
        top_layers=0,
        may_be_missing=lambda wc, output: wc.scorer in MAY_BE_MISSING,
    script:
        "../scripts/score/ready_made_scores.py"


use rule ready_made_scores as single_scores with:
    # Any reward model on any benchmark in one language: the source language's own cell of Table 1, the anchor's, and the
    # user's own benchmarks.
    input:
        models=lambda wc: FOLDERS[wc.scorer],
        rows=["<translated>/{benchmark}/{language}.jsonl"],
    output:
        ["<scores>/{benchmark}/{scorer}/{language}.parquet"],
    log:
        "<logs>/single_scores/{benchmark}_{scorer}_{language}.log",
    benchmark:
        "<benchmarks>/single_scores/{benchmark}_{scorer}_{language}.tsv"
    wildcard_constraints:
        benchmark=one_of([*CATALOG.benchmarks, *OWN]),
        scorer=one_of([*TRAINED, *READY_MADE]),
    params:
        top_layers=lambda wc: SETTINGS.top_layers if wc.scorer in TRAINED else 0,


ruleorder: reward_scores > cross_reward_scores > ready_made_scores > single_scores


rule text_baseline_scores:
    # A scorer that only reads texts: the length of an answer, or TF-IDF without or with the request.
    input:
        train=branch(evaluate("{scorer} != 'length'"), then="<translated>/train/{language}.jsonl"),
        rows="<translated>/{benchmark}/{language}.jsonl",
    output:
        "<scores>/{benchmark}/{scorer}/{language}.parquet",
    log:
        "<logs>/text_baseline_scores/{benchmark}_{scorer}_{language}.log",
    benchmark:
        "<benchmarks>/text_baseline_scores/{benchmark}_{scorer}_{language}.tsv"
    wildcard_constraints:
        benchmark=one_of([*CATALOG.benchmarks, *OWN]),
        scorer=one_of(TEXT_BASELINES),
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_tfidf(SETTINGS.probe_pairs, minutes=60),
    params:
        fit=branch(
            evaluate("{scorer} != 'length'"),
            then={"pairs": SETTINGS.probe_pairs, "seed": seed_of("text_baseline_scores")},
        ),
    script:
        "../scripts/score/text_baseline_scores.py"


rule base_likelihood_scores:
    # The whole base, untrained, in all languages: an answer's log-likelihood, and what the request adds to it (PMI).
    input:
        base=lambda wc: MODELS.base(wc.base),
        rows=expand("<translated>/{{benchmark}}/{language}.jsonl", language=LANGUAGES),
    output:
        loglik=expand("<scores>/{{benchmark}}/loglik-{{base}}/{language}.parquet", language=LANGUAGES),
        pmi=expand("<scores>/{{benchmark}}/pmi-{{base}}/{language}.parquet", language=LANGUAGES),
    log:
        "<logs>/base_likelihood_scores/{benchmark}_{base}.log",
    benchmark:
        "<benchmarks>/base_likelihood_scores/{benchmark}_{base}.tsv"
    wildcard_constraints:
        benchmark=one_of([MAIN]),
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", "{base}", minutes=240),
    params:
        scoring=SCORING,
    script:
        "../scripts/score/base_likelihood_scores.py"


use rule base_likelihood_scores as single_likelihood_scores with:
    # The same in one language: on twins, unseen kinds, and a benchmark that is made from a dataset.
    input:
        base=lambda wc: MODELS.base(wc.base),
        rows=["<translated>/{benchmark}/{language}.jsonl"],
    output:
        loglik=["<scores>/{benchmark}/loglik-{base}/{language}.parquet"],
        pmi=["<scores>/{benchmark}/pmi-{base}/{language}.parquet"],
    log:
        "<logs>/single_likelihood_scores/{benchmark}_{base}_{language}.log",
    benchmark:
        "<benchmarks>/single_likelihood_scores/{benchmark}_{base}_{language}.tsv"
    wildcard_constraints:
        benchmark=one_of(
            [
                *(name for name in BENCHMARKS if name != MAIN),
                *(name for name, own in OWN.items() if own.dataset),
            ]
        ),


rule base_probe_scores:
    # A linear probe on the base as reward models start from it.
    input:
        base=lambda wc: MODELS.reward_base(wc.base),
        rows=expand("<translated>/{benchmark}/{language}.jsonl", zip, **PROBED),
        train=expand("<translated>/train/{language}.jsonl", language=LANGUAGES),
    output:
        expand("<scores>/{benchmark}/probe-{{base}}/{language}.parquet", zip, **PROBED),
    log:
        "<logs>/base_probe_scores/{base}.log",
    benchmark:
        "<benchmarks>/base_probe_scores/{base}.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", "{base}", minutes=240),
    params:
        scoring=SCORING,
        pairs=SETTINGS.probe_pairs,
        seed=seed_of("base_probe_scores"),
    script:
        "../scripts/score/base_probe_scores.py"


rule passage_states:
    # The last hidden states of parallel passages, under a base and its reward models of the first seed.
    input:
        base=lambda wc: MODELS.reward_base(wc.base),
        models=expand("<models>/{{base}}_{training}", training=LANGUAGES),
        passages=expand("<translated>/passages/{language}.jsonl", language=LANGUAGES),
    output:
        "<scores>/passages/{base}.safetensors",
    log:
        "<logs>/passage_states/{base}.log",
    benchmark:
        "<benchmarks>/passage_states/{base}.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", "{base}", minutes=60),
    params:
        languages=LANGUAGES,
        limits=[SETTINGS.scoring.max_length, SETTINGS.scoring.token_budget],
        top_layers=SETTINGS.top_layers,
        precision=SETTINGS.precision,
    script:
        "../scripts/score/passage_states.py"


rule policy_answers:
    # Every policy of a language on the held-out instructions, in each run; a policy's trainings take turns in the runs.
    input:
        start=MODELS.policy_start,
        policies=[
            f"<models>/policies/dpo_{labeller}_{{language}}{seed_suffix(training)}"
            for labeller in LABELLERS
            for training in range(1, ALIGNMENT.trainings + 1)
        ],
        instructions="<translated>/instructions/{language}.jsonl",
    output:
        "<scores>/alignment/answers_{language}.jsonl",
    log:
        "<logs>/policy_answers/{language}.log",
    benchmark:
        "<benchmarks>/policy_answers/{language}.tsv"
    conda:
        "../../envs/align.yaml"
    threads: THREADS.score
    resources:
        **for_models("generate", ALIGNMENT.policy, minutes=240, tokens=SAMPLED_AT_ONCE),
    params:
        runs=ALIGNMENT.runs,
        sampling=SETTINGS.sampling_arguments(ALIGNMENT.sampling),
        seed=lambda wc: seed_of("policy_answers", wc.language),
    script:
        "../scripts/score/policy_answers.py"


rule reference_answers:
    # Answers to compare with, written by a language model of the catalog, where the instructions bring none.
    input:
        models=[
            folder
            for name in [ALIGNMENT.reference]
            if name
            for folder in MODELS.folders(CATALOG.reward_models[name])
        ],
        instructions="<translated>/instructions/{language}.jsonl",
    output:
        "<scores>/alignment/references_{language}.jsonl",
    log:
        "<logs>/reference_answers/{language}.log",
    benchmark:
        "<benchmarks>/reference_answers/{language}.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", lambda wc: [CATALOG.reward_models[ALIGNMENT.reference]], minutes=720),
    params:
        entry=lambda wc: MODELS.loadable(CATALOG.reward_models[ALIGNMENT.reference]),
        scoring=SCORING,
        cache=f"{REPLIES}/{ALIGNMENT.reference}-references",
    script:
        "../scripts/score/reference_answers.py"


rule judgements:
    # A judge compares each policy's answers with references. known: what it says of pairs whose better answer is known. labels: and
    # of the pairs that the policies were trained on.
    input:
        models=lambda wc: MODELS.folders(MODELS.alignment_judge(wc.language)),
        answers="<scores>/alignment/answers_{language}.jsonl",
        pairs=expand("<models>/policy_data/pairs_{labeller}_{{language}}.jsonl", labeller=LABELLERS),
        instructions=(
            "<scores>/alignment/references_{language}.jsonl"
            if ALIGNMENT.reference
            else "<translated>/instructions/{language}.jsonl"
        ),
    output:
        judgements="<scores>/alignment/judgements_{language}.csv",
        known="<scores>/alignment/known_{language}.csv",
        labels="<scores>/alignment/labels_{language}.csv",
    log:
        "<logs>/judgements/{language}.log",
    benchmark:
        "<benchmarks>/judgements/{language}.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models(
            "score",
            lambda wc: (
                [MODELS.alignment_judge(wc.language)] if ALIGNMENT.judge else [ALIGNMENT.reward_base]
            ),
            minutes=720,
        ),
    params:
        entry=lambda wc: MODELS.loadable(MODELS.alignment_judge(wc.language)),
        labellers=LABELLERS,
        scoring=SCORING,
        cache=f"{REPLIES}/{ALIGNMENT.judge or 'judge'}-alignment",
    script:
        "../scripts/score/judgements.py"
