# Stage 2: rows checked one by one, deduplicated, split by rule, and counted per source.


rule training_pool:
    input:
        pool=[PATHS.dataset(name) for name in config["pool"]["datasets"]],
        evaluation=[PATHS.dataset(KNOWN.benchmarks[name]["dataset"]) for name in SCALE.benchmarks],
        printed=PROJECT.file("resources/published/transfer_sources.csv"),
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
    resources:
        **RESOURCES.without_model(mb=16_000, minutes=60),
    params:
        dev_share=config["pool"]["dev_share"],
        max_pairs=config["pool"]["max_pairs"],
        filters=config["pool"]["filters"],
        share=SCALE.share("pool"),
        categories=SCALE.categories(SCALE.main),
        seed=config["seed"],
    script:
        "../scripts/training_pool.py"


rule evaluation_set:
    input:
        lambda wc: PATHS.dataset(KNOWN.benchmarks[wc.benchmark]["dataset"]),
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
        categories=lambda wc: SCALE.categories(wc.benchmark),
        share=lambda wc: SCALE.share("main" if wc.benchmark == SCALE.main else "twins"),
        published=lambda wc: KNOWN.datasets[KNOWN.benchmarks[wc.benchmark]["dataset"]]["kind"] == "hub",
        seed=config["seed"],
    script:
        "../scripts/evaluation_set.py"


rule alignment_prompts:
    # Prompts of a dataset of their own for the policy, where alignment.prompt_data names one.
    input:
        rows=[PATHS.dataset(name) for name in [ALIGNMENT.settings["prompt_data"]] if name],
    output:
        PATHS.prepared("prompts"),
    log:
        PATHS.log("alignment_prompts", "all"),
    benchmark:
        PATHS.benchmark("alignment_prompts", "all")
    conda:
        "../../envs/sources.yaml"
    resources:
        **RESOURCES.without_model(mb=8_000, minutes=60),
    params:
        prompts=ALIGNMENT.settings["prompts"],
        seed=SCALE.job_seed("alignment_prompts"),
    script:
        "../scripts/alignment_prompts.py"


use rule base_model as random_base_model with:
    # Of random weights; its tokenizer is trained on the texts at hand.
    input:
        corpus=[PATHS.prepared("train")],
    output:
        directory(PATHS.random_model("{base}")),
    log:
        PATHS.log("random_base_model", "{base}"),
    benchmark:
        PATHS.benchmark("random_base_model", "{base}")
