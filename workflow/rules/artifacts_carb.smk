# Stage 7 of the CARB paper: its tables and figures.


rule carb_claims:
    # Which of the CARB paper's claims hold, by the rules of workflow/papers/carb/claims.yaml.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_claims' and benchmark == 'carb'", within=SCORES),
        ),
        rewrites=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_claims' and benchmark == 'carb_perturbation'", within=SCORES),
        ),
        points="<analysis>/carb/points.csv",
        rewardbench=collect(
            "<scores>/locals/{row.scorer}/rewardbench.parquet",
            row=lookup("table == 'carb_judge_claims' and language == 'rewardbench'", within=SCORES),
        ),
        judged=collect(
            "<scores>/locals/{row.scorer}/carb.parquet",
            row=lookup("table == 'carb_judge_claims' and language == 'carb'", within=SCORES),
        ),
        quartets=expand("<prepared>/quartets/{language}.jsonl", language=QUARTET_LANGUAGES),
        culture=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_culture' and benchmark == 'quartets'", within=SCORES),
        ),
        taught=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_taught'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
        published=expand(
            FILE("workflow/papers/carb/printed/{table}.csv"),
            table=["leaderboard", "correlation", "perturbation", "think_as_locals"],
        ),
    output:
        **table_files("carb_claims"),
    log:
        "<logs>/carb_claims/all.log",
    benchmark:
        "<benchmarks>/carb_claims/all.tsv"
    conda:
        "../../envs/plot.yaml"
    resources:
        **for_tables(mb=16_000, minutes=120),
    params:
        claims=PAPERS["carb"].claims,
        paper=PAPERS["carb"].facts,
        shorts=SHORTS,
        cells={"cultures": CULTURES, "domains": DOMAINS},
        judged_cultures=LOCALS.evaluation.cultures,
        source=SOURCE,
        benchmark=CATALOG.benchmark(JUDGED),
        interval=INTERVAL,
        confidence=CONFIDENCE,
        caption=caption("carb_claims"),
    script:
        "../scripts/artifacts/carb_claims.py"


rule carb_leaderboard:
    input:
        "<analysis>/carb/leaderboard.parquet",
    output:
        **table_files("carb_leaderboard"),
    log:
        "<logs>/carb_leaderboard/all.log",
    benchmark:
        "<benchmarks>/carb_leaderboard/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        cultures=CULTURES,
        domains=DOMAINS,
        caption=caption("carb_leaderboard"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_leaderboard.py"


rule carb_figure1:
    input:
        "<analysis>/carb/glance.parquet",
    output:
        **figure_files("carb_figure1"),
    log:
        "<logs>/carb_figure1/all.log",
    benchmark:
        "<benchmarks>/carb_figure1/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        cultures=CULTURES,
        caption=caption("carb_figure1"),
    script:
        "../scripts/artifacts/carb_figure1.py"


rule carb_figure2:
    input:
        groups="<analysis>/carb/groups.parquet",
        leaderboard="<analysis>/carb/leaderboard.parquet",
    output:
        **figure_files("carb_figure2"),
    log:
        "<logs>/carb_figure2/all.log",
    benchmark:
        "<benchmarks>/carb_figure2/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        cultures=CULTURES,
        domains=DOMAINS,
        caption=caption("carb_figure2"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_figure2.py"


rule carb_figure3:
    input:
        domains="<analysis>/carb/domains.parquet",
        leaderboard="<analysis>/carb/leaderboard.parquet",
    output:
        **figure_files("carb_figure3"),
    log:
        "<logs>/carb_figure3/all.log",
    benchmark:
        "<benchmarks>/carb_figure3/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        cultures=CULTURES,
        domains=DOMAINS,
        caption=caption("carb_figure3"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_figure3.py"


rule carb_correlation:
    input:
        "<analysis>/carb/correlation.parquet",
    output:
        **table_files("carb_correlation"),
    log:
        "<logs>/carb_correlation/all.log",
    benchmark:
        "<benchmarks>/carb_correlation/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_correlation"),
    script:
        "../scripts/artifacts/carb_correlation.py"


rule carb_figure4:
    # What carb_correlation.csv has of one rating.
    input:
        "<analysis>/carb/correlation.parquet",
    output:
        **figure_files("carb_figure4"),
    log:
        "<logs>/carb_figure4/all.log",
    benchmark:
        "<benchmarks>/carb_figure4/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        rating=CARB.rating,
        caption=caption("carb_figure4"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_figure4.py"


rule carb_figure5:
    input:
        points="<analysis>/carb/points.csv",
        correlations="<analysis>/carb/correlation.parquet",
    output:
        **figure_files("carb_figure5"),
    log:
        "<logs>/carb_figure5/all.log",
    benchmark:
        "<benchmarks>/carb_figure5/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        rating=CARB.rating,
        confidence=INTERVAL["confidence"],
        caption=caption("carb_figure5"),
    script:
        "../scripts/artifacts/carb_figure5.py"


rule carb_culture:
    input:
        "<analysis>/carb/culture.parquet",
    output:
        **figure_files("carb_culture"),
    log:
        "<logs>/carb_culture/all.log",
    benchmark:
        "<benchmarks>/carb_culture/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_culture"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_culture.py"


rule carb_culture_differences:
    input:
        "<analysis>/carb/culture_differences.parquet",
    output:
        **table_files("carb_culture_differences"),
    log:
        "<logs>/carb_culture_differences/all.log",
    benchmark:
        "<benchmarks>/carb_culture_differences/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_culture_differences"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_culture_differences.py"


rule carb_taught:
    input:
        table="<analysis>/carb/taught.parquet",
        cost="<analysis>/carb/taught_cost.parquet",
    output:
        **figure_files("carb_taught"),
        cost=ARTIFACTS.shown("carb_taught_cost.csv", "carb_taught", "what the lessons cost"),
    log:
        "<logs>/carb_taught/all.log",
    benchmark:
        "<benchmarks>/carb_taught/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_taught"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_taught.py"


rule carb_compare:
    # A table of ours next to CARB's printed numbers, cell by cell.
    input:
        ours="<results>/{printed}.csv",
        printed=lambda wc: ARTIFACTS.printed()[wc.printed],
    output:
        **ARTIFACTS.compared_files(),
    log:
        "<logs>/carb_compare/{printed}.log",
    benchmark:
        "<benchmarks>/carb_compare/{printed}.tsv"
    wildcard_constraints:
        printed=one_of(ARTIFACTS.printed("carb")),
    conda:
        "../../envs/plot.yaml"
    params:
        caption=lambda wc: (
            f"{ARTIFACTS.entries[wc.printed]['number']}, ours next to the printed numbers, as public notes report them. A reward model "
            "that is in the paper is compared with itself, any other with those of its kind. A judge is compared with the one at the same "
            "point of training, and each rating of picks with each printed one. Models, data and scale then differ."
        ),
        base=LOCALS.base,
    script:
        "../scripts/artifacts/carb_compare.py"


rule carb_perturbation:
    input:
        "<analysis>/carb/perturbation.parquet",
    output:
        **table_files("carb_perturbation"),
    log:
        "<logs>/carb_perturbation/all.log",
    benchmark:
        "<benchmarks>/carb_perturbation/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_perturbation"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_perturbation.py"


rule carb_consistency:
    input:
        "<analysis>/carb/agreement_pairs.parquet",
    output:
        **figure_files("carb_consistency"),
    log:
        "<logs>/carb_consistency/all.log",
    benchmark:
        "<benchmarks>/carb_consistency/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_consistency"),
    script:
        "../scripts/artifacts/carb_consistency.py"


rule carb_think_as_locals:
    input:
        "<analysis>/locals/think_as_locals.parquet",
    output:
        **table_files("carb_think_as_locals"),
    log:
        "<logs>/carb_think_as_locals/all.log",
    benchmark:
        "<benchmarks>/carb_think_as_locals/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        artifact="carb_think_as_locals",
        names=LOCALS.labels,
        caption=caption("carb_think_as_locals"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_think_as_locals.py"


use rule carb_think_as_locals as carb_reward_ablation with:
    input:
        "<analysis>/locals/reward_ablation.parquet",
    output:
        **table_files("carb_reward_ablation"),
    log:
        "<logs>/carb_reward_ablation/all.log",
    benchmark:
        "<benchmarks>/carb_reward_ablation/all.tsv"
    params:
        artifact="carb_reward_ablation",
        names=LOCALS.labels,
        caption=caption("carb_reward_ablation"),


rule carb_locals_learning:
    input:
        collect(
            "<scores>/locals/{row.scorer}/held_out.parquet",
            row=lookup("table == 'carb_locals_learning'", within=SCORES),
        ),
    output:
        **table_files("carb_locals_learning"),
    log:
        "<logs>/carb_locals_learning/all.log",
    benchmark:
        "<benchmarks>/carb_locals_learning/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        repeats=LOCALS.repeats,
        interval=INTERVAL,
        names=LOCALS.labels,
        caption=caption("carb_locals_learning"),
        confidence=CONFIDENCE,
    script:
        "../scripts/artifacts/carb_locals_learning.py"


rule carb_locals_curves:
    input:
        expand("<models>/locals/{run}", run=LOCALS.runs),
    output:
        **figure_files("carb_locals_curves"),
    log:
        "<logs>/carb_locals_curves/all.log",
    benchmark:
        "<benchmarks>/carb_locals_curves/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_locals_curves"),
        names={run: LOCALS.labels[run] for run in LOCALS.runs},
    script:
        "../scripts/artifacts/carb_locals_curves.py"
