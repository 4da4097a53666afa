# Stage 1: pretrained models and raw data, from where the catalog says.


rule hub_revision:
    # A moving revision of a hub repository is resolved once; all jobs of the scale then take the same commit.
    output:
        "<sources>/revisions/{kind}/{repository}.yaml",
    wildcard_constraints:
        kind="model|dataset",
    params:
        asked=lambda wc: FILES.hub[wc.kind, wc.repository],
        known=lambda wc: locked(PLAN.revisions, wc.kind, *FILES.hub[wc.kind, wc.repository]),
        may_be_missing=lambda wc, output: SETTINGS.missing == "row",
    script:
        "../scripts/sources/hub_revision.py"


rule hub_model:
    # A reward model of the hub, fetched where there is a network, so that the jobs that score need none.
    input:
        "<sources>/revisions/model/{repository}.yaml",
    output:
        directory("<sources>/hub/{repository}"),
    resources:
        **RESOURCES.for_tables(mb=8_000, minutes=720),
    params:
        repository=lambda wc: FILES.hub["model", wc.repository][0],
        may_be_missing=lambda wc, output: SETTINGS.missing == "row",
    script:
        "../scripts/sources/hub_model.py"


rule base_model:
    input:
        revision=lambda wc: FILES.revision("model", KNOWN.models[wc.base]["source"]),
    output:
        directory("<sources>/models/{base}"),
    resources:
        **RESOURCES.for_models("load", "{base}", on_gpu=False, minutes=240),
    params:
        entry=lambda wc: {key: KNOWN.models[wc.base][key] for key in ("source", "chat_template")},
        seed=lambda wc: SCALE.job_seed("base", wc.base),
    script:
        "../scripts/sources/base_model.py"


rule dataset:
    input:
        lambda wc: (
            sorted(str(path) for path in Path(KNOWN.datasets[wc.dataset]["path"]).glob("*.yaml"))
            if KNOWN.datasets[wc.dataset]["kind"] == "templates"
            else []
        ),
        revision=lambda wc: FILES.revision("dataset", KNOWN.datasets[wc.dataset]),
        schema=PLAN.project.file("workflow/schemas/templates.schema.yaml"),
    output:
        "<sources>/data/{dataset}.jsonl",
    resources:
        **RESOURCES.for_tables(mb=32_000, minutes=240),
    params:
        entry=lambda wc: SCALE.dataset(wc.dataset),
    script:
        "../scripts/sources/dataset.py"


rule judge_question:
    # Only where judge_wordings asks for the published words; else judges are asked in ours.
    output:
        "<sources>/judge_questions/{question}.yaml",
    wildcard_constraints:
        question=one_of(KNOWN.judge_wordings),
    params:
        wording=lambda wc: KNOWN.judge_wordings[wc.question],
    script:
        "../scripts/sources/judge_question.py"


rule carb_references:
    # What is true of which culture: topics that language models wrote, and facts from packages.
    input:
        cultures=SETTINGS.carb.culture_file,
        topics=sorted(str(path) for path in Path(SETTINGS.carb.topics).glob("*.yaml")),
        schema=PLAN.project.file("workflow/schemas/carb_topics.schema.yaml"),
    output:
        "<sources>/carb/references.jsonl",
    params:
        folder=lambda wc: SETTINGS.carb.topics,
        cultures=CARB.built_cultures,
        domains=CARB.built_domains,
        topics_per_domain=SETTINGS.carb.topics_per_domain,
        seed=SETTINGS.seed,
    script:
        "../scripts/sources/carb_references.py"
