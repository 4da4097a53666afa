# Stage 6: comparisons, with paired intervals over templates.


rule transfer_comparison:
    input:
        rows=[PATHS.translated(MAIN, language) for language in TARGETS],
        english=[
            PATHS.scores(MAIN, str(ModelName(base, SOURCE, seed)), language)
            for base in BASES
            for language in TARGETS
            for seed in RM_SEEDS
        ],
        target=[
            PATHS.scores(MAIN, str(ModelName(base, language, seed)), language)
            for base in BASES
            for language in TARGETS
            for seed in RM_SEEDS
        ],
    output:
        PATHS.analysis("transfer.csv"),
    log:
        PATHS.log("transfer_comparison", "all"),
    benchmark:
        PATHS.benchmark("transfer_comparison", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        bases=BASES,
        languages=TARGETS,
        seeds=RM_SEEDS,
        benchmark=benchmark_facts(MAIN),
        interval=interval_settings(),
        code=code("reports", "tables"),
    script:
        "../scripts/transfer_comparison.py"


rule language_comparison:
    # Every reward model on one language, for Tables 2-7.
    input:
        rows=PATHS.translated(MAIN, "{language}"),
        scores=[PATHS.scores(MAIN, name, "{language}") for name in table_models()],
    output:
        PATHS.analysis("languages/{language}.csv"),
    log:
        PATHS.log("language_comparison", "{language}"),
    benchmark:
        PATHS.benchmark("language_comparison", "{language}")
    conda:
        "../../envs/analyse.yaml"
    params:
        models=table_models(),
        benchmark=benchmark_facts(MAIN),
        interval=interval_settings(),
        code=code("reports", "tables", "naming"),
    script:
        "../scripts/language_comparison.py"


rule off_the_shelf:
    # What was not trained here, on every language, for Table 2.
    input:
        rows=[PATHS.translated(MAIN, language) for language in LANGUAGES],
        scores=[PATHS.scores(MAIN, name, language) for language in LANGUAGES for name in off_the_shelf()],
    output:
        PATHS.analysis("off_the_shelf.csv"),
    log:
        PATHS.log("off_the_shelf", "all"),
    benchmark:
        PATHS.benchmark("off_the_shelf", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        kinds=off_the_shelf(),
        languages=LANGUAGES,
        benchmark=benchmark_facts(MAIN),
        interval=interval_settings(),
        code=code("reports", "tables"),
    script:
        "../scripts/off_the_shelf.py"


rule scorer_comparison:
    # Every scorer of one benchmark and language: baselines.csv's rows, and each subset's.
    input:
        rows=PATHS.translated("{benchmark}", "{language}"),
        scores=lambda wc: [PATHS.scores(wc.benchmark, name, wc.language) for name in scorers(wc.benchmark, wc.language)],
    output:
        scorers=PATHS.analysis("scorers/{benchmark}_{language}.csv"),
        subsets=PATHS.analysis("subsets/{benchmark}_{language}.csv"),
    log:
        PATHS.log("scorer_comparison", "{benchmark}_{language}"),
    benchmark:
        PATHS.benchmark("scorer_comparison", "{benchmark}_{language}")
    conda:
        "../../envs/analyse.yaml"
    params:
        scorers=lambda wc: scorers(wc.benchmark, wc.language),
        baselines=baseline_scorers(),
        benchmark=lambda wc: benchmark_facts(wc.benchmark),
        interval=interval_settings(),
        code=code("reports", "tables"),
    script:
        "../scripts/scorer_comparison.py"


rule twin_comparison:
    input:
        rows=PATHS.translated(TWINS, "{language}"),
        scores=lambda wc: [PATHS.scores(TWINS, name, wc.language) for name in scorers(TWINS, wc.language)],
    output:
        PATHS.analysis("twins/{language}.csv"),
    log:
        PATHS.log("twin_comparison", "{language}"),
    benchmark:
        PATHS.benchmark("twin_comparison", "{language}")
    conda:
        "../../envs/analyse.yaml"
    params:
        scorers=lambda wc: scorers(TWINS, wc.language),
        baselines=baseline_scorers(),
        benchmark=benchmark_facts(TWINS),
        interval=interval_settings(),
        code=code("reports", "tables"),
    script:
        "../scripts/twin_comparison.py"


rule geometry:
    input:
        PATHS.passage_states("{base}"),
    output:
        PATHS.analysis("geometry/{base}.csv"),
    log:
        PATHS.log("geometry", "{base}"),
    benchmark:
        PATHS.benchmark("geometry", "{base}")
    conda:
        "../../envs/analyse.yaml"
    params:
        names=["base", *LANGUAGES],
        languages=LANGUAGES,
        interval=interval_settings(),
        code=code("geometry", "tables"),
    script:
        "../scripts/geometry.py"


rule embedding_norms:
    # Norms of the token embeddings of each language, over disjoint sets of tokens, and at matched frequency.
    input:
        base=PATHS.base_model("{base}"),
        rows=[PATHS.translated("train", language) for language in LANGUAGES],
        passages=[PATHS.translated("passages", language) for language in LANGUAGES],
    output:
        norms=PATHS.analysis("embedding_norms/{base}.csv"),
        ks=PATHS.analysis("embedding_norms/{base}_ks.csv"),
    log:
        PATHS.log("embedding_norms", "{base}"),
    benchmark:
        PATHS.benchmark("embedding_norms", "{base}")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        **holding("score", lambda wc: [wc.base], devices=False),
    params:
        languages=LANGUAGES,
        source=SOURCE,
        code=code("embedding_norms", "tables"),
    script:
        "../scripts/embedding_norms.py"
