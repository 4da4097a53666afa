# Stage 3: the same rows in every language, by one of the configured engines, and how good each engine is.


rule translated_rows:
    input:
        rows=PATHS.prepared("{rowset}"),
        engine=lambda wc: engine_input(config["translation"]["engine"], wc.language),
    output:
        PATHS.translated("{rowset}", "{language}"),
    log:
        PATHS.log("translated_rows", "{rowset}_{language}"),
    benchmark:
        PATHS.benchmark("translated_rows", "{rowset}_{language}")
    priority: 2  # seconds with a catalog, and the longest training waits for one of them
    conda:
        "../../envs/translate.yaml"
    threads: config["threads"]["translate"]
    resources:
        **holding("generate", lambda wc: engine_models(config["translation"]["engine"], wc.language)),
    params:
        engine=engine_settings(config["translation"]["engine"]),
        source=SOURCE,
        first=None,
        serve=engine_served(config["translation"]["engine"]),
        code=code("translation.run"),
    script:
        "../scripts/translated_rows.py"


use rule translated_rows as engine_sample with:
    input:
        rows=quality_rows(),
        engine=lambda wc: engine_input(wc.engine, wc.language),
    output:
        PATHS.engine_sample("{engine}", "{language}"),
    log:
        PATHS.log("engine_sample", "{engine}_{language}"),
    benchmark:
        PATHS.benchmark("engine_sample", "{engine}_{language}")
    resources:
        **holding("generate", lambda wc: engine_models(wc.engine, wc.language)),
    params:
        engine=lambda wc: engine_settings(wc.engine),
        source=SOURCE,
        first=config["translation"]["quality_rows"],
        serve=lambda wc: engine_served(wc.engine),
        code=code("translation.run"),


rule translation_quality:
    input:
        source=PATHS.translated(config["translation"]["quality_data"], SOURCE),
        references=[PATHS.translated(config["translation"]["quality_data"], language) for language in TARGETS],
        samples=[
            PATHS.engine_sample(engine, language) for engine in config["translation"]["quality_engines"] for language in TARGETS
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
        languages=TARGETS,
        code=code("translation.quality", "tables"),
    script:
        "../scripts/translation_quality.py"
