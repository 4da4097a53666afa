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


rule carb_possible_items:
    # A prompt to each culture, its own answer, and every answer that is right for other cultures only.
    input:
        references=PATHS.carb_references(),
        cultures=CARB["culture_file"],
    output:
        PATHS.carb_step("possible_items.jsonl"),
    log:
        PATHS.log("carb_possible_items", "all"),
    benchmark:
        PATHS.benchmark("carb_possible_items", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        cultures=CARB["cultures"],
        code=code("carb.construct", "carb.cultures", "files"),
    script:
        "../scripts/carb_possible_items.py"


rule carb_completions:
    # Only where carb.generators names some; else the references are the answers.
    input:
        models=[folder for entry in CARB["generators"].values() for folder in folders(entry)],
        possible=PATHS.carb_step("possible_items.jsonl"),
    output:
        PATHS.carb_step("completions.jsonl"),
    log:
        PATHS.log("carb_completions", "all"),
    benchmark:
        PATHS.benchmark("carb_completions", "all")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        mem_mb=3000,
    params:
        generators={name: located(entry) for name, entry in CARB["generators"].items()},
        scoring=config["scoring"],
        cache=PATHS.carb_step("replies"),
        languages={culture: LANGUAGES_KNOWN[culture]["name"] for culture in CARB["cultures"]},
        seed=SEED,
        code=code("carb.completions", "files"),
    script:
        "../scripts/carb_completions.py"


rule carb_similarities:
    input:
        model=folders(CARB["embedding"]),
        possible=carb_answers(),
    output:
        PATHS.carb_step("similarities.parquet"),
    log:
        PATHS.log("carb_similarities", "all"),
    benchmark:
        PATHS.benchmark("carb_similarities", "all")
    conda:
        "../../envs/score.yaml"
    threads: config["threads"]["score"]
    resources:
        mem_mb=3000,
    params:
        embedding=located(CARB["embedding"]),
        token_budget=config["scoring"]["token_budget"],
        code=code("carb.similarity", "files", "tables"),
    script:
        "../scripts/carb_similarities.py"


rule carb_items:
    # Four answers to each prompt, and what each filter removed.
    input:
        references=PATHS.carb_references(),
        possible=carb_answers(),
        similarities=PATHS.carb_step("similarities.parquet"),
    output:
        **{culture: PATHS.carb_items(culture) for culture in CARB["cultures"]},
        counts=PATHS.carb_step("counts.csv"),
    log:
        PATHS.log("carb_items", "all"),
    benchmark:
        PATHS.benchmark("carb_items", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        scripts={culture: LANGUAGES_KNOWN[culture]["script"] for culture in CARB["cultures"]},
        cultures=CARB["cultures"],
        domains=CARB["domains"],
        filters=CARB["filters"],
        training_share=CARB["training_share"],
        seed=SEED,
        code=code("carb.filters", "carb.holdout", "carb.selection", "files", "tables"),
    script:
        "../scripts/carb_items.py"


rule carb_training_items:
    # The same of the topics that are held out from the benchmark, to train judges on.
    input:
        references=PATHS.carb_references(),
        possible=carb_answers(),
        similarities=PATHS.carb_step("similarities.parquet"),
    output:
        **{culture: PATHS.carb_training_items(culture) for culture in CARB["cultures"]},
    log:
        PATHS.log("carb_training_items", "all"),
    benchmark:
        PATHS.benchmark("carb_training_items", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        scripts={culture: LANGUAGES_KNOWN[culture]["script"] for culture in CARB["cultures"]},
        filters=CARB["filters"],
        training_share=CARB["training_share"],
        seed=SEED,
        code=code("carb.filters", "carb.holdout", "carb.selection", "files"),
    script:
        "../scripts/carb_training_items.py"


rule locals_pairs:
    # Questions about two answers: with replies by rule for the warm-up, without for GRPO, and some to show.
    input:
        item_files=[PATHS.carb_training_items(culture) for culture in CARB["cultures"]],
        datasets=[PATHS.dataset(name) for name in LOCALS["datasets"]],
        cultures=CARB["culture_file"],
        criteria=LOCALS["criteria"],
    output:
        **{use: PATHS.locals_pairs(use) for use in ("warmup", "grpo", "samples")},
    log:
        PATHS.log("locals_pairs", "all"),
    benchmark:
        PATHS.benchmark("locals_pairs", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        sizes=locals_sizes(),
        language=LOCALS["criteria_language"],
        cultures=CARB["cultures"],
        domains=CARB["domains"],
        seed=job_seed(SEED, "locals_pairs"),
        code=code("locals.criteria", "carb.cultures", "files"),
    script:
        "../scripts/locals_pairs.py"


rule carb_questions:
    # Questions with accepted answers, to check what CARB's scores are worth; none of them is an item.
    input:
        CARB["questions"],
    output:
        PATHS.carb_questions(),
    log:
        PATHS.log("carb_questions", "all"),
    benchmark:
        PATHS.benchmark("carb_questions", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        cultures=CARB["cultures"],
        code=code("carb.questions", "files"),
    script:
        "../scripts/carb_questions.py"
