# Stage 1: pretrained models and raw data, from where the catalog says.


rule hub_revision:
    # A moving revision of a hub repository is resolved once; all jobs of the scale then take the same commit.
    output:
        PATHS.revision("{kind}", "{repository}"),
    log:
        PATHS.log("hub_revision", "{kind}_{repository}"),
    benchmark:
        PATHS.benchmark("hub_revision", "{kind}_{repository}")
    wildcard_constraints:
        kind="model|dataset",
    conda:
        "../../envs/sources.yaml"
    params:
        asked=lambda wc: HUB[wc.kind, wc.repository],
        known=lambda wc: locked(LOCK, wc.kind, *HUB[wc.kind, wc.repository]),
        code=code("revisions"),
    script:
        "../scripts/hub_revision.py"


rule hub_model:
    # A reward model of the hub, fetched where there is a network, so that the jobs that score need none.
    input:
        PATHS.revision("model", "{repository}"),
    output:
        directory(PATHS.hub_model("{repository}")),
    log:
        PATHS.log("hub_model", "{repository}"),
    benchmark:
        PATHS.benchmark("hub_model", "{repository}")
    conda:
        "../../envs/sources.yaml"
    params:
        repository=lambda wc: HUB["model", wc.repository][0],
        code=code("hub", "revisions"),
    script:
        "../scripts/hub_model.py"


rule base_model:
    input:
        revision=lambda wc: hub_revision("model", MODELS[wc.base]["source"]),
        # An untrained model's tokenizer is trained on the texts at hand; any other model needs none.
        corpus=lambda wc: [PATHS.prepared("train")] if MODELS[wc.base]["source"]["kind"] == "random" else [],
    output:
        directory(PATHS.base_model("{base}")),
    log:
        PATHS.log("base_model", "{base}"),
    benchmark:
        PATHS.benchmark("base_model", "{base}")
    conda:
        "../../envs/sources.yaml"
    resources:
        **holding("load", lambda wc: [wc.base], devices=False),
    params:
        entry=lambda wc: {key: MODELS[wc.base][key] for key in ("source", "chat_template")},
        seed=lambda wc: job_seed(SEED, "base", wc.base),
        code=code("sources", "revisions"),
    script:
        "../scripts/base_model.py"


rule dataset:
    input:
        lambda wc: (
            sorted(str(path) for path in Path(DATASETS[wc.dataset]["path"]).glob("*.yaml"))
            if DATASETS[wc.dataset]["kind"] == "templates"
            else []
        ),
        revision=lambda wc: hub_revision("dataset", DATASETS[wc.dataset]),
        schema="workflow/schemas/templates.schema.yaml",
    output:
        PATHS.dataset("{dataset}"),
    log:
        PATHS.log("dataset", "{dataset}"),
    benchmark:
        PATHS.benchmark("dataset", "{dataset}")
    conda:
        "../../envs/sources.yaml"
    params:
        entry=lambda wc: DATASETS[wc.dataset],
        code=code("sources", "revisions"),
    script:
        "../scripts/dataset.py"


rule carb_references:
    # What is true of which culture: topics that people wrote, tables of the user's own, and facts out of packages.
    input:
        cultures=CARB["culture_file"],
        topics=sorted(str(path) for path in Path(CARB["topics"]).glob("*.yaml")) if CARB["topics"] else [],
        tables=CARB["reference_files"],
        schema="workflow/schemas/carb_topics.schema.yaml",
    output:
        PATHS.carb_references(),
    log:
        PATHS.log("carb_references", "all"),
    benchmark:
        PATHS.benchmark("carb_references", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        folder=lambda wc: CARB["topics"],
        cultures=CARB["cultures"],
        domains=CARB["domains"],
        topics_per_domain=CARB["topics_per_domain"],
        seed=SEED,
        code=code("carb.construct", "carb.references", "draws", "files"),
    script:
        "../scripts/carb_references.py"
