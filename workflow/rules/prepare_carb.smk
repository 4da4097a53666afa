# Stage 2 of the CARB paper: from references to items, and to what judges are trained on.


rule carb_possible_items:
    # A prompt to each culture, its own answer, and every answer that is right for other cultures only.
    input:
        references="<sources>/carb/references.jsonl",
        cultures=CARB.culture_file,
    output:
        "<prepared>/carb/steps/possible_items.jsonl",
    log:
        "<logs>/carb_possible_items/all.log",
    benchmark:
        "<benchmarks>/carb_possible_items/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        cultures=BUILT_CULTURES,
    script:
        "../scripts/prepare/carb_possible_items.py"


rule carb_completions:
    # Only where carb.generators names some; else the references are the answers.
    input:
        models=[folder for entry in GENERATORS.values() for folder in MODELS.folders(entry)],
        possible="<prepared>/carb/steps/possible_items.jsonl",
    output:
        "<prepared>/carb/steps/completions.jsonl",
    log:
        "<logs>/carb_completions/all.log",
    benchmark:
        "<benchmarks>/carb_completions/all.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", lambda wc: GENERATORS.values(), minutes=720),
    params:
        generators={name: MODELS.loadable(entry) for name, entry in GENERATORS.items()},
        scoring=SCORING,
        cache=f"{SETTINGS.results}/work/2_prepared/carb/steps/replies",
        languages=CATALOG.facts("name", BUILT_CULTURES),
        seed=SEED,
    script:
        "../scripts/prepare/carb_completions.py"


rule carb_similarities:
    input:
        model=MODELS.base(CARB.embedding.model),
        possible=CARB_ANSWERS,
    output:
        "<prepared>/carb/steps/similarities.parquet",
    log:
        "<logs>/carb_similarities/all.log",
    benchmark:
        "<benchmarks>/carb_similarities/all.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", CARB.embedding.model, minutes=240),
    params:
        embedding={
            "source": MODELS.base(CARB.embedding.model),
            "dtype": SETTINGS.precision,
            "layers": CARB.embedding.layers,
            "max_length": CARB.embedding.max_length,
        },
        token_budget=SETTINGS.scoring.token_budget,
    script:
        "../scripts/prepare/carb_similarities.py"


rule carb_items:
    # Four answers to each prompt, and what each filter removed; or the items of carb.item_files, where it names some.
    input:
        references=branch(not CARB.item_files, then="<sources>/carb/references.jsonl"),
        possible=branch(not CARB.item_files, then=CARB_ANSWERS),
        similarities=branch(not CARB.item_files, then="<prepared>/carb/steps/similarities.parquet"),
        given=CARB.item_files,
    output:
        **{culture: f"<prepared>/carb/{culture}.jsonl" for culture in CULTURES},
        counts="<prepared>/carb/steps/counts.csv",
    log:
        "<logs>/carb_items/all.log",
    benchmark:
        "<benchmarks>/carb_items/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        expected={
            "names": CATALOG.facts("name", CULTURES),
            "scripts": CATALOG.facts("script", CULTURES),
            "domains": DOMAINS,
        },
        draw={"items_per_cell": CARB.items_per_cell, "seed": SEED},
    script:
        "../scripts/prepare/carb_items.py"


rule carb_training_items:
    # The same of the topics that are held out from the benchmark, to train judges on.
    input:
        references="<sources>/carb/references.jsonl",
        possible=CARB_ANSWERS,
        similarities="<prepared>/carb/steps/similarities.parquet",
    output:
        **{culture: f"<prepared>/carb_train/{culture}.jsonl" for culture in BUILT_CULTURES},
    log:
        "<logs>/carb_training_items/all.log",
    benchmark:
        "<benchmarks>/carb_training_items/all.tsv"
    priority: 3  # seconds, and the longest row of trainings waits for them
    conda:
        "../../envs/sources.yaml"
    params:
        scripts=CATALOG.facts("script", BUILT_CULTURES),
        seed=SEED,
    script:
        "../scripts/prepare/carb_training_items.py"


rule carb_quartets:
    # One question about four places, whose four answers differ, and the same without a place; the same quartets in every language.
    # And lessons on some of them, as preference pairs, where reward models are taught any.
    input:
        cultures=branch(not QUARTETS["files"], then=CARB.culture_file),
        topics=(
            []
            if QUARTETS["files"]
            else sorted(
                str(file)
                for folder in (CARB.topics, CARB.quartets.topics)
                for file in Path(folder).glob("*.yaml")
            )
        ),
        given=list(QUARTETS["files"].values()),
        schema=FILE("workflow/schemas/carb_topics.schema.yaml"),
    output:
        **{language: f"<prepared>/quartets/{language}.jsonl" for language in QUARTET_LANGUAGES},
        **{
            f"unplaced_{language}": f"<prepared>/unplaced_quartets/{language}.jsonl"
            for language in QUARTET_LANGUAGES
        },
        **{
            f"lessons_{language}": f"<prepared>/lessons/{language}.jsonl"
            for language in (QUARTET_LANGUAGES if CARB.lessons.bases else [])
        },
    log:
        "<logs>/carb_quartets/all.log",
    benchmark:
        "<benchmarks>/carb_quartets/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        choices=QUARTETS,
        folder=lambda wc: CARB.topics,
        teach=CARB.lessons.bases > 0,
        seed=SEED,
    script:
        "../scripts/prepare/carb_quartets.py"


rule carb_paraphrases:
    # Only where carb.generators names some; else the right answers' second wordings come from rules and from this project's wordings.
    input:
        models=[folder for entry in GENERATORS.values() for folder in MODELS.folders(entry)],
        references="<sources>/carb/references.jsonl",
        item_files=expand("<prepared>/carb/{culture}.jsonl", culture=CULTURES),
    output:
        "<prepared>/carb/steps/paraphrases.jsonl",
    log:
        "<logs>/carb_paraphrases/all.log",
    benchmark:
        "<benchmarks>/carb_paraphrases/all.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", lambda wc: GENERATORS.values(), minutes=720),
    params:
        generators={name: MODELS.loadable(entry) for name, entry in GENERATORS.items()},
        scoring=SCORING,
        cache=f"{SETTINGS.results}/work/2_prepared/carb/steps/paraphrase_replies",
        languages=CATALOG.facts("name", CULTURES),
        seed=SEED,
    script:
        "../scripts/prepare/carb_paraphrases.py"


rule carb_perturbed_items:
    # The right answer rewritten, and in all languages, or as items of the user's own bring it; who is left out is counted.
    input:
        references=branch(not CARB.item_files, then="<sources>/carb/references.jsonl"),
        cultures=branch(not CARB.item_files, then=CARB.culture_file),
        wordings=[] if CARB.item_files else sorted(map(str, Path(CARB.perturbation.wordings).glob("*.yaml"))),
        paraphrases=branch(
            bool(CARB.generators) and not CARB.item_files, then="<prepared>/carb/steps/paraphrases.jsonl"
        ),
        item_files=expand("<prepared>/carb/{culture}.jsonl", culture=CULTURES),
    output:
        rows=expand("<prepared>/{items}/{culture}.jsonl", items=PERTURBED_SETS, culture=CULTURES),
        counts="<prepared>/carb/steps/perturbed_counts.csv",
    log:
        "<logs>/carb_perturbed_items/all.log",
    benchmark:
        "<benchmarks>/carb_perturbed_items/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        cultures=CULTURES,
        sizes={
            "carb_perturbation": CARB.perturbation.items_per_cell,
            "carb_consistency": CARB.consistency.items_per_cell,
        },
        seed=SEED,
    script:
        "../scripts/prepare/carb_perturbed_items.py"


rule locals_pairs:
    # Questions about two answers: with replies by rule for the warm-up, without for GRPO, and to measure on.
    input:
        item_files=expand("<prepared>/carb_train/{culture}.jsonl", culture=LOCALS.cultures or BUILT_CULTURES),
        datasets=expand("<sources>/data/{name}.jsonl", name=LOCALS.datasets),
        easy=[f"<sources>/data/{LOCALS.easy.dataset}.jsonl"] if LOCALS.easy else [],
        cultures=CARB.culture_file,
        criteria=LOCALS.criteria,
    output:
        **{use: f"<prepared>/locals/{use}.jsonl" for use in ("warmup", "grpo", "held_out")},
    log:
        "<logs>/locals_pairs/all.log",
    benchmark:
        "<benchmarks>/locals_pairs/all.tsv"
    priority: 3  # seconds, and the longest row of trainings waits for them
    conda:
        "../../envs/sources.yaml"
    params:
        sizes={
            "warmup": LOCALS.warmup.pairs if LOCALS.warmup else 0,
            "grpo": LOCALS.grpo.pairs,
            "held_out": LOCALS.held_out,
        },
        shares=LOCALS.data_shares,
        easy_shares={use: getattr(LOCALS.easy, use, 0.0) for use in ["warmup", "grpo"]},
        quote=LOCALS.criteria_quote,
        language=LOCALS.criteria_language,
        languages=(
            [LOCALS.criteria_language] if LOCALS.criteria_language else LOCALS.cultures or BUILT_CULTURES
        ),
        domains=BUILT_DOMAINS,
        seed=seed_of("locals_pairs"),
    script:
        "../scripts/prepare/locals_pairs.py"


rule carb_questions:
    # Sets of questions, to check what CARB's scores are worth; none of them is an item.
    input:
        [f"<sources>/data/{name}.jsonl" if name in CATALOG.datasets else name for name in CARB.questions],
    output:
        "<prepared>/carb/questions.jsonl",
    log:
        "<logs>/carb_questions/all.log",
    benchmark:
        "<benchmarks>/carb_questions/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        choices={
            "cultures": CULTURES,
            "per_culture": CARB.questions_per_culture,
            "seed": SEED,
        },
    script:
        "../scripts/prepare/carb_questions.py"
