# Stage 7: the tables that people asked for; what each is stands in workflow/artifacts.yaml.


rule table1:
    input:
        PATHS.analysis("transfer.csv"),
    output:
        csv=PATHS.artifact("table1.csv"),
        md=PATHS.artifact("table1.md"),
        tex=PATHS.artifact("table1.tex"),
    log:
        PATHS.log("table1", "all"),
    benchmark:
        PATHS.benchmark("table1", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("table1"),
        confidence=CONFIDENCE,
        code=code("table1", "tables", "reports"),
    script:
        "../scripts/table1.py"


rule language_table:
    # Tables 3-7: every reward model on one evaluation language.
    input:
        lambda wc: PATHS.analysis(f"languages/{LANGUAGE_TABLES[wc.language_table]}.csv"),
    output:
        csv=PATHS.artifact("{language_table}.csv"),
        md=PATHS.artifact("{language_table}.md"),
        tex=PATHS.artifact("{language_table}.tex"),
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
        code=code("table1", "tables", "reports"),
    script:
        "../scripts/language_table.py"


rule stacked_table:
    # Tables whose rows are made per language or benchmark, put on top of each other.
    input:
        lambda wc: STACKED[wc.table],
    output:
        csv=PATHS.artifact("{table}.csv"),
        md=PATHS.artifact("{table}.md"),
        tex=PATHS.artifact("{table}.tex"),
    log:
        PATHS.log("stacked_table", "{table}"),
    benchmark:
        PATHS.benchmark("stacked_table", "{table}")
    wildcard_constraints:
        table="baselines|subsets|twins|data_sources|translation_quality",
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: caption(wc.table),
        code=code("tables"),
    script:
        "../scripts/stacked_table.py"


rule gate:
    # Is the instrument working? The mean of several seeds' reward models against length and against TF-IDF.
    input:
        rows=PATHS.translated(MAIN, SOURCE),
        scores=[PATHS.scores(MAIN, name, SOURCE) for name in [*gate_models(), *baseline_scorers()[:3]]],
    output:
        csv=PATHS.artifact("gate.csv"),
        md=PATHS.artifact("gate.md"),
        tex=PATHS.artifact("gate.tex"),
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
        code=code("reports", "tables"),
    script:
        "../scripts/gate.py"


rule claims:
    # Which of the transfer paper's claims hold, by the rules of workflow/claims.yaml.
    input:
        rows=[PATHS.translated(MAIN, language) for language in LANGUAGES],
        scores=[PATHS.scores(MAIN, name, language) for name in claim_scorers() for language in LANGUAGES],
        states=[PATHS.passage_states(base) for base in BASES],
        norms=[PATHS.analysis(f"embedding_norms/{base}.csv") for base in BASES],
        ks=[PATHS.analysis(f"embedding_norms/{base}_ks.csv") for base in BASES],
        judgements=[PATHS.analysis("judgements.csv") for name in REGISTRY if name == "figure3"],
        published=expand("resources/published/transfer_{table}.csv", table=["table1", "table2", "tables3to7"]),
    output:
        csv=PATHS.artifact("claims.csv"),
        md=PATHS.artifact("claims.md"),
        tex=PATHS.artifact("claims.tex"),
    log:
        PATHS.log("claims", "all"),
    benchmark:
        PATHS.benchmark("claims", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        claims=CLAIMS,
        scripts={language: facts["script"] for language, facts in LANGUAGES_KNOWN.items()},
        setting={
            "bases": BASES,
            "source": SOURCE,
            "targets": TARGETS,
            "pretraining": {base: MODELS[base]["pretraining"] for base in BASES},
            "off_the_shelf": off_the_shelf_pretraining(),
        },
        ties={name: "half" if name in baseline_scorers() else "wrong" for name in claim_scorers()},
        benchmark=benchmark_facts(MAIN),
        interval=interval_settings(),
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
        csv=PATHS.artifact("compare/{printed}.csv"),
        png=PATHS.artifact("compare/{printed}.png"),
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
        number=lambda wc: REGISTRY[wc.printed]["number"],
        language=lambda wc: REGISTRY[wc.printed].get("language"),
        code=code("compare", "tables"),
    script:
        "../scripts/compare.py"


rule figure1:
    input:
        [PATHS.analysis(f"geometry/{base}.csv") for base in BASES],
    output:
        png=PATHS.artifact("figure1.png"),
        pdf=PATHS.artifact("figure1.pdf"),
        csv=PATHS.artifact("figure1.csv"),
    log:
        PATHS.log("figure1", "all"),
    benchmark:
        PATHS.benchmark("figure1", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        confidence=CONFIDENCE,
        code=code("figure1", "tables"),
    script:
        "../scripts/figure1.py"


rule figure2:
    input:
        norms=[PATHS.analysis(f"embedding_norms/{base}.csv") for base in BASES],
        ks=[PATHS.analysis(f"embedding_norms/{base}_ks.csv") for base in BASES],
    output:
        png=PATHS.artifact("figure2.png"),
        pdf=PATHS.artifact("figure2.pdf"),
        csv=PATHS.artifact("figure2.csv"),
        ks=PATHS.artifact("figure2_ks.csv"),
    log:
        PATHS.log("figure2", "all"),
    benchmark:
        PATHS.benchmark("figure2", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        source=SOURCE,
        groups=by_script(TARGETS),
        code=code("figure2", "embedding_norms", "tables"),
    script:
        "../scripts/figure2.py"


rule own_benchmark_table:
    input:
        rows=lambda wc: PATHS.translated(wc.own, OWN[wc.own]["language"]),
        scores=lambda wc: [PATHS.scores(wc.own, name, OWN[wc.own]["language"]) for name in own_scorers(wc.own)],
    output:
        csv=PATHS.artifact("benchmark_{own}.csv"),
        md=PATHS.artifact("benchmark_{own}.md"),
        tex=PATHS.artifact("benchmark_{own}.tex"),
    log:
        PATHS.log("own_benchmark_table", "{own}"),
    benchmark:
        PATHS.benchmark("own_benchmark_table", "{own}")
    conda:
        "../../envs/analyse.yaml"
    params:
        scorers=lambda wc: own_scorers(wc.own),
        baselines=TEXT_BASELINES,
        caption=lambda wc: (
            f"Accuracy (%) of every scorer on {wc.own} ({OWN[wc.own]['language']}) with 95% Wilson intervals over items; chosen must "
            "beat every rejected answer. Truncated: share of conversations cut to the scorer's window. Within noise: items "
            "whose margin is no larger than what batching may move."
        ),
        code=code("reports", "tables"),
    script:
        "../scripts/own_benchmark_table.py"
