# Stage 7: the tables, figures and notebooks that people asked for; workflow/artifacts.yaml describes each.

# The files that a table is stacked from, one on top of the other.
CELLS = [f"{benchmark}_{language}" for benchmark in BENCHMARKS for language in LANGUAGES]
STACKED = {
    "data_sources": [f"<prepared>/{rowset}_counts.csv" for rowset in ["train", *BENCHMARKS]],
    "baselines": expand("<analysis>/scorers/{cell}.csv", cell=CELLS),
    "subsets": expand("<analysis>/subsets/{cell}.csv", cell=CELLS),
    "kinds": expand("<analysis>/kinds/{cell}.csv", cell=CELLS),
    "twins": expand("<analysis>/twins/{language}.csv", language=LANGUAGES),
    "transfer_gap": ["<analysis>/transfer_gap.csv"],
    "training_added": ["<analysis>/training_added.csv"],
    "seed_differences": ["<analysis>/seed_differences.csv"],
    "translation_quality": ["<analysis>/translation_quality.csv"],
    "carb_construction": ["<prepared>/carb/steps/counts.csv"],
}

# What notebooks read, and the parts of the settings that they may know.
NOTEBOOKS = {
    "transfer": [
        "workflow/catalog/benchmarks.yaml",
        "<results>/work/scorers.csv",
        *expand(
            "<results>/{name}.csv",
            name=["table1", "figure1", "figure2", "figure2_ks", "figure3", "figure3_judge"],
        ),
        *expand("<translated>/<main>/{language}.jsonl", language=TARGETS),
        *collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'table1'", within=SCORES),
        ),
    ],
    "carb": [
        "<results>/work/scorers.csv",
        *expand(
            "<results>/carb_{name}.csv",
            name=["leaderboard", "correlation", "figure1", "figure2", "figure3", "figure5"],
        ),
        *expand("<prepared>/carb/{culture}.jsonl", culture=CULTURES),
        *collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_leaderboard'", within=SCORES),
        ),
    ],
}
NOTEBOOK_KEYS = {
    "transfer": ["bases", "source_language", "target_languages", "benchmarks", "reward_model_seeds"],
    "carb": ["carb"],
}


rule table1:
    input:
        "<analysis>/transfer.csv",
    output:
        **table_files("table1"),
    log:
        "<logs>/table1/all.log",
    benchmark:
        "<benchmarks>/table1/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("table1"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/table1.py"


rule table2:
    input:
        "<analysis>/ready_made.csv",
    output:
        **table_files("table2"),
    log:
        "<logs>/table2/all.log",
    benchmark:
        "<benchmarks>/table2/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("table2"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/table2.py"


rule language_table:
    # Tables 3-7, and 8 for a further language: every reward model on one evaluation language.
    input:
        table=lambda wc: f"<analysis>/languages/{ARTIFACTS.language_tables[wc.language_table]}.csv",
        sheet="<results>/work/scorers.csv",
    output:
        **table_files("{language_table}"),
    log:
        "<logs>/language_table/{language_table}.log",
    benchmark:
        "<benchmarks>/language_table/{language_table}.tsv"
    wildcard_constraints:
        language_table=one_of(ARTIFACTS.language_tables),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: caption(wc.language_table),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/language_table.py"


rule stacked_table:
    # Tables whose rows are made per language or benchmark, put on top of each other.
    input:
        lambda wc: STACKED[wc.table],
    output:
        **table_files("{table}"),
    log:
        "<logs>/stacked_table/{table}.log",
    benchmark:
        "<benchmarks>/stacked_table/{table}.tsv"
    wildcard_constraints:
        table=one_of(STACKED),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: caption(wc.table),
    script:
        "../scripts/artifacts/stacked_table.py"


rule gate:
    # Is the instrument working? The mean of several seeds' reward models against length and against TF-IDF.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'gate'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        **table_files("gate"),
    log:
        "<logs>/gate/all.log",
    benchmark:
        "<benchmarks>/gate/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
        caption=caption("gate"),
    script:
        "../scripts/artifacts/gate.py"


rule anchor:
    # Published reward models next to their printed numbers: do sections, weights, templates and heads agree?
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'anchor'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
        printed=[FILE(f"workflow/papers/transfer/printed/{table}.csv") for table in ["tables3to7", "table2"]],
    output:
        **{kind: f"<results>/anchor.{kind}" for kind in ["csv", "md", "tex", "html"]},
    log:
        "<logs>/anchor/all.log",
    benchmark:
        "<benchmarks>/anchor/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        benchmarks=[CATALOG.benchmark(name) for name in ANCHORS],
        source=SOURCE,
        interval=INTERVAL,
    script:
        "../scripts/artifacts/anchor.py"


rule transfer_claims:
    # Which of the transfer paper's claims hold, by the rules of workflow/papers/transfer/claims.yaml.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'transfer_claims'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
        states=expand("<scores>/passages/{base}.safetensors", base=BASES),
        norms=expand("<analysis>/embedding_norms/{base}.csv", base=EMBEDDED),
        ks=expand("<analysis>/embedding_norms/{base}_ks.csv", base=EMBEDDED),
        judgements="<analysis>/judgements.csv",
        published=expand(
            FILE("workflow/papers/transfer/printed/{table}.csv"),
            table=["table1", "table2", "tables3to7"],
        ),
    output:
        **table_files("transfer_claims"),
    log:
        "<logs>/transfer_claims/all.log",
    benchmark:
        "<benchmarks>/transfer_claims/all.tsv"
    conda:
        "../../envs/plot.yaml"
    resources:
        **for_tables(mb=16_000, minutes=120),
    params:
        claims=PAPERS["transfer"].claims,
        paper=PAPERS["transfer"].facts,
        shorts=SHORTS,
        scripts=CATALOG.facts("script", CATALOG.languages),
        setting={
            "bases": BASES,
            "all_bases": SETTINGS.bases,
            "source": SOURCE,
            "targets": TARGETS,
            "figure2_models": EMBEDDED,
            "pretraining": {base: CATALOG.models[base]["pretraining"] for base in [*BASES, *EMBEDDED]},
            "seeds": SEEDS,
            "off_the_shelf": {
                name: (
                    CATALOG.models[SHEET.entry[name]["model"]]["pretraining"]
                    if "model" in SHEET.entry[name]
                    else "unknown"
                )
                for name in READY_MADE
                if name in set(SCORES.scorer[SCORES.table == "table2"])
            },
        },
        benchmark=CATALOG.benchmark(MAIN),
        policy_trainings=ALIGNMENT.trainings,
        interval=INTERVAL,
        confidence=CONFIDENCE,
        caption=caption("transfer_claims"),
    script:
        "../scripts/artifacts/transfer_claims.py"


rule printed:
    # What the papers' printed tables say by themselves: no model, no scores.
    input:
        [
            FILE(f"workflow/papers/{name}/printed/{table}.csv")
            for name, facts in CHECKED.items()
            for table in checked_tables(facts)
        ],
    output:
        **table_files("printed"),
    log:
        "<logs>/printed/all.log",
    benchmark:
        "<benchmarks>/printed/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        papers=CHECKED,
        benchmark=CATALOG.benchmark(ANCHORS[0]),
        level=INTERVAL["confidence"],
        confidence=CONFIDENCE,
        caption=caption("printed"),
    script:
        "../scripts/artifacts/printed.py"


rule printed_leads:
    input:
        "<results>/printed.csv",
    output:
        **figure_files("printed_leads"),
    log:
        "<logs>/printed_leads/all.log",
    benchmark:
        "<benchmarks>/printed_leads/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        confidence=CONFIDENCE,
        caption=caption("printed_leads"),
    script:
        "../scripts/artifacts/printed_leads.py"


rule claims:
    input:
        "<results>/transfer_claims.csv",
        "<results>/carb_claims.csv",
    output:
        **table_files("claims"),
    log:
        "<logs>/claims/all.log",
    benchmark:
        "<benchmarks>/claims/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        confidence=CONFIDENCE,
        shorts=SHORTS,
        caption=caption("claims"),
    script:
        "../scripts/artifacts/claims.py"


rule compare:
    # A table of ours next to the paper's printed one, cell by cell.
    input:
        ours="<results>/{printed}.csv",
        printed=lambda wc: ARTIFACTS.printed()[wc.printed],
    output:
        **ARTIFACTS.compared_files(),
    log:
        "<logs>/compare/{printed}.log",
    benchmark:
        "<benchmarks>/compare/{printed}.tsv"
    wildcard_constraints:
        printed=one_of(ARTIFACTS.printed("transfer")),
    conda:
        "../../envs/plot.yaml"
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
        **figure_files("figure1"),
    log:
        "<logs>/figure1/all.log",
    benchmark:
        "<benchmarks>/figure1/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("figure1"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/figure1.py"


rule figure2:
    input:
        norms=expand("<analysis>/embedding_norms/{base}.csv", base=EMBEDDED),
        ks=expand("<analysis>/embedding_norms/{base}_ks.csv", base=EMBEDDED),
    output:
        **figure_files("figure2"),
        ks=ARTIFACTS.shown("figure2_ks.csv", "figure2", "tests"),
    log:
        "<logs>/figure2/all.log",
    benchmark:
        "<benchmarks>/figure2/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("figure2"),
        source=SOURCE,
        groups=CATALOG.by_script(TARGETS),
    script:
        "../scripts/artifacts/figure2.py"


rule figure3:
    input:
        win_rates="<analysis>/win_rates.csv",
        judgements="<analysis>/judgements.csv",
        judge="<analysis>/judge.csv",
        agreement="<analysis>/label_agreement.csv",
    output:
        **figure_files("figure3"),
        judge=ARTIFACTS.shown("figure3_judge.csv", "figure3", "the judge"),
        agreement=ARTIFACTS.shown("figure3_labels.csv", "figure3", "whose labels the judge shares"),
    log:
        "<logs>/figure3/all.log",
    benchmark:
        "<benchmarks>/figure3/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("figure3"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/figure3.py"


rule own_benchmark_table:
    input:
        rows=lambda wc: f"<translated>/{wc.benchmark}/{OWN[wc.benchmark].language}.jsonl",
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'benchmark_{benchmark}'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        **table_files("benchmark_{benchmark}"),
    log:
        "<logs>/own_benchmark_table/{benchmark}.log",
    benchmark:
        "<benchmarks>/own_benchmark_table/{benchmark}.tsv"
    wildcard_constraints:
        benchmark=one_of(OWN),
    conda:
        "../../envs/plot.yaml"
    params:
        confidence=INTERVAL["confidence"],
        caption=lambda wc: caption(f"benchmark_{wc.benchmark}"),
    script:
        "../scripts/artifacts/own_benchmark_table.py"


rule executed_notebook:
    # A notebook of workflow/notebooks/ run from top to bottom on this scale's files.
    input:
        lambda wc: NOTEBOOKS[wc.notebook],
        source=FILE("workflow/notebooks/{notebook}.py"),
    output:
        ipynb=ARTIFACTS.shown("notebooks/{notebook}.ipynb", "notebook_{notebook}", "notebook"),
        html=ARTIFACTS.shown("notebooks/{notebook}.html", "notebook_{notebook}", "notebook"),
    log:
        "<logs>/executed_notebook/{notebook}.log",
    benchmark:
        "<benchmarks>/executed_notebook/{notebook}.tsv"
    wildcard_constraints:
        notebook=one_of(NOTEBOOKS),
    conda:
        "../../envs/notebook.yaml"
    resources:
        **for_tables(mb=16_000, minutes=60),
    params:
        settings=lambda wc: SETTINGS.model_dump(
            include={"results", "seed", "intervals", *NOTEBOOK_KEYS[wc.notebook]}
        ),
        caption=lambda wc: caption(f"notebook_{wc.notebook}"),
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
    log:
        "<logs>/artifact_sums/all.log",
    benchmark:
        "<benchmarks>/artifact_sums/all.tsv"
    conda:
        "../../envs/plot.yaml"
    script:
        "../scripts/artifacts/artifact_sums.py"
