# Stage 7: the tables, figures and notebooks that people asked for; what each is stands in workflow/artifacts.yaml.


rule table1:
    input:
        PATHS.analysis("transfer.csv"),
    output:
        **table_files("table1"),
    log:
        PATHS.log("table1", "all"),
    benchmark:
        PATHS.benchmark("table1", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("table1"),
        confidence=CONFIDENCE,
        code=code("table1", "renderings", "reports"),
    script:
        "../scripts/table1.py"


rule table2:
    input:
        PATHS.analysis("off_the_shelf.csv"),
    output:
        **table_files("table2"),
    log:
        PATHS.log("table2", "all"),
    benchmark:
        PATHS.benchmark("table2", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("table2"),
        confidence=CONFIDENCE,
        code=code("table1", "renderings", "reports"),
    script:
        "../scripts/table2.py"


rule language_table:
    # Tables 3-7: every reward model on one evaluation language.
    input:
        lambda wc: PATHS.analysis(f"languages/{LANGUAGE_TABLES[wc.language_table]}.csv"),
    output:
        **table_files("{language_table}"),
    log:
        PATHS.log("language_table", "{language_table}"),
    benchmark:
        PATHS.benchmark("language_table", "{language_table}")
    wildcard_constraints:
        language_table=one_of(LANGUAGE_TABLES),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: caption(wc.language_table),
        confidence=CONFIDENCE,
        code=code("table1", "renderings", "reports"),
    script:
        "../scripts/language_table.py"


rule stacked_table:
    # Tables whose rows are made per language or benchmark, put on top of each other.
    input:
        lambda wc: STACKED[wc.table],
    output:
        **table_files("{table}"),
    log:
        PATHS.log("stacked_table", "{table}"),
    benchmark:
        PATHS.benchmark("stacked_table", "{table}")
    wildcard_constraints:
        table=one_of(STACKED),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: caption(wc.table),
        code=code("renderings"),
    script:
        "../scripts/stacked_table.py"


rule gate:
    # Is the instrument working? The mean of several seeds' reward models against length and against TF-IDF.
    input:
        rows=PATHS.translated(MAIN, SOURCE),
        scores=[PATHS.scores(MAIN, name, SOURCE) for name in [*gate_models(), *baseline_scorers()[:3]]],
    output:
        **table_files("gate"),
    log:
        PATHS.log("gate", "all"),
    benchmark:
        PATHS.benchmark("gate", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        models=gate_models(),
        baselines=baseline_scorers()[:3],
        benchmark=benchmark_facts(MAIN),
        interval=interval_settings(),
        language=SOURCE,
        caption=caption("gate"),
        code=code("reports", "renderings"),
    script:
        "../scripts/gate.py"


rule transfer_claims:
    # Which of the transfer paper's claims hold, by the rules of workflow/claims.yaml.
    input:
        rows=[PATHS.translated(MAIN, language) for language in LANGUAGES],
        scores=[PATHS.scores(MAIN, name, language) for name in claim_scorers() for language in LANGUAGES],
        states=[PATHS.passage_states(base) for base in BASES],
        norms=[PATHS.analysis(f"embedding_norms/{base}.csv") for base in FIGURE2_MODELS],
        ks=[PATHS.analysis(f"embedding_norms/{base}_ks.csv") for base in FIGURE2_MODELS],
        judgements=PATHS.analysis("judgements.csv"),
        published=expand("resources/published/transfer_{table}.csv", table=["table1", "table2", "tables3to7"]),
    output:
        **table_files("transfer_claims"),
    log:
        PATHS.log("transfer_claims", "all"),
    benchmark:
        PATHS.benchmark("transfer_claims", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        claims=claims_of("transfer"),
        scripts={language: facts["script"] for language, facts in LANGUAGES_KNOWN.items()},
        setting={
            "bases": BASES,
            "source": SOURCE,
            "targets": TARGETS,
            "figure2_models": FIGURE2_MODELS,
            "pretraining": {base: MODELS[base]["pretraining"] for base in [*BASES, *FIGURE2_MODELS]},
            "seeds": RM_SEEDS,
            "off_the_shelf": shelf_pretraining(),
        },
        scorers=claim_scorers(),
        benchmark=benchmark_facts(MAIN),
        interval=interval_settings(),
        confidence=CONFIDENCE,
        caption=caption("transfer_claims"),
        code=code("claims"),
    script:
        "../scripts/transfer_claims.py"


rule claims:
    input:
        PATHS.artifact("transfer_claims.csv"),
        PATHS.artifact("carb_claims.csv"),
    output:
        **table_files("claims"),
    log:
        PATHS.log("claims", "all"),
    benchmark:
        PATHS.benchmark("claims", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        confidence=CONFIDENCE,
        caption=caption("claims"),
        code=code("claims"),
    script:
        "../scripts/claims.py"


rule compare:
    # A table of ours beside the paper's printed one, cell by cell.
    input:
        ours=PATHS.artifact("{printed}.csv"),
        printed=lambda wc: PRINTED[wc.printed],
    output:
        csv=shown("compare/{printed}.csv", "{printed}", "beside the printed"),
        png=shown("compare/{printed}.png", "{printed}", "beside the printed"),
        pdf=PATHS.artifact("compare/{printed}.pdf"),
    log:
        PATHS.log("compare", "{printed}"),
    benchmark:
        PATHS.benchmark("compare", "{printed}")
    wildcard_constraints:
        printed=one_of(PRINTED),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: (
            f"{REGISTRY[wc.printed]['number']}, ours beside the printed one. A base that the paper has stands beside itself alone; "
            "any other beside every printed one that is not here: models, data and scale then differ."
        ),
        number=lambda wc: REGISTRY[wc.printed]["number"],
        language=lambda wc: REGISTRY[wc.printed].get("language"),
        code=code("compare", "tables"),
    script:
        "../scripts/compare.py"


rule figure1:
    input:
        [PATHS.analysis(f"geometry/{base}.csv") for base in BASES],
    output:
        **figure_files("figure1"),
    log:
        PATHS.log("figure1", "all"),
    benchmark:
        PATHS.benchmark("figure1", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("figure1"),
        confidence=CONFIDENCE,
        code=code("figure1", "tables"),
    script:
        "../scripts/figure1.py"


rule figure2:
    input:
        norms=[PATHS.analysis(f"embedding_norms/{base}.csv") for base in FIGURE2_MODELS],
        ks=[PATHS.analysis(f"embedding_norms/{base}_ks.csv") for base in FIGURE2_MODELS],
    output:
        **figure_files("figure2"),
        ks=shown("figure2_ks.csv", "figure2", "tests"),
    log:
        PATHS.log("figure2", "all"),
    benchmark:
        PATHS.benchmark("figure2", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("figure2"),
        source=SOURCE,
        groups=by_script(TARGETS),
        code=code("figure2", "embedding_norms", "tables"),
    script:
        "../scripts/figure2.py"


rule figure3:
    input:
        win_rates=PATHS.analysis("win_rates.csv"),
        judgements=PATHS.analysis("judgements.csv"),
    output:
        **figure_files("figure3"),
    log:
        PATHS.log("figure3", "all"),
    benchmark:
        PATHS.benchmark("figure3", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("figure3"),
        confidence=CONFIDENCE,
        code=code("figure3", "alignment.judging", "tables"),
    script:
        "../scripts/figure3.py"


rule own_benchmark_table:
    input:
        rows=lambda wc: PATHS.translated(wc.own, OWN[wc.own]["language"]),
        scores=lambda wc: [PATHS.scores(wc.own, name, OWN[wc.own]["language"]) for name in own_scorers(wc.own)],
    output:
        **table_files("benchmark_{own}"),
    log:
        PATHS.log("own_benchmark_table", "{own}"),
    benchmark:
        PATHS.benchmark("own_benchmark_table", "{own}")
    conda:
        "../../envs/analyse.yaml"
    params:
        scorers=lambda wc: own_scorers(wc.own),
        baselines=TEXT_BASELINES,
        caption=lambda wc: caption(f"benchmark_{wc.own}"),
        code=code("reports", "renderings"),
    script:
        "../scripts/own_benchmark_table.py"


rule executed_notebook:
    # A notebook of workflow/notebooks/ run from top to bottom on this scale's files.
    input:
        lambda wc: NOTEBOOKS[wc.notebook],
        source="workflow/notebooks/{notebook}.py",
    output:
        ipynb=shown("notebooks/{notebook}.ipynb", "notebook_{notebook}", "notebook"),
        html=shown("notebooks/{notebook}.html", "notebook_{notebook}", "notebook"),
    log:
        PATHS.log("executed_notebook", "{notebook}"),
    benchmark:
        PATHS.benchmark("executed_notebook", "{notebook}")
    wildcard_constraints:
        notebook=one_of(NOTEBOOKS),
    conda:
        "../../envs/notebook.yaml"
    params:
        settings=lambda wc: notebook_settings(wc.notebook),
        caption=lambda wc: caption(f"notebook_{wc.notebook}"),
        code=lambda wc: notebook_code(wc.notebook),
    script:
        "../scripts/executed_notebook.py"
