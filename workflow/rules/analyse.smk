# Stage 6: comparisons, with paired intervals over templates.


rule transfer_comparison:
    # Each target language's reward models against the source language's, on that language, for Table 1.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'table1'", within=SCORES),
        ),
        rows=expand("<translated>/<main>/{language}.jsonl", language=TARGETS),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/transfer.csv",
    log:
        "<logs>/transfer_comparison/all.log",
    benchmark:
        "<benchmarks>/transfer_comparison/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        source=SOURCE,
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
    script:
        "../scripts/analyse/transfer_comparison.py"


rule transfer_gap:
    # What the source language's reward models lose from that language to others.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'transfer_gap'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/transfer_gap.csv",
    log:
        "<logs>/transfer_gap/all.log",
    benchmark:
        "<benchmarks>/transfer_gap/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        bases=BASES,
        languages=LANGUAGES,
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
    script:
        "../scripts/analyse/transfer_gap.py"


rule seed_differences:
    # A control without an effect: trainings of the same reward model against each other.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'table1'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/seed_differences.csv",
    log:
        "<logs>/seed_differences/all.log",
    benchmark:
        "<benchmarks>/seed_differences/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
    script:
        "../scripts/analyse/seed_differences.py"


rule training_added:
    # What training adds: reward models against a linear probe of their untrained base, and its PMI.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'training_added'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/training_added.csv",
    log:
        "<logs>/training_added/all.log",
    benchmark:
        "<benchmarks>/training_added/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        bases=BASES,
        languages=LANGUAGES,
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
    script:
        "../scripts/analyse/training_added.py"


rule language_comparison:
    # Every reward model on one language, for Tables 3-7.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'language_comparison' and language == '{language}'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/languages/{language}.csv",
    log:
        "<logs>/language_comparison/{language}.log",
    benchmark:
        "<benchmarks>/language_comparison/{language}.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
    script:
        "../scripts/analyse/language_comparison.py"


rule ready_made_comparison:
    # What was not trained here, on every language, for Table 2.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'table2'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/ready_made.csv",
    log:
        "<logs>/ready_made_comparison/all.log",
    benchmark:
        "<benchmarks>/ready_made_comparison/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
    script:
        "../scripts/analyse/ready_made_comparison.py"


rule scorer_comparison:
    # Every scorer of one benchmark and language: baselines.csv's rows, and each subset's.
    input:
        rows="<translated>/{benchmark}/{language}.jsonl",
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup(
                "table == 'baselines' and benchmark == '{benchmark}' and language == '{language}'",
                within=SCORES,
            ),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        scorers="<analysis>/scorers/{benchmark}_{language}.csv",
        subsets="<analysis>/subsets/{benchmark}_{language}.csv",
        kinds="<analysis>/kinds/{benchmark}_{language}.csv",
    log:
        "<logs>/scorer_comparison/{benchmark}_{language}.log",
    benchmark:
        "<benchmarks>/scorer_comparison/{benchmark}_{language}.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        benchmark=lambda wc: CATALOG.benchmark(wc.benchmark),
        interval=INTERVAL,
    script:
        "../scripts/analyse/scorer_comparison.py"


rule twin_comparison:
    # Every scorer on one language's twins.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'twins' and language == '{language}'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/twins/{language}.csv",
    log:
        "<logs>/twin_comparison/{language}.log",
    benchmark:
        "<benchmarks>/twin_comparison/{language}.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        benchmark=CATALOG.benchmark(TWINS),
        interval=INTERVAL,
    script:
        "../scripts/analyse/twin_comparison.py"


rule geometry:
    input:
        "<scores>/passages/{base}.safetensors",
    output:
        "<analysis>/geometry/{base}.csv",
    log:
        "<logs>/geometry/{base}.log",
    benchmark:
        "<benchmarks>/geometry/{base}.tsv"
    conda:
        "../../envs/analyse.yaml"
    resources:
        **for_tables(mb=32_000, minutes=120),
    params:
        languages=LANGUAGES,
        interval=INTERVAL,
    script:
        "../scripts/analyse/geometry.py"


rule embedding_norms:
    # Norms of the token embeddings of each language, over disjoint sets of tokens, and at matched frequency.
    input:
        base=lambda wc: MODELS.base(wc.base),
        rows=expand("<translated>/train/{language}.jsonl", language=LANGUAGES),
        passages=expand("<translated>/passages/{language}.jsonl", language=LANGUAGES),
    output:
        norms="<analysis>/embedding_norms/{base}.csv",
        ks="<analysis>/embedding_norms/{base}_ks.csv",
    log:
        "<logs>/embedding_norms/{base}.log",
    benchmark:
        "<benchmarks>/embedding_norms/{base}.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("load", "{base}", on_gpu=False, minutes=60),
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
        labels=expand("<scores>/alignment/labels_{language}.csv", language=ALIGNMENT.languages),
    output:
        judgements="<analysis>/judgements.csv",
        judge="<analysis>/judge.csv",
        agreement="<analysis>/label_agreement.csv",
        win_rates="<analysis>/win_rates.csv",
    log:
        "<logs>/win_rates/all.log",
    benchmark:
        "<benchmarks>/win_rates/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        trainings=ALIGNMENT.trainings,
        interval=INTERVAL,
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
    log:
        "<logs>/translation_quality/all.log",
    benchmark:
        "<benchmarks>/translation_quality/all.tsv"
    conda:
        "../../envs/translate.yaml"
    script:
        "../scripts/analyse/translation_quality.py"
