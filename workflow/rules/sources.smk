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
        asked=lambda wc: FILES.hub[wc.kind, wc.repository],
        known=lambda wc: locked(LOCK, wc.kind, *FILES.hub[wc.kind, wc.repository]),
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
    resources:
        **RESOURCES.without_model(mb=8_000, minutes=720),
    params:
        repository=lambda wc: FILES.hub["model", wc.repository][0],
    script:
        "../scripts/hub_model.py"


rule base_model:
    input:
        revision=lambda wc: FILES.revision("model", KNOWN.models[wc.base]["source"]),
    output:
        directory(PATHS.base_model("{base}")),
    log:
        PATHS.log("base_model", "{base}"),
    benchmark:
        PATHS.benchmark("base_model", "{base}")
    conda:
        "../../envs/sources.yaml"
    resources:
        **RESOURCES.of("load", lambda wc: [wc.base], on_gpu=False, mb=160_000, minutes=240),
    params:
        entry=lambda wc: {key: KNOWN.models[wc.base][key] for key in ("source", "chat_template")},
        seed=lambda wc: SCALE.job_seed("base", wc.base),
    script:
        "../scripts/base_model.py"


rule dataset:
    input:
        lambda wc: (
            sorted(str(path) for path in Path(KNOWN.datasets[wc.dataset]["path"]).glob("*.yaml"))
            if KNOWN.datasets[wc.dataset]["kind"] == "templates"
            else []
        ),
        revision=lambda wc: FILES.revision("dataset", KNOWN.datasets[wc.dataset]),
        schema=PROJECT.file("workflow/schemas/templates.schema.yaml"),
    output:
        PATHS.dataset("{dataset}"),
    log:
        PATHS.log("dataset", "{dataset}"),
    benchmark:
        PATHS.benchmark("dataset", "{dataset}")
    conda:
        "../../envs/sources.yaml"
    resources:
        **RESOURCES.without_model(mb=32_000, minutes=240),
    params:
        entry=lambda wc: SCALE.dataset(wc.dataset),
    script:
        "../scripts/dataset.py"


rule carb_references:
    # What is true of which culture: topics that people wrote, tables of the user's own, and facts out of packages.
    input:
        cultures=CARB.settings["culture_file"],
        topics=(
            sorted(str(path) for path in Path(CARB.settings["topics"]).glob("*.yaml"))
            if CARB.settings["topics"]
            else []
        ),
        tables=CARB.settings["reference_files"],
        schema=PROJECT.file("workflow/schemas/carb_topics.schema.yaml"),
    output:
        PATHS.carb_references(),
    log:
        PATHS.log("carb_references", "all"),
    benchmark:
        PATHS.benchmark("carb_references", "all")
    conda:
        "../../envs/sources.yaml"
    params:
        folder=lambda wc: CARB.settings["topics"],
        cultures=CARB.built_cultures,
        domains=CARB.built_domains,
        topics_per_domain=CARB.settings["topics_per_domain"],
        seed=config["seed"],
    script:
        "../scripts/carb_references.py"
