# Stage 7 of the CARB paper: its tables and figures.


rule carb_claims:
    # Which of the CARB paper's claims hold, by the rules of workflow/claims.yaml.
    input:
        scores=carb_score_files(*carb_reward_models()),
        rewrites=carb_perturbed_score_files(["carb_perturbation"], carb_perturbed_models()),
        points=PATHS.analysis("carb/points.csv"),
        rewardbench=locals_score_files(CLAIM_JUDGES)["rewardbench"],
        judged=locals_score_files(CLAIM_JUDGES)["carb"],
        published=expand(
            "resources/published/carb_{table}.csv", table=["leaderboard", "correlation", "perturbation", "think_as_locals"]
        ),
    output:
        **table_files("carb_claims"),
    log:
        PATHS.log("carb_claims", "all"),
    benchmark:
        PATHS.benchmark("carb_claims", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        claims=claims_of("carb"),
        evidence={
            "board": {**carb_settings(), "kinds": carb_reward_models()},
            "perturbed": list(carb_perturbed_models()),
            "rating": CARB["rating"],
            "judges": CLAIM_JUDGES,
            "cultures": LOCALS["evaluation"]["cultures"],
        },
        benchmark=benchmark_facts(MAIN),
        confidence=CONFIDENCE,
        caption=caption("carb_claims"),
        code=code("claims"),
    script:
        "../scripts/carb_claims.py"


rule carb_leaderboard:
    input:
        carb_score_files(*carb_scorers()),
    output:
        **table_files("carb_leaderboard"),
    log:
        PATHS.log("carb_leaderboard", "all"),
    benchmark:
        PATHS.benchmark("carb_leaderboard", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        settings=carb_settings(),
        caption=caption("carb_leaderboard"),
        confidence=CONFIDENCE,
        code=code("carb.leaderboard", "renderings"),
    script:
        "../scripts/carb_leaderboard.py"


rule carb_figure1:
    input:
        item_files=carb_item_files(),
        scores=carb_score_files(*carb_scorers()),
    output:
        **figure_files("carb_figure1"),
    log:
        PATHS.log("carb_figure1", "all"),
    benchmark:
        PATHS.benchmark("carb_figure1", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        settings=carb_settings(),
        example_culture=CARB["example_culture"],
        caption=caption("carb_figure1"),
        code=code("carb.figure1", "carb.fonts", "files", "tables"),
    script:
        "../scripts/carb_figure1.py"


rule carb_figure2:
    input:
        carb_score_files(*carb_scorers()),
    output:
        **figure_files("carb_figure2"),
    log:
        PATHS.log("carb_figure2", "all"),
    benchmark:
        PATHS.benchmark("carb_figure2", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        settings=carb_settings(),
        languages={culture: LANGUAGES_KNOWN[culture] for culture in CARB["cultures"]},
        caption=caption("carb_figure2"),
        code=code("carb.figure2", "tables"),
    script:
        "../scripts/carb_figure2.py"


rule carb_figure3:
    input:
        carb_score_files(*carb_scorers()),
    output:
        **figure_files("carb_figure3"),
    log:
        PATHS.log("carb_figure3", "all"),
    benchmark:
        PATHS.benchmark("carb_figure3", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        settings=carb_settings(),
        caption=caption("carb_figure3"),
        code=code("carb.figure3", "carb.groups", "tables"),
    script:
        "../scripts/carb_figure3.py"


rule carb_correlation:
    input:
        PATHS.analysis("carb/points.csv"),
    output:
        **table_files("carb_correlation"),
    log:
        PATHS.log("carb_correlation", "all"),
    benchmark:
        PATHS.benchmark("carb_correlation", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        confidence=config["intervals"]["confidence"],
        caption=caption("carb_correlation"),
        code=code("carb.correlation", "renderings"),
    script:
        "../scripts/carb_correlation.py"


rule carb_validity_figure:
    # Figure 4 by policy, Figure 5 over all policies.
    input:
        points=PATHS.analysis("carb/points.csv"),
        correlations=PATHS.artifact("carb_correlation.csv"),
    output:
        **figure_files("{validity_figure}"),
    log:
        PATHS.log("carb_validity_figure", "{validity_figure}"),
    benchmark:
        PATHS.benchmark("carb_validity_figure", "{validity_figure}")
    wildcard_constraints:
        validity_figure="carb_figure[45]",
    conda:
        "../../envs/plot.yaml"
    params:
        policies=lambda wc: {"carb_figure4": CARB["policies"], "carb_figure5": ["all"]}[wc.validity_figure],
        rating=CARB["rating"],
        confidence=config["intervals"]["confidence"],
        caption=lambda wc: caption(wc.validity_figure),
        code=code("carb.figure4", "carb.correlation", "tables"),
    script:
        "../scripts/carb_validity_figure.py"


rule carb_perturbation:
    # The unit of every change is the scorer's own spread on the benchmark; judges of Think-as-Locals play a knock-out there.
    input:
        scores=carb_perturbed_score_files(["carb_perturbation"], [*carb_perturbed_models(), "length"]),
        benchmark=carb_score_files(*carb_perturbed_models(), "length"),
        judged=locals_perturbed_score_files(PERTURBED_JUDGES),
        matches=[PATHS.locals_scores(judge, "matches.parquet") for judge in PERTURBED_JUDGES.values()],
        replies=[PATHS.perturbed_replies(name) for name in [*carb_perturbed_models(), *PERTURBED_JUDGES]],
    output:
        **table_files("carb_perturbation"),
    log:
        PATHS.log("carb_perturbation", "all"),
    benchmark:
        PATHS.benchmark("carb_perturbation", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        kinds={**carb_perturbed_models(), "length": "baseline"},
        judges=dict.fromkeys(PERTURBED_JUDGES, "generative"),
        replied=[*carb_perturbed_models(), *PERTURBED_JUDGES],
        interval=interval_settings(),
        caption=caption("carb_perturbation"),
        confidence=CONFIDENCE,
        code=code("carb.sensitivity", "carb.leaderboard", "locals.replies", "renderings"),
    script:
        "../scripts/carb_perturbation.py"


rule carb_perturbation_figure:
    input:
        PATHS.artifact("carb_perturbation.csv"),
    output:
        **figure_files("carb_perturbation_figure"),
    log:
        PATHS.log("carb_perturbation_figure", "all"),
    benchmark:
        PATHS.benchmark("carb_perturbation_figure", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_perturbation_figure"),
        code=code("carb.perturbation_figure", "carb.sensitivity", "tables"),
    script:
        "../scripts/carb_perturbation_figure.py"


rule carb_consistency:
    input:
        **carb_consistency_input(),
    output:
        **figure_files("carb_consistency"),
    log:
        PATHS.log("carb_consistency", "all"),
    benchmark:
        PATHS.benchmark("carb_consistency", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        **carb_consistency_settings(),
        caption=caption("carb_consistency"),
        code=code("carb.consistency", "carb.consistency_figure", "carb.leaderboard", "tables"),
    script:
        "../scripts/carb_consistency.py"


rule carb_consistency_table:
    input:
        **carb_consistency_input(),
    output:
        **table_files("carb_consistency_table"),
    log:
        PATHS.log("carb_consistency_table", "all"),
    benchmark:
        PATHS.benchmark("carb_consistency_table", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        **carb_consistency_settings(),
        interval=interval_settings(),
        caption=caption("carb_consistency_table"),
        confidence=CONFIDENCE,
        code=code("carb.consistency", "carb.leaderboard", "renderings"),
    script:
        "../scripts/carb_consistency_table.py"


rule carb_think_as_locals:
    input:
        **locals_score_files(THINK_AS_LOCALS),
    output:
        **table_files("carb_think_as_locals"),
    log:
        PATHS.log("carb_think_as_locals", "all"),
    benchmark:
        PATHS.benchmark("carb_think_as_locals", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        **locals_settings("carb_think_as_locals", THINK_AS_LOCALS),
        contrasts=[("full", name) for name in THINK_AS_LOCALS if name != "full"],
        code=code("locals.comparison", "renderings"),
    script:
        "../scripts/carb_think_as_locals.py"


use rule carb_think_as_locals as carb_reward_ablation with:
    input:
        **locals_score_files(ABLATION),
    output:
        **table_files("carb_reward_ablation"),
    log:
        PATHS.log("carb_reward_ablation", "all"),
    benchmark:
        PATHS.benchmark("carb_reward_ablation", "all")
    params:
        **locals_settings("carb_reward_ablation", ABLATION),
        contrasts=[("full", name) for name in ABLATION if name != "full"],
        code=code("locals.comparison", "renderings"),


rule carb_locals_curves:
    input:
        [PATHS.locals_model(run) for run in LOCALS["runs"]],
    output:
        **figure_files("carb_locals_curves"),
    log:
        PATHS.log("carb_locals_curves", "all"),
    benchmark:
        PATHS.benchmark("carb_locals_curves", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        caption=caption("carb_locals_curves"),
        names={run: run_name(run) for run in LOCALS["runs"]},
        code=code("locals.curves", "tables"),
    script:
        "../scripts/carb_locals_curves.py"
