# Stage 2: rows checked one by one, deduplicated, split by rule, and counted per source.


rule training_pool:
    input:
        pool=[PATHS.dataset(name) for name in config["pool"]["datasets"]],
        evaluation=[PATHS.dataset(BENCHMARKS[name]["dataset"]) for name in SCORED],
    output:
        train=PATHS.prepared("train"),
        dev=PATHS.prepared("dev"),
        counts=PATHS.counts("train"),
    log:
        PATHS.log("training_pool", "all"),
    benchmark:
        PATHS.benchmark("training_pool", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        dev_share=config["pool"]["dev_share"],
        max_pairs=config["pool"]["max_pairs"],
        fills=config["fills_per_template"],
        categories=benchmark_categories(MAIN),
        seed=SEED,
        code=code("prepare", "files"),
    script:
        "../scripts/training_pool.py"


rule evaluation_set:
    input:
        lambda wc: PATHS.dataset(BENCHMARKS[wc.benchmark]["dataset"]),
    output:
        rows=PATHS.prepared("{benchmark}"),
        counts=PATHS.counts("{benchmark}"),
    log:
        PATHS.log("evaluation_set", "{benchmark}"),
    benchmark:
        PATHS.benchmark("evaluation_set", "{benchmark}")
    conda:
        "../../envs/sources.yaml"
    params:
        categories=lambda wc: benchmark_categories(wc.benchmark),
        fills=config["fills_per_template"],
        seed=SEED,
        code=code("prepare", "files"),
    script:
        "../scripts/evaluation_set.py"


rule own_benchmark:
    input:
        lambda wc: OWN[wc.own]["path"],
    output:
        PATHS.translated("{own}", "{language}"),
    log:
        PATHS.log("own_benchmark", "{own}_{language}"),
    benchmark:
        PATHS.benchmark("own_benchmark", "{own}_{language}")
    conda:
        "../../envs/sources.yaml"
    params:
        code=code("prepare", "files"),
    script:
        "../scripts/own_benchmark.py"


rule alignment_prompts:
    # Prompts of a dataset of their own for the policy, where alignment.prompt_data names one.
    input:
        rows=[PATHS.dataset(name) for name in [ALIGNMENT["prompt_data"]] if name],
    output:
        PATHS.prepared("prompts"),
    log:
        PATHS.log("alignment_prompts", "all"),
    benchmark:
        PATHS.benchmark("alignment_prompts", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        prompts=ALIGNMENT["prompts"],
        seed=job_seed(SEED, "alignment_prompts"),
        code=code("alignment.prompts", "files"),
    script:
        "../scripts/alignment_prompts.py"


rule passages:
    input:
        items_of(config["passages"]),
    output:
        [PATHS.translated("passages", language) for language in LANGUAGES],
    log:
        PATHS.log("passages", "all"),
    benchmark:
        PATHS.benchmark("passages", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        languages=LANGUAGES,
        code=code("passages", "files"),
    script:
        "../scripts/passages.py"
