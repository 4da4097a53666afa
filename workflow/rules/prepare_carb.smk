# Stage 2 of the CARB paper: from references to items, and to what judges are trained on.


rule carb_possible_items:
    # A prompt to each culture, its own answer, and every answer that is right for other cultures only.
    input:
        references="<sources>/carb/references.jsonl",
        cultures=SETTINGS.carb.culture_file,
    output:
        "<prepared>/carb/steps/possible_items.jsonl",
    params:
        cultures=CARB.built_cultures,
    script:
        "../scripts/prepare/carb_possible_items.py"


rule carb_completions:
    # Only where carb.generators names some; else the references are the answers.
    input:
        models=[folder for entry in CARB.generators.values() for folder in FILES.folders(entry)],
        possible="<prepared>/carb/steps/possible_items.jsonl",
    output:
        "<prepared>/carb/steps/completions.jsonl",
    conda:
        "../../envs/score.yaml"
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", lambda wc: CARB.generators.values(), minutes=720),
    params:
        generators={name: FILES.loadable(entry) for name, entry in CARB.generators.items()},
        scoring=SCALE.scoring,
        cache=PATHS.carb_step("replies"),
        languages=SCALE.language_facts("name", CARB.built_cultures),
        seed=SETTINGS.seed,
    script:
        "../scripts/prepare/carb_completions.py"


rule carb_similarities:
    input:
        model=SCALE.base_folder(SETTINGS.carb.embedding.model),
        possible=CARB.answers,
    output:
        "<prepared>/carb/steps/similarities.parquet",
    conda:
        "../../envs/score.yaml"
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", SETTINGS.carb.embedding.model, minutes=240),
    params:
        embedding={
            "source": SCALE.base_folder(SETTINGS.carb.embedding.model),
            "dtype": SETTINGS.precision,
            "layers": SETTINGS.carb.embedding.layers,
            "max_length": SETTINGS.carb.embedding.max_length,
        },
        token_budget=SETTINGS.scoring.token_budget,
    script:
        "../scripts/prepare/carb_similarities.py"


rule carb_items:
    # Four answers to each prompt, and what each filter removed; or the items of carb.item_files, where it names some.
    input:
        **CARB.item_sources,
    output:
        **{culture: f"<prepared>/carb/{culture}.jsonl" for culture in CULTURES},
        counts="<prepared>/carb/steps/counts.csv",
    params:
        expected={
            "names": SCALE.language_facts("name", CULTURES),
            "scripts": SCALE.language_facts("script", CULTURES),
            "domains": DOMAINS,
        },
        draw={"items_per_cell": SETTINGS.carb.items_per_cell, "seed": SETTINGS.seed},
    script:
        "../scripts/prepare/carb_items.py"


rule carb_training_items:
    # The same of the topics that are held out from the benchmark, to train judges on.
    input:
        references="<sources>/carb/references.jsonl",
        possible=CARB.answers,
        similarities="<prepared>/carb/steps/similarities.parquet",
    output:
        **CARB.training_items,
    priority: 3  # seconds, and the longest row of trainings waits for them
    params:
        scripts=SCALE.language_facts("script", CARB.built_cultures),
        seed=SETTINGS.seed,
    script:
        "../scripts/prepare/carb_training_items.py"


rule carb_paraphrases:
    # Only where carb.generators names some; else the right answers' second wordings come from rules and from this project's wordings.
    input:
        models=[folder for entry in CARB.generators.values() for folder in FILES.folders(entry)],
        references="<sources>/carb/references.jsonl",
        item_files=CARB.item_files,
    output:
        "<prepared>/carb/steps/paraphrases.jsonl",
    conda:
        "../../envs/score.yaml"
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score", lambda wc: CARB.generators.values(), minutes=720),
    params:
        generators={name: FILES.loadable(entry) for name, entry in CARB.generators.items()},
        scoring=SCALE.scoring,
        cache=PATHS.carb_step("paraphrase_replies"),
        languages=SCALE.language_facts("name", CULTURES),
        seed=SETTINGS.seed,
    script:
        "../scripts/prepare/carb_paraphrases.py"


rule carb_perturbed_items:
    # The right answer rewritten, and in all languages, or as items of the user's own bring it; who is left out is counted.
    input:
        **CARB.rewrite_sources,
        item_files=CARB.item_files,
    output:
        rows=CARB.perturbed_files(*PERTURBED_SETS),
        counts="<prepared>/carb/steps/perturbed_counts.csv",
    params:
        cultures=CULTURES,
        sizes={
            "carb_perturbation": SETTINGS.carb.perturbation.items_per_cell,
            "carb_consistency": SETTINGS.carb.consistency.items_per_cell,
        },
        seed=SETTINGS.seed,
    script:
        "../scripts/prepare/carb_perturbed_items.py"


rule locals_pairs:
    # Questions about two answers: with replies by rule for the warm-up, without for GRPO, and to measure on.
    input:
        item_files=JUDGES.training_items,
        datasets=expand("<sources>/data/{name}.jsonl", name=JUDGES.settings.datasets),
        easy=JUDGES.easy_files,
        cultures=SETTINGS.carb.culture_file,
        criteria=JUDGES.settings.criteria,
    output:
        **{use: f"<prepared>/locals/{use}.jsonl" for use in ("warmup", "grpo", "held_out")},
    priority: 3  # seconds, and the longest row of trainings waits for them
    params:
        sizes=JUDGES.pairs,
        shares=JUDGES.settings.data_shares,
        easy_shares=JUDGES.easy_shares,
        quote=JUDGES.settings.criteria_quote,
        language=JUDGES.settings.criteria_language,
        languages=JUDGES.criteria_languages,
        domains=CARB.built_domains,
        seed=SCALE.job_seed("locals_pairs"),
    script:
        "../scripts/prepare/locals_pairs.py"


rule carb_questions:
    # Sets of questions, to check what CARB's scores are worth; none of them is an item.
    input:
        [
            f"<sources>/data/{name}.jsonl" if name in KNOWN.datasets else name
            for name in SETTINGS.carb.questions
        ],
    output:
        "<prepared>/carb/questions.jsonl",
    params:
        choices={
            "cultures": CULTURES,
            "per_culture": SETTINGS.carb.questions_per_culture,
            "seed": SETTINGS.seed,
        },
    script:
        "../scripts/prepare/carb_questions.py"
