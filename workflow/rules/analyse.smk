# Stage 6: comparisons, with paired intervals over templates.


rule transfer_comparison:
    input:
        [
            f"<scores>/<main>/{str(ModelName(base, training, seed))}/{language}.parquet"
            for base in BASES
            for language in TARGETS
            for training in [SOURCE, language]
            for seed in SETTINGS.reward_model_seeds
        ],
    output:
        "<analysis>/transfer.csv",
    params:
        source=SOURCE,
        benchmark=SCALE.benchmark_facts(MAIN),
        interval=SCALE.interval,
    script:
        "../scripts/analyse/transfer_comparison.py"


rule transfer_gap:
    # What the source language's reward models lose from that language to others.
    input:
        [
            f"<scores>/<main>/{str(ModelName(base, SOURCE, seed))}/{language}.parquet"
            for base in BASES
            for seed in SETTINGS.reward_model_seeds
            for language in LANGUAGES
        ],
    output:
        "<analysis>/transfer_gap.csv",
    params:
        bases=BASES,
        languages=LANGUAGES,
        benchmark=SCALE.benchmark_facts(MAIN),
        interval=SCALE.interval,
    script:
        "../scripts/analyse/transfer_gap.py"


rule language_comparison:
    # Every reward model on one language, for Tables 2-7.
    input:
        expand("<scores>/<main>/{name}/{{language}}.parquet", name=SCALE.main_reward_models()),
    output:
        "<analysis>/languages/{language}.csv",
    params:
        benchmark=SCALE.benchmark_facts(MAIN),
        half_credit=SCALE.half_credit,
        interval=SCALE.interval,
    script:
        "../scripts/analyse/language_comparison.py"


rule ready_made_comparison:
    # What was not trained here, on every language, for Table 2.
    input:
        expand("<scores>/<main>/{name}/{language}.parquet", language=LANGUAGES, name=SCALE.table2_scorers),
    output:
        "<analysis>/ready_made.csv",
    params:
        kinds=SCALE.table2_scorers,
        benchmark=SCALE.benchmark_facts(MAIN),
        half_credit=SCALE.half_credit,
        interval=SCALE.interval,
    script:
        "../scripts/analyse/ready_made_comparison.py"


rule scorer_comparison:
    # Every scorer of one benchmark and language: baselines.csv's rows, and each subset's.
    input:
        rows="<translated>/{benchmark}/{language}.jsonl",
        scores=lambda wc: [
            f"<scores>/{wc.benchmark}/{name}/{wc.language}.parquet"
            for name in SCALE.scorers(wc.benchmark, wc.language)
        ],
    output:
        scorers="<analysis>/scorers/{benchmark}_{language}.csv",
        subsets="<analysis>/subsets/{benchmark}_{language}.csv",
        kinds="<analysis>/kinds/{benchmark}_{language}.csv",
    params:
        baselines=SCALE.baselines,
        benchmark=lambda wc: SCALE.benchmark_facts(wc.benchmark),
        half_credit=SCALE.half_credit,
        interval=SCALE.interval,
    script:
        "../scripts/analyse/scorer_comparison.py"


rule twin_comparison:
    input:
        lambda wc: [
            f"<scores>/<twins>/{name}/{wc.language}.parquet"
            for name in SCALE.scorers(SETTINGS.benchmarks.twins, wc.language)
        ],
    output:
        "<analysis>/twins/{language}.csv",
    params:
        baselines=SCALE.baselines,
        benchmark=SCALE.benchmark_facts(SETTINGS.benchmarks.twins),
        half_credit=SCALE.half_credit,
        interval=SCALE.interval,
    script:
        "../scripts/analyse/twin_comparison.py"


rule geometry:
    input:
        "<scores>/passages/{base}.safetensors",
    output:
        "<analysis>/geometry/{base}.csv",
    resources:
        **RESOURCES.for_tables(mb=32_000, minutes=120),
    params:
        languages=LANGUAGES,
        interval=SCALE.interval,
    script:
        "../scripts/analyse/geometry.py"


rule embedding_norms:
    # Norms of the token embeddings of each language, over disjoint sets of tokens, and at matched frequency.
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
        rows=expand("<translated>/train/{language}.jsonl", language=LANGUAGES),
        passages=expand("<translated>/passages/{language}.jsonl", language=LANGUAGES),
    output:
        norms="<analysis>/embedding_norms/{base}.csv",
        ks="<analysis>/embedding_norms/{base}_ks.csv",
    conda:
        "../../envs/score.yaml"
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("load", "{base}", on_gpu=False, minutes=60),
    params:
        languages=LANGUAGES,
        source=SOURCE,
        share=SETTINGS.token_share,
    script:
        "../scripts/analyse/embedding_norms.py"


rule win_rates:
    input:
        judgements=expand("<scores>/alignment/judgements_{language}.csv", language=ALIGNMENT.languages),
        known=expand("<scores>/alignment/known_{language}.csv", language=ALIGNMENT.languages),
    output:
        judgements="<analysis>/judgements.csv",
        judge="<analysis>/judge.csv",
        win_rates="<analysis>/win_rates.csv",
    params:
        trainings=ALIGNMENT.trainings,
        interval=SCALE.interval,
    script:
        "../scripts/analyse/win_rates.py"


rule translation_quality:
    input:
        source=f"<translated>/{SETTINGS.translation.quality_data}/<source>.jsonl",
        references=[
            f"<translated>/{SETTINGS.translation.quality_data}/{language}.jsonl" for language in TARGETS
        ],
        samples=expand(
            "<translated>/samples/{engine}/{language}.jsonl",
            engine=SETTINGS.translation.quality_engines,
            language=TARGETS,
        ),
    output:
        "<analysis>/translation_quality.csv",
    conda:
        "../../envs/translate.yaml"
    script:
        "../scripts/analyse/translation_quality.py"
