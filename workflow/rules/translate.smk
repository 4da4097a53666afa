# Stage 3: the same rows in every language, by one of the configured engines or as people wrote them.


rule translated_rows:
    input:
        rows=PATHS.prepared("{rowset}"),
        engine=lambda wc: (
            [] if SCALE.released(wc.rowset, wc.language) else engine_of(SCALE, wc.language).file(wc.language)
        ),
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
        **RESOURCES.of(
            "generate",
            lambda wc: (
                []
                if SCALE.released(wc.rowset, wc.language)
                else engine_of(SCALE, wc.language).models(wc.language)
            ),
            mb=64_000,
            minutes=2880,
        ),
    params:
        engine=lambda wc: engine_of(SCALE, wc.language).settings(wc.language),
        source=SCALE.source,
        first=None,
        serve=lambda wc: engine_of(SCALE, wc.language).serve,
    script:
        "../scripts/translated_rows.py"


use rule translated_rows as engine_sample with:
    input:
        rows=quality_rows(SCALE),
        engine=lambda wc: Engine(SCALE, wc.engine).file(wc.language),
    output:
        PATHS.engine_sample("{engine}", "{language}"),
    log:
        PATHS.log("engine_sample", "{engine}_{language}"),
    benchmark:
        PATHS.benchmark("engine_sample", "{engine}_{language}")
    resources:
        **RESOURCES.of(
            "generate", lambda wc: Engine(SCALE, wc.engine).models(wc.language), mb=64_000, minutes=240
        ),
    params:
        engine=lambda wc: Engine(SCALE, wc.engine).settings(wc.language),
        source=SCALE.source,
        first=config["translation"]["quality_rows"],
        serve=lambda wc: Engine(SCALE, wc.engine).serve,


rule own_benchmark:
    input:
        lambda wc: SCALE.own_benchmarks[wc.own]["path"],
    output:
        PATHS.translated("{own}", "{language}"),
    log:
        PATHS.log("own_benchmark", "{own}_{language}"),
    benchmark:
        PATHS.benchmark("own_benchmark", "{own}_{language}")
    conda:
        "../../envs/sources.yaml"
    script:
        "../scripts/own_benchmark.py"


rule passages:
    input:
        FILES.items(config["passages"]),
    output:
        [PATHS.translated("passages", language) for language in languages_brought(SCALE, config["passages"])],
    log:
        PATHS.log("passages", "all"),
    benchmark:
        PATHS.benchmark("passages", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        languages=languages_brought(SCALE, config["passages"]),
    script:
        "../scripts/passages.py"


rule instructions:
    input:
        FILES.items(ALIGNMENT.settings["instructions"]),
    output:
        [
            PATHS.translated("instructions", language)
            for language in languages_brought(SCALE, ALIGNMENT.settings["instructions"])
        ],
    log:
        PATHS.log("instructions", "all"),
    benchmark:
        PATHS.benchmark("instructions", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        languages=languages_brought(SCALE, ALIGNMENT.settings["instructions"]),
        roles=["prompt"] if ALIGNMENT.settings["reference"] else ["prompt", "reference"],
        max_instructions=ALIGNMENT.settings["max_instructions"],
        seed=config["seed"],
    script:
        "../scripts/instructions.py"


use rule translated_rows as translated_passages with:
    # Into languages that the passages do not bring.
    input:
        rows=PATHS.translated("passages", SCALE.source),
        engine=lambda wc: engine_of(SCALE, wc.language).file(wc.language),
    output:
        PATHS.translated("passages", "{language}"),
    log:
        PATHS.log("translated_passages", "{language}"),
    benchmark:
        PATHS.benchmark("translated_passages", "{language}")
    wildcard_constraints:
        language=one_of(languages_translated(SCALE, config["passages"])),
    resources:
        **RESOURCES.of(
            "generate", lambda wc: engine_of(SCALE, wc.language).models(wc.language), mb=64_000, minutes=2880
        ),


use rule translated_rows as translated_instructions with:
    # Into languages that the instructions do not bring.
    input:
        rows=PATHS.translated("instructions", SCALE.source),
        engine=lambda wc: engine_of(SCALE, wc.language).file(wc.language),
    output:
        PATHS.translated("instructions", "{language}"),
    log:
        PATHS.log("translated_instructions", "{language}"),
    benchmark:
        PATHS.benchmark("translated_instructions", "{language}")
    wildcard_constraints:
        language=one_of(languages_translated(SCALE, ALIGNMENT.settings["instructions"])),
    resources:
        **RESOURCES.of(
            "generate", lambda wc: engine_of(SCALE, wc.language).models(wc.language), mb=64_000, minutes=2880
        ),
