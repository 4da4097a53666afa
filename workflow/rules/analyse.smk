# Stage 6: comparisons, with paired intervals over templates.


rule transfer_comparison:
    input:
        rows=[PATHS.translated(SCALE.main, language) for language in SCALE.targets],
        english=[
            PATHS.scores(SCALE.main, str(ModelName(base, SCALE.source, seed)), language)
            for base in SCALE.table1_bases
            for language in SCALE.targets
            for seed in SCALE.seeds
        ],
        target=[
            PATHS.scores(SCALE.main, str(ModelName(base, language, seed)), language)
            for base in SCALE.table1_bases
            for language in SCALE.targets
            for seed in SCALE.seeds
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
        bases=SCALE.table1_bases,
        languages=SCALE.targets,
        seeds=SCALE.seeds,
        benchmark=SCALE.benchmark_facts(SCALE.main),
        interval=SCALE.interval,
    script:
        "../scripts/transfer_comparison.py"


rule language_comparison:
    # Every reward model on one language, for Tables 2-7.
    input:
        rows=PATHS.translated(SCALE.main, "{language}"),
        scores=[PATHS.scores(SCALE.main, name, "{language}") for name in SCALE.main_reward_models()],
    output:
        PATHS.analysis("languages/{language}.csv"),
    log:
        PATHS.log("language_comparison", "{language}"),
    benchmark:
        PATHS.benchmark("language_comparison", "{language}")
    conda:
        "../../envs/analyse.yaml"
    params:
        models=SCALE.main_reward_models(),
        benchmark=SCALE.benchmark_facts(SCALE.main),
        halves=SCALE.half_ties,
        interval=SCALE.interval,
    script:
        "../scripts/language_comparison.py"


rule ready_made_comparison:
    # What was not trained here, on every language, for Table 2.
    input:
        rows=[PATHS.translated(SCALE.main, language) for language in SCALE.languages],
        scores=[
            PATHS.scores(SCALE.main, name, language)
            for language in SCALE.languages
            for name in SCALE.table2_scorers
        ],
    output:
        PATHS.analysis("ready_made.csv"),
    log:
        PATHS.log("ready_made_comparison", "all"),
    benchmark:
        PATHS.benchmark("ready_made_comparison", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        kinds=SCALE.table2_scorers,
        languages=SCALE.languages,
        benchmark=SCALE.benchmark_facts(SCALE.main),
        halves=SCALE.half_ties,
        interval=SCALE.interval,
    script:
        "../scripts/ready_made_comparison.py"


rule scorer_comparison:
    # Every scorer of one benchmark and language: baselines.csv's rows, and each subset's.
    input:
        rows=PATHS.translated("{benchmark}", "{language}"),
        scores=lambda wc: [
            PATHS.scores(wc.benchmark, name, wc.language)
            for name in SCALE.scorers(wc.benchmark, wc.language)
        ],
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
        scorers=lambda wc: SCALE.scorers(wc.benchmark, wc.language),
        baselines=SCALE.baselines,
        benchmark=lambda wc: SCALE.benchmark_facts(wc.benchmark),
        halves=SCALE.half_ties,
        interval=SCALE.interval,
    script:
        "../scripts/scorer_comparison.py"


rule twin_comparison:
    input:
        rows=PATHS.translated(SCALE.twins, "{language}"),
        scores=lambda wc: [
            PATHS.scores(SCALE.twins, name, wc.language) for name in SCALE.scorers(SCALE.twins, wc.language)
        ],
    output:
        PATHS.analysis("twins/{language}.csv"),
    log:
        PATHS.log("twin_comparison", "{language}"),
    benchmark:
        PATHS.benchmark("twin_comparison", "{language}")
    conda:
        "../../envs/analyse.yaml"
    params:
        scorers=lambda wc: SCALE.scorers(SCALE.twins, wc.language),
        baselines=SCALE.baselines,
        benchmark=SCALE.benchmark_facts(SCALE.twins),
        interval=SCALE.interval,
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
    resources:
        **RESOURCES.without_model(mb=32_000, minutes=120),
    params:
        names=["base", *SCALE.languages],
        languages=SCALE.languages,
        interval=SCALE.interval,
    script:
        "../scripts/geometry.py"


rule embedding_norms:
    # Norms of the token embeddings of each language, over disjoint sets of tokens, and at matched frequency.
    input:
        base=lambda wc: SCALE.base_folder(wc.base),
        rows=[PATHS.translated("train", language) for language in SCALE.languages],
        passages=[PATHS.translated("passages", language) for language in SCALE.languages],
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
        **RESOURCES.of("score", lambda wc: [wc.base], on_gpu=False, mb=64_000, minutes=60),
    params:
        languages=SCALE.languages,
        source=SCALE.source,
        share=config["token_share"],
    script:
        "../scripts/embedding_norms.py"


rule win_rates:
    input:
        [PATHS.alignment(f"judgements_{language}.csv") for language in ALIGNMENT.settings["languages"]],
    output:
        judgements=PATHS.analysis("judgements.csv"),
        win_rates=PATHS.analysis("win_rates.csv"),
    log:
        PATHS.log("win_rates", "all"),
    benchmark:
        PATHS.benchmark("win_rates", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        interval=SCALE.interval,
    script:
        "../scripts/win_rates.py"


rule translation_quality:
    input:
        source=PATHS.translated(config["translation"]["quality_data"], SCALE.source),
        references=[
            PATHS.translated(config["translation"]["quality_data"], language) for language in SCALE.targets
        ],
        samples=[
            PATHS.engine_sample(engine, language)
            for engine in config["translation"]["quality_engines"]
            for language in SCALE.targets
        ],
    output:
        PATHS.analysis("translation_quality.csv"),
    log:
        PATHS.log("translation_quality", "all"),
    benchmark:
        PATHS.benchmark("translation_quality", "all")
    conda:
        "../../envs/translate.yaml"
    params:
        engines=config["translation"]["quality_engines"],
        languages=SCALE.targets,
    script:
        "../scripts/translation_quality.py"


rule untranslated:
    # What is still in the source language favours the source language's reward model.
    input:
        source=[PATHS.translated(rowset, SCALE.source) for rowset in ["train", SCALE.main]],
        translated=[
            PATHS.translated(rowset, language)
            for rowset in ["train", SCALE.main]
            for language in SCALE.targets
        ],
    output:
        PATHS.analysis("untranslated.csv"),
    log:
        PATHS.log("untranslated", "all"),
    benchmark:
        PATHS.benchmark("untranslated", "all")
    conda:
        "../../envs/translate.yaml"
    params:
        rowsets=["train", SCALE.main],
        languages=SCALE.targets,
    script:
        "../scripts/untranslated.py"
