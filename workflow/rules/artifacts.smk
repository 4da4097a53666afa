# Stage 7: the tables, figures and notebooks that people asked for; workflow/artifacts.yaml describes each.


rule table1:
    input:
        "<analysis>/transfer.csv",
    output:
        **ARTIFACTS.table_files("table1"),
    params:
        caption=ARTIFACTS.caption("table1"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/table1.py"


rule table2:
    input:
        "<analysis>/ready_made.csv",
    output:
        **ARTIFACTS.table_files("table2"),
    params:
        caption=ARTIFACTS.caption("table2"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/table2.py"


rule language_table:
    # Tables 3-7, and 8 for a further language: every reward model on one evaluation language.
    input:
        lambda wc: f"<analysis>/languages/{ARTIFACTS.language_tables[wc.language_table]}.csv",
    output:
        **ARTIFACTS.table_files("{language_table}"),
    wildcard_constraints:
        language_table=one_of(ARTIFACTS.language_tables),
    params:
        caption=lambda wc: ARTIFACTS.caption(wc.language_table),
        rows=SCALE.language_table_rows(),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/language_table.py"


rule stacked_table:
    # Tables whose rows are made per language or benchmark, put on top of each other.
    input:
        lambda wc: PLAN.stacked[wc.table],
    output:
        **ARTIFACTS.table_files("{table}"),
    wildcard_constraints:
        table=one_of(PLAN.stacked),
    params:
        caption=lambda wc: ARTIFACTS.caption(wc.table),
    script:
        "../scripts/artifacts/stacked_table.py"


rule gate:
    # Is the instrument working? The mean of several seeds' reward models against length and against TF-IDF.
    input:
        [f"<scores>/<main>/{name}/<source>.parquet" for name in [*SCALE.gate_models, *TEXT_BASELINES]],
    output:
        **ARTIFACTS.table_files("gate"),
    params:
        models=SCALE.gate_models,
        baselines=TEXT_BASELINES,
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
        caption=ARTIFACTS.caption("gate"),
    script:
        "../scripts/artifacts/gate.py"


rule anchor:
    # Published reward models next to their printed numbers: do sections, weights, templates and heads agree?
    input:
        scores=[f"<scores>/{ANCHOR}/{name}/<source>.parquet" for name in SCALE.catalogued],
        translated=[
            f"<scores>/{ANCHOR_TRANSLATED}/{name}/{language}.parquet"
            for name in SCALE.catalogued
            for language in TARGETS
        ],
        printed=[
            PLAN.project.file(f"resources/published/transfer_{table}.csv")
            for table in ["tables3to7", "table2"]
        ],
    output:
        **{kind: PATHS.artifact(f"anchor.{kind}") for kind in ["csv", "md", "tex", "html"]},
    params:
        benchmarks=[CATALOG.benchmark(name) for name in [ANCHOR, ANCHOR_TRANSLATED]],
        source=SOURCE,
        half_credit=SCALE.half_credit,
        interval=INTERVAL,
    script:
        "../scripts/artifacts/anchor.py"


rule transfer_claims:
    # Which of the transfer paper's claims hold, by the rules of workflow/claims.yaml.
    input:
        scores=[
            f"<scores>/<main>/{name}/{language}.parquet"
            for name in [*SCALE.main_reward_models(trained_first=True), "length"]
            for language in LANGUAGES
        ],
        states=expand("<scores>/passages/{base}.safetensors", base=BASES),
        norms=expand("<analysis>/embedding_norms/{base}.csv", base=EMBEDDED),
        ks=expand("<analysis>/embedding_norms/{base}_ks.csv", base=EMBEDDED),
        judgements="<analysis>/judgements.csv",
        published=expand(
            PLAN.project.file("resources/published/transfer_{table}.csv"),
            table=["table1", "table2", "tables3to7"],
        ),
    output:
        **ARTIFACTS.table_files("transfer_claims"),
    resources:
        **RESOURCES.for_tables(mb=16_000, minutes=120),
    params:
        claims=claims_of(PLAN.claims, "transfer"),
        scripts=CATALOG.facts("script", CATALOG.languages),
        setting={
            "bases": BASES,
            "source": SOURCE,
            "targets": TARGETS,
            "figure2_models": EMBEDDED,
            "pretraining": {
                base: CATALOG.models[base]["pretraining"] for base in [*BASES, *EMBEDDED]
            },
            "seeds": SEEDS,
            "off_the_shelf": SCALE.ready_made_pretraining,
        },
        benchmark=CATALOG.benchmark(MAIN),
        half_credit=SCALE.half_credit,
        policy_trainings=ALIGNMENT.trainings,
        interval=INTERVAL,
        confidence=CONFIDENCE,
        caption=ARTIFACTS.caption("transfer_claims"),
    script:
        "../scripts/artifacts/transfer_claims.py"


rule claims:
    input:
        "<results>/transfer_claims.csv",
        "<results>/carb_claims.csv",
    output:
        **ARTIFACTS.table_files("claims"),
    params:
        confidence=CONFIDENCE,
        caption=ARTIFACTS.caption("claims"),
    script:
        "../scripts/artifacts/claims.py"


rule summary:
    # How many intervals and verdicts of the other tables say what, so that prose can quote it.
    input:
        expand(
            "<results>/{table}.csv",
            table=["table1", "baselines", "transfer_gap", "claims", "carb_leaderboard", "carb_perturbation"],
        ),
    output:
        **ARTIFACTS.table_files("summary"),
    params:
        main=MAIN,
        caption=ARTIFACTS.caption("summary"),
    script:
        "../scripts/artifacts/summary.py"


rule compare:
    # A table of ours next to the paper's printed one, cell by cell.
    input:
        ours="<results>/{printed}.csv",
        printed=lambda wc: ARTIFACTS.printed()[wc.printed],
    output:
        **ARTIFACTS.compared_files(),
    wildcard_constraints:
        printed=one_of(ARTIFACTS.printed("transfer")),
    params:
        caption=lambda wc: (
            f"{ARTIFACTS.entries[wc.printed]['number']}, ours next to the printed one, cell by cell. A base that is in the paper is compared with itself. "
            "Any other base is compared with every printed base; models, data and scale then differ."
        ),
        language=lambda wc: ARTIFACTS.entries[wc.printed].get("language"),
    script:
        "../scripts/artifacts/compare.py"


rule figure1:
    input:
        expand("<analysis>/geometry/{base}.csv", base=BASES),
    output:
        **ARTIFACTS.figure_files("figure1"),
    params:
        caption=ARTIFACTS.caption("figure1"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/figure1.py"


rule figure2:
    input:
        norms=expand("<analysis>/embedding_norms/{base}.csv", base=EMBEDDED),
        ks=expand("<analysis>/embedding_norms/{base}_ks.csv", base=EMBEDDED),
    output:
        **ARTIFACTS.figure_files("figure2"),
        ks=ARTIFACTS.shown("figure2_ks.csv", "figure2", "tests"),
    params:
        caption=ARTIFACTS.caption("figure2"),
        source=SOURCE,
        groups=CATALOG.by_script(TARGETS),
    script:
        "../scripts/artifacts/figure2.py"


rule figure3:
    input:
        win_rates="<analysis>/win_rates.csv",
        judgements="<analysis>/judgements.csv",
        judge="<analysis>/judge.csv",
    output:
        **ARTIFACTS.figure_files("figure3"),
        judge=ARTIFACTS.shown("figure3_judge.csv", "figure3", "the judge"),
    params:
        caption=ARTIFACTS.caption("figure3"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/figure3.py"


rule own_benchmark_table:
    input:
        rows=lambda wc: f"<translated>/{wc.benchmark}/{OWN[wc.benchmark].language}.jsonl",
        scores=lambda wc: [
            f"<scores>/{wc.benchmark}/{name}/{OWN[wc.benchmark].language}.parquet"
            for name in SCALE.own_benchmark_scorers(wc.benchmark)
        ],
    output:
        **ARTIFACTS.table_files("benchmark_{benchmark}"),
    wildcard_constraints:
        benchmark=one_of(OWN),
    params:
        baselines=TEXT_BASELINES,
        half_credit=SCALE.half_credit,
        confidence=INTERVAL["confidence"],
        caption=lambda wc: ARTIFACTS.caption(f"benchmark_{wc.benchmark}"),
    script:
        "../scripts/artifacts/own_benchmark_table.py"


rule executed_notebook:
    # A notebook of workflow/notebooks/ run from top to bottom on this scale's files.
    input:
        lambda wc: PLAN.notebooks[wc.notebook],
        source=PLAN.project.file("workflow/notebooks/{notebook}.py"),
    output:
        ipynb=ARTIFACTS.shown("notebooks/{notebook}.ipynb", "notebook_{notebook}", "notebook"),
        html=ARTIFACTS.shown("notebooks/{notebook}.html", "notebook_{notebook}", "notebook"),
    wildcard_constraints:
        notebook=one_of(PLAN.notebooks),
    conda:
        "../../envs/notebook.yaml"
    resources:
        **RESOURCES.for_tables(mb=16_000, minutes=60),
    params:
        settings=lambda wc: notebook_settings(SETTINGS, wc.notebook),
        caption=lambda wc: ARTIFACTS.caption(f"notebook_{wc.notebook}"),
        notebook_code=lambda wc: code_of(WORKFLOW / f"notebooks/{wc.notebook}.py"),
    script:
        "../scripts/artifacts/executed_notebook.py"


rule artifact_sums:
    # What `polyreward verify` checks all files of artifacts against; sha256sum --check reads it too.
    input:
        ARTIFACTS.targets(),
        ARTIFACTS.own_targets,
        ARTIFACTS.compared_targets(),
        rules.figure2.output.ks,
        rules.figure3.output.judge,
    output:
        "<results>/SHA256SUMS",
    script:
        "../scripts/artifacts/artifact_sums.py"
