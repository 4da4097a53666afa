# Stage 7: the tables, figures and notebooks that people asked for; what each is stands in workflow/artifacts.yaml.


rule table1:
    input:
        PATHS.analysis("transfer.csv"),
    output:
        **ARTIFACTS.table_files("table1"),
    log:
        PATHS.log("table1", "all"),
    benchmark:
        PATHS.benchmark("table1", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=ARTIFACTS.caption("table1"),
        confidence=SCALE.confidence,
    script:
        "../scripts/table1.py"


rule table2:
    input:
        PATHS.analysis("ready_made.csv"),
    output:
        **ARTIFACTS.table_files("table2"),
    log:
        PATHS.log("table2", "all"),
    benchmark:
        PATHS.benchmark("table2", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=ARTIFACTS.caption("table2"),
        confidence=SCALE.confidence,
    script:
        "../scripts/table2.py"


rule language_table:
    # Tables 3-7, and 8 for a further language: every reward model on one evaluation language.
    input:
        lambda wc: PATHS.analysis(f"languages/{ARTIFACTS.language_tables[wc.language_table]}.csv"),
    output:
        **ARTIFACTS.table_files("{language_table}"),
    log:
        PATHS.log("language_table", "{language_table}"),
    benchmark:
        PATHS.benchmark("language_table", "{language_table}")
    wildcard_constraints:
        language_table=one_of(ARTIFACTS.language_tables),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: ARTIFACTS.caption(wc.language_table),
        rows=SCALE.language_table_rows(),
        confidence=SCALE.confidence,
    script:
        "../scripts/language_table.py"


rule stacked_table:
    # Tables whose rows are made per language or benchmark, put on top of each other.
    input:
        lambda wc: STACKED[wc.table],
    output:
        **ARTIFACTS.table_files("{table}"),
    log:
        PATHS.log("stacked_table", "{table}"),
    benchmark:
        PATHS.benchmark("stacked_table", "{table}")
    wildcard_constraints:
        table=one_of(STACKED),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: ARTIFACTS.caption(wc.table),
    script:
        "../scripts/stacked_table.py"


rule gate:
    # Is the instrument working? The mean of several seeds' reward models against length and against TF-IDF.
    input:
        rows=PATHS.translated(SCALE.main, SCALE.source),
        scores=[
            PATHS.scores(SCALE.main, name, SCALE.source) for name in [*SCALE.gate_models, *TEXT_BASELINES]
        ],
    output:
        **ARTIFACTS.table_files("gate"),
    log:
        PATHS.log("gate", "all"),
    benchmark:
        PATHS.benchmark("gate", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        models=SCALE.gate_models,
        baselines=TEXT_BASELINES,
        benchmark=SCALE.benchmark_facts(SCALE.main),
        interval=SCALE.interval,
        language=SCALE.source,
        caption=ARTIFACTS.caption("gate"),
    script:
        "../scripts/gate.py"


rule transfer_claims:
    # Which of the transfer paper's claims hold, by the rules of workflow/claims.yaml.
    input:
        rows=[PATHS.translated(SCALE.main, language) for language in SCALE.languages],
        scores=[
            PATHS.scores(SCALE.main, name, language)
            for name in [*SCALE.main_reward_models(trained_first=True), "length"]
            for language in SCALE.languages
        ],
        states=[PATHS.passage_states(base) for base in SCALE.table1_bases],
        norms=[PATHS.analysis(f"embedding_norms/{base}.csv") for base in SCALE.figure2_models],
        ks=[PATHS.analysis(f"embedding_norms/{base}_ks.csv") for base in SCALE.figure2_models],
        judgements=PATHS.analysis("judgements.csv"),
        published=expand(
            PROJECT.file("resources/published/transfer_{table}.csv"),
            table=["table1", "table2", "tables3to7"],
        ),
    output:
        **ARTIFACTS.table_files("transfer_claims"),
    log:
        PATHS.log("transfer_claims", "all"),
    benchmark:
        PATHS.benchmark("transfer_claims", "all")
    conda:
        "../../envs/analyse.yaml"
    resources:
        **RESOURCES.without_model(mb=16_000, minutes=120),
    params:
        claims=claims_of(CLAIMS, "transfer"),
        scripts=SCALE.language_facts("script", KNOWN.languages),
        setting={
            "bases": SCALE.table1_bases,
            "source": SCALE.source,
            "targets": SCALE.targets,
            "figure2_models": SCALE.figure2_models,
            "pretraining": {
                base: KNOWN.models[base]["pretraining"]
                for base in [*SCALE.table1_bases, *SCALE.figure2_models]
            },
            "seeds": SCALE.seeds,
            "off_the_shelf": SCALE.ready_made_pretraining,
        },
        scorers=[*SCALE.main_reward_models(trained_first=True), "length"],
        benchmark=SCALE.benchmark_facts(SCALE.main),
        halves=SCALE.half_ties,
        interval=SCALE.interval,
        confidence=SCALE.confidence,
        caption=ARTIFACTS.caption("transfer_claims"),
    script:
        "../scripts/transfer_claims.py"


rule claims:
    input:
        PATHS.artifact("transfer_claims.csv"),
        PATHS.artifact("carb_claims.csv"),
    output:
        **ARTIFACTS.table_files("claims"),
    log:
        PATHS.log("claims", "all"),
    benchmark:
        PATHS.benchmark("claims", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        confidence=SCALE.confidence,
        caption=ARTIFACTS.caption("claims"),
    script:
        "../scripts/claims.py"


rule compare:
    # A table of ours beside the paper's printed one, cell by cell.
    input:
        ours=PATHS.artifact("{printed}.csv"),
        printed=lambda wc: ARTIFACTS.printed()[wc.printed],
    output:
        **ARTIFACTS.compared_files(),
    log:
        PATHS.log("compare", "{printed}"),
    benchmark:
        PATHS.benchmark("compare", "{printed}")
    wildcard_constraints:
        printed=one_of(ARTIFACTS.printed("transfer")),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: (
            f"{ARTIFACTS.entries[wc.printed]['number']}, ours beside the printed one. A base that the paper has stands beside itself alone; "
            "any other beside every printed one that is not here: models, data and scale then differ."
        ),
        number=lambda wc: ARTIFACTS.entries[wc.printed]["number"],
        language=lambda wc: ARTIFACTS.entries[wc.printed].get("language"),
    script:
        "../scripts/compare.py"


rule figure1:
    input:
        [PATHS.analysis(f"geometry/{base}.csv") for base in SCALE.table1_bases],
    output:
        **ARTIFACTS.figure_files("figure1"),
    log:
        PATHS.log("figure1", "all"),
    benchmark:
        PATHS.benchmark("figure1", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=ARTIFACTS.caption("figure1"),
        confidence=SCALE.confidence,
    script:
        "../scripts/figure1.py"


rule figure2:
    input:
        norms=[PATHS.analysis(f"embedding_norms/{base}.csv") for base in SCALE.figure2_models],
        ks=[PATHS.analysis(f"embedding_norms/{base}_ks.csv") for base in SCALE.figure2_models],
    output:
        **ARTIFACTS.figure_files("figure2"),
        ks=ARTIFACTS.shown("figure2_ks.csv", "figure2", "tests"),
    log:
        PATHS.log("figure2", "all"),
    benchmark:
        PATHS.benchmark("figure2", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=ARTIFACTS.caption("figure2"),
        source=SCALE.source,
        groups=SCALE.by_script(SCALE.targets),
    script:
        "../scripts/figure2.py"


rule figure3:
    input:
        win_rates=PATHS.analysis("win_rates.csv"),
        judgements=PATHS.analysis("judgements.csv"),
    output:
        **ARTIFACTS.figure_files("figure3"),
    log:
        PATHS.log("figure3", "all"),
    benchmark:
        PATHS.benchmark("figure3", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=ARTIFACTS.caption("figure3"),
        confidence=SCALE.confidence,
    script:
        "../scripts/figure3.py"


rule own_benchmark_table:
    input:
        rows=lambda wc: PATHS.translated(wc.own, SCALE.own_benchmarks[wc.own]["language"]),
        scores=lambda wc: [
            PATHS.scores(wc.own, name, SCALE.own_benchmarks[wc.own]["language"])
            for name in SCALE.own_benchmark_scorers(wc.own)
        ],
    output:
        **ARTIFACTS.table_files("benchmark_{own}"),
    log:
        PATHS.log("own_benchmark_table", "{own}"),
    benchmark:
        PATHS.benchmark("own_benchmark_table", "{own}")
    conda:
        "../../envs/analyse.yaml"
    params:
        scorers=lambda wc: SCALE.own_benchmark_scorers(wc.own),
        baselines=TEXT_BASELINES,
        halves=SCALE.half_ties,
        confidence=config["intervals"]["confidence"],
        caption=lambda wc: ARTIFACTS.caption(f"benchmark_{wc.own}"),
    script:
        "../scripts/own_benchmark_table.py"


NOTEBOOK_CODE = {name: LIBRARY.code(WORKFLOW / f"notebooks/{name}.py") for name in NOTEBOOKS}


rule executed_notebook:
    # A notebook of workflow/notebooks/ run from top to bottom on this scale's files.
    input:
        lambda wc: NOTEBOOKS[wc.notebook],
        source=PROJECT.file("workflow/notebooks/{notebook}.py"),
    output:
        ipynb=ARTIFACTS.shown("notebooks/{notebook}.ipynb", "notebook_{notebook}", "notebook"),
        html=ARTIFACTS.shown("notebooks/{notebook}.html", "notebook_{notebook}", "notebook"),
    log:
        PATHS.log("executed_notebook", "{notebook}"),
    benchmark:
        PATHS.benchmark("executed_notebook", "{notebook}")
    wildcard_constraints:
        notebook=one_of(NOTEBOOKS),
    conda:
        "../../envs/notebook.yaml"
    resources:
        **RESOURCES.without_model(mb=16_000, minutes=60),
    params:
        settings=lambda wc: notebook_settings(config, wc.notebook),
        caption=lambda wc: ARTIFACTS.caption(f"notebook_{wc.notebook}"),
        notebook_code=lambda wc: NOTEBOOK_CODE[wc.notebook],
    script:
        "../scripts/executed_notebook.py"


rule artifact_sums:
    # What `polyreward verify` checks all files of artifacts against; sha256sum --check reads it too.
    input:
        ARTIFACTS.targets(),
        ARTIFACTS.own_targets,
        ARTIFACTS.compared_targets(),
        rules.figure2.output.ks,
    output:
        PATHS.artifact("SHA256SUMS"),
    log:
        PATHS.log("artifact_sums", "all"),
    benchmark:
        PATHS.benchmark("artifact_sums", "all")
    conda:
        "../../envs/plot.yaml"
    script:
        "../scripts/artifact_sums.py"
