# Stage 1: pretrained models and raw data, from where the catalog says.


rule scorers:
    # The sheet: what each scorer is, and which tables read its scores. Scripts that need it merge on `scorer`.
    output:
        "<results>/work/scorers.csv",
    log:
        "<logs>/scorers/all.log",
    benchmark:
        "<benchmarks>/scorers/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        sheet=printed(PLAN.sheet).to_dict("list"),
    script:
        "../scripts/sources/scorers.py"


rule hub_revision:
    # A moving revision of a hub repository is resolved once; all jobs of the scale then take the same commit.
    output:
        "<sources>/revisions/{kind}/{repository}.yaml",
    log:
        "<logs>/hub_revision/{kind}_{repository}.log",
    benchmark:
        "<benchmarks>/hub_revision/{kind}_{repository}.tsv"
    wildcard_constraints:
        kind="model|dataset",
    conda:
        "../../envs/sources.yaml"
    params:
        asked=lambda wc: MODELS.hub[wc.kind, wc.repository],
        known=lambda wc: PLAN.project.locked(wc.kind, *MODELS.hub[wc.kind, wc.repository]),
        may_be_missing=lambda wc, output: MISSING,
    script:
        "../scripts/sources/hub_revision.py"


rule hub_model:
    # A reward model of the hub, fetched where there is a network, so that the jobs that score need none.
    input:
        "<sources>/revisions/model/{repository}.yaml",
    output:
        directory("<sources>/hub/{repository}"),
    log:
        "<logs>/hub_model/{repository}.log",
    benchmark:
        "<benchmarks>/hub_model/{repository}.tsv"
    conda:
        "../../envs/sources.yaml"
    resources:
        **for_tables(mb=8_000, minutes=720),
    params:
        repository=lambda wc: MODELS.hub["model", wc.repository][0],
        may_be_missing=lambda wc, output: MISSING,
    script:
        "../scripts/sources/hub_model.py"


rule base_model:
    input:
        revision=lambda wc: MODELS.revision("model", CATALOG.models[wc.base]["source"]),
    output:
        directory("<sources>/models/{base}"),
    log:
        "<logs>/base_model/{base}.log",
    benchmark:
        "<benchmarks>/base_model/{base}.tsv"
    conda:
        "../../envs/sources.yaml"
    resources:
        **for_models("load", "{base}", on_gpu=False, minutes=240),
    params:
        entry=lambda wc: {key: CATALOG.models[wc.base][key] for key in ("source", "chat_template")},
        seed=lambda wc: seed_of("base", wc.base),
    script:
        "../scripts/sources/base_model.py"


rule dataset:
    input:
        lambda wc: (
            sorted(str(path) for path in Path(CATALOG.datasets[wc.dataset]["path"]).glob("*.yaml"))
            if CATALOG.datasets[wc.dataset]["kind"] == "templates"
            else []
        ),
        revision=lambda wc: MODELS.revision("dataset", CATALOG.datasets[wc.dataset]),
        schema=FILE("workflow/schemas/templates.schema.yaml"),
    output:
        "<sources>/data/{dataset}.jsonl",
    log:
        "<logs>/dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/dataset/{dataset}.tsv"
    conda:
        "../../envs/sources.yaml"
    resources:
        **for_tables(mb=32_000, minutes=240),
    params:
        entry=lambda wc: dataset_entry(SETTINGS, CATALOG, wc.dataset),
    script:
        "../scripts/sources/dataset.py"


rule worked_solutions:
    # Problems with worked solutions out of a package, for benchmarks that name such a dataset.
    output:
        "<sources>/worked_solutions/{dataset}.jsonl",
    log:
        "<logs>/worked_solutions/{dataset}.log",
    benchmark:
        "<benchmarks>/worked_solutions/{dataset}.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        entry=lambda wc: CATALOG.datasets[wc.dataset],
    script:
        "../scripts/sources/worked_solutions.py"


rule judge_question:
    # Only where judge_wordings asks for the published words; else judges are asked in ours.
    output:
        "<sources>/judge_questions/{question}.yaml",
    log:
        "<logs>/judge_question/{question}.log",
    benchmark:
        "<benchmarks>/judge_question/{question}.tsv"
    wildcard_constraints:
        question=one_of(CATALOG.judge_wordings),
    conda:
        "../../envs/sources.yaml"
    params:
        wording=lambda wc: CATALOG.judge_wordings[wc.question],
    script:
        "../scripts/sources/judge_question.py"


rule carb_references:
    # What is true of which culture: topics that language models wrote, and facts from packages.
    input:
        cultures=CARB.culture_file,
        topics=sorted(str(path) for path in Path(CARB.topics).glob("*.yaml")),
        schema=FILE("workflow/schemas/carb_topics.schema.yaml"),
    output:
        "<sources>/carb/references.jsonl",
    log:
        "<logs>/carb_references/all.log",
    benchmark:
        "<benchmarks>/carb_references/all.tsv"
    conda:
        "../../envs/sources.yaml"
    params:
        folder=lambda wc: CARB.topics,
        cultures=BUILT_CULTURES,
        domains=BUILT_DOMAINS,
        topics_per_domain=CARB.topics_per_domain,
        seed=SEED,
    script:
        "../scripts/sources/carb_references.py"
