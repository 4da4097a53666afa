# Stage 2: rows checked one by one, deduplicated, split by rule, and counted per source.


rule training_pool:
    input:
        pool=expand("<sources>/data/{name}.jsonl", name=SETTINGS.pool.datasets),
        evaluation=[f"<sources>/data/{CATALOG.benchmarks[name]['dataset']}.jsonl" for name in BENCHMARKS],
        stock=CATALOG.stock(MAIN),
        printed=FILE("workflow/papers/transfer/printed/sources.csv"),
    output:
        train="<prepared>/train.jsonl",
        dev="<prepared>/dev.jsonl",
        counts="<prepared>/train_counts.csv",
    log:
        "<logs>/training_pool/all.log",
    benchmark:
        "<benchmarks>/training_pool/all.tsv"
    conda:
        "../../envs/sources.yaml"
    resources:
        **for_tables(mb=16_000, minutes=60),
    params:
        dev_share=SETTINGS.pool.dev_share,
        max_pairs=SETTINGS.pool.max_pairs,
        filters=SETTINGS.pool.filters,
        share=drawn_share(SETTINGS, "pool"),
        categories=CATALOG.categories(MAIN),
        kinds=CATALOG.kinds(MAIN),
        kinds_per_request=SETTINGS.kinds_per_request,
        seed=SEED,
    script:
        "../scripts/prepare/training_pool.py"


rule judge_pool:
    # For Figure 3's judge, where it is trained here: templates that no other reward model is trained on.
    input:
        pool=rules.training_pool.input.pool,
        evaluation=rules.training_pool.input.evaluation,
        stock=rules.training_pool.input.stock,
        train=rules.training_pool.output.train,
    output:
        "<prepared>/judge.jsonl",
    log:
        "<logs>/judge_pool/all.log",
    benchmark:
        "<benchmarks>/judge_pool/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        max_pairs=SETTINGS.pool.max_pairs,
        filters=SETTINGS.pool.filters,
        share=drawn_share(SETTINGS, "pool"),
        categories=CATALOG.categories(MAIN),
        kinds=judge_kinds(SETTINGS, CATALOG),
        kinds_per_request=SETTINGS.kinds_per_request,
        seed=SEED,
    script:
        "../scripts/prepare/judge_pool.py"


rule evaluation_set:
    input:
        rows=lambda wc: f"<sources>/data/{CATALOG.benchmarks[wc.benchmark]['dataset']}.jsonl",
        stock=lambda wc: CATALOG.stock(wc.benchmark),
    output:
        rows="<prepared>/{benchmark}.jsonl",
        counts="<prepared>/{benchmark}_counts.csv",
    log:
        "<logs>/evaluation_set/{benchmark}.log",
    benchmark:
        "<benchmarks>/evaluation_set/{benchmark}.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        categories=lambda wc: CATALOG.categories(wc.benchmark),
        kinds=lambda wc: CATALOG.kinds(wc.benchmark),
        kinds_per_request=SETTINGS.kinds_per_request,
        share=lambda wc: drawn_share(SETTINGS, wc.benchmark),
        code_subsets=lambda wc: CATALOG.benchmarks[wc.benchmark].get("code", []),
        published=lambda wc: CATALOG.datasets[CATALOG.benchmarks[wc.benchmark]["dataset"]]["kind"] == "hub",
        seed=SEED,
    script:
        "../scripts/prepare/evaluation_set.py"


rule alignment_prompts:
    # Prompts of a dataset of their own for the policy, where alignment.prompt_data names one.
    input:
        rows=[f"<sources>/data/{name}.jsonl" for name in [ALIGNMENT.prompt_data] if name],
    output:
        "<prepared>/prompts.jsonl",
    log:
        "<logs>/alignment_prompts/all.log",
    benchmark:
        "<benchmarks>/alignment_prompts/all.tsv"
    conda:
        "../../envs/sources.yaml"
    resources:
        **for_tables(mb=8_000, minutes=60),
    params:
        prompts=ALIGNMENT.prompts,
        seed=seed_of("alignment_prompts"),
    script:
        "../scripts/prepare/alignment_prompts.py"


use rule base_model as random_base_model with:
    # Of random weights; its tokenizer is trained on the texts at hand.
    input:
        corpus=["<prepared>/train.jsonl"],
    output:
        directory("<prepared>/models/{base}"),
    log:
        "<logs>/random_base_model/{base}.log",
    benchmark:
        "<benchmarks>/random_base_model/{base}.tsv"


rule solution_pairs:
    # Wrong solutions of problems that have a worked one. All languages are read, so that each has the same problems.
    input:
        "<sources>/worked_solutions/{dataset}.jsonl",
    output:
        "<prepared>/solution_pairs/{dataset}_{language}.jsonl",
    log:
        "<logs>/solution_pairs/{dataset}_{language}.log",
    benchmark:
        "<benchmarks>/solution_pairs/{dataset}_{language}.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        seed=seed_of("solution_pairs"),
    script:
        "../scripts/prepare/solution_pairs.py"
