# Stage 3: the same rows in every language, by one of the configured engines, or from our catalogs.


rule translated_rows:
    input:
        rows="<prepared>/{rowset}.jsonl",
        engine=lambda wc: engine_of(MODELS, wc.language, wc.rowset).file,
    output:
        "<translated>/{rowset}/{language}.jsonl",
    log:
        "<logs>/translated_rows/{rowset}_{language}.log",
    benchmark:
        "<benchmarks>/translated_rows/{rowset}_{language}.tsv"
    priority: 2  # seconds with a catalog, and the longest training waits for one of them
    conda:
        "../../envs/translate.yaml"
    threads: THREADS.translate
    resources:
        **for_models(
            "generate",
            lambda wc: engine_of(MODELS, wc.language, wc.get("rowset")).models,
            minutes=5760,
            tokens=TRANSLATED_AT_ONCE,
        ),
    params:
        engine=lambda wc: engine_of(MODELS, wc.language).arguments,
        source=SOURCE,
        first=None,
        code_subsets=lambda wc: CATALOG.benchmarks.get(wc.get("rowset"), {}).get("code", []),
    script:
        "../scripts/translate/translated_rows.py"


use rule translated_rows as engine_sample with:
    input:
        rows=(
            "<prepared>/dev.jsonl"
            if SETTINGS.translation.quality_data == "dev"
            else "<translated>/passages/<source>.jsonl"
        ),
        engine=lambda wc: Engine(MODELS, wc.engine, wc.language).file,
    output:
        "<translated>/samples/{engine}/{language}.jsonl",
    log:
        "<logs>/engine_sample/{engine}_{language}.log",
    benchmark:
        "<benchmarks>/engine_sample/{engine}_{language}.tsv"
    resources:
        **for_models(
            "generate",
            lambda wc: Engine(MODELS, wc.engine, wc.language).models,
            minutes=240,
            tokens=TRANSLATED_AT_ONCE,
        ),
    params:
        engine=lambda wc: Engine(MODELS, wc.engine, wc.language).arguments,
        first=SETTINGS.translation.quality_rows,
        code_subsets=[],


rule own_benchmark:
    input:
        lambda wc: own_benchmark_file(SETTINGS, wc.benchmark),
    output:
        "<translated>/{benchmark}/{language}.jsonl",
    log:
        "<logs>/own_benchmark/{benchmark}_{language}.log",
    benchmark:
        "<benchmarks>/own_benchmark/{benchmark}_{language}.tsv"
    wildcard_constraints:
        benchmark=one_of(OWN),
    conda:
        "../../envs/sources.yaml"
    params:
        layout=lambda wc: OWN[wc.benchmark].layout,
    script:
        "../scripts/translate/own_benchmark.py"


rule passages:
    input:
        dataset_file(SETTINGS, CATALOG, SETTINGS.passages),
    output:
        expand("<translated>/passages/{language}.jsonl", language=brought(SETTINGS.passages)),
    log:
        "<logs>/passages/all.log",
    benchmark:
        "<benchmarks>/passages/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        languages=brought(SETTINGS.passages),
        max_passages=SETTINGS.max_passages,
        seed=seed_of("passages"),
    script:
        "../scripts/translate/passages.py"


rule instructions:
    input:
        dataset_file(SETTINGS, CATALOG, ALIGNMENT.instructions),
    output:
        expand(
            "<translated>/instructions/{language}.jsonl",
            language=brought(ALIGNMENT.instructions),
        ),
    log:
        "<logs>/instructions/all.log",
    benchmark:
        "<benchmarks>/instructions/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        languages=brought(ALIGNMENT.instructions),
        roles=["prompt"] if ALIGNMENT.reference else ["prompt", "reference"],
        max_instructions=ALIGNMENT.max_instructions,
        seed=SEED,
    script:
        "../scripts/translate/instructions.py"


use rule translated_rows as translated_passages with:
    # Into languages that the passages do not bring.
    input:
        rows="<translated>/passages/<source>.jsonl",
        engine=lambda wc: engine_of(MODELS, wc.language).file,
    output:
        "<translated>/passages/{language}.jsonl",
    log:
        "<logs>/translated_passages/{language}.log",
    benchmark:
        "<benchmarks>/translated_passages/{language}.tsv"
    wildcard_constraints:
        language=one_of(one for one in LANGUAGES if one not in brought(SETTINGS.passages)),


use rule translated_passages as translated_instructions with:
    # Into languages that the instructions do not bring.
    input:
        rows="<translated>/instructions/<source>.jsonl",
        engine=lambda wc: engine_of(MODELS, wc.language).file,
    output:
        "<translated>/instructions/{language}.jsonl",
    log:
        "<logs>/translated_instructions/{language}.log",
    benchmark:
        "<benchmarks>/translated_instructions/{language}.tsv"
    wildcard_constraints:
        language=one_of(one for one in LANGUAGES if one not in brought(ALIGNMENT.instructions)),
