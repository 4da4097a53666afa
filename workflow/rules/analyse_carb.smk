# Stage 6 of the CARB paper: who is right on which items, what moves scores, and what the answers are worth that a reward model picks.
# Tables are parquet where a later step draws or lays them out, so that no digit is lost.


rule carb_comparison:
    # All that the leaderboard and Figures 1 to 3 show, of one bootstrap.
    input:
        item_files=CARB.item_files,
        scores=CARB.score_files(CARB.scorers),
    output:
        leaderboard=PATHS.analysis("carb/leaderboard.parquet"),
        groups=PATHS.analysis("carb/groups.parquet"),
        domains=PATHS.analysis("carb/domains.parquet"),
        glance=PATHS.analysis("carb/glance.parquet"),
    log:
        PATHS.log("carb_comparison", "all"),
    benchmark:
        PATHS.benchmark("carb_comparison", "all")
    conda:
        "../../envs/plot.yaml"
    params:
        settings=CARB.board_settings(CARB.scorers),
        languages={culture: KNOWN.languages[culture] for culture in CARB.cultures},
        example_culture=CARB.settings["example_culture"],
    script:
        "../scripts/carb_comparison.py"


rule carb_picks:
    # How good the answers are that each reward model picks, by policy and over all policies; and those of policies that it trained.
    input:
        candidates=CARB.candidates,
        scores=CARB.candidate_scores(CARB.reward_models),
        before=CARB.grpo_start,
        trained=CARB.grpo_answers,
    output:
        PATHS.analysis("carb/picks.csv"),
    log:
        PATHS.log("carb_picks", "all"),
    benchmark:
        PATHS.benchmark("carb_picks", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        policies=CARB.policies,
        kinds=CARB.reward_models,
        start=(CARB.grpo or {}).get("policy"),
        trained=CARB.rewarding,
    script:
        "../scripts/carb_picks.py"


rule carb_points:
    # Picks beside the reward models' scores on both benchmarks.
    input:
        picks=PATHS.analysis("carb/picks.csv"),
        leaderboard=PATHS.analysis("carb/leaderboard.parquet"),
        rewardbench=[PATHS.analysis(f"languages/{language}.csv") for language in SCALE.languages],
    output:
        PATHS.analysis("carb/points.csv"),
    log:
        PATHS.log("carb_points", "all"),
    benchmark:
        PATHS.benchmark("carb_points", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        settings={
            "of_model": CARB.knockouts,
            "bases": CARB.bases,
            "confidence": config["intervals"]["confidence"],
        },
        cultures=CARB.cultures,
        domains=CARB.domains,
    script:
        "../scripts/carb_points.py"


rule carb_regressions:
    input:
        PATHS.analysis("carb/points.csv"),
    output:
        PATHS.analysis("carb/correlation.parquet"),
    log:
        PATHS.log("carb_regressions", "all"),
    benchmark:
        PATHS.benchmark("carb_regressions", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        interval=SCALE.interval,
    script:
        "../scripts/carb_regressions.py"


rule carb_sensitivity:
    # The unit of every change is the scorer's own spread on the benchmark; judges of Think-as-Locals play a knock-out there.
    input:
        item_files=CARB.perturbed_files("carb_perturbation"),
        scores=CARB.perturbed_score_files(["carb_perturbation"], [*CARB.perturbed_models, "length"]),
        benchmark=CARB.score_files([*CARB.perturbed_models, "length"]),
        judged=LOCALS.perturbed_score_files(PERTURBED_JUDGES),
        matches=[PATHS.locals_scores(judge, "matches.parquet") for judge in PERTURBED_JUDGES.values()],
        replies=[PATHS.perturbed_replies(name) for name in [*CARB.perturbed_models, *PERTURBED_JUDGES]],
    output:
        PATHS.analysis("carb/perturbation.parquet"),
    log:
        PATHS.log("carb_sensitivity", "all"),
    benchmark:
        PATHS.benchmark("carb_sensitivity", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        kinds={**CARB.perturbed_models, "length": "baseline"},
        judges=dict.fromkeys(PERTURBED_JUDGES, "generative"),
        replied=[*CARB.perturbed_models, *PERTURBED_JUDGES],
        zeros={**CARB.zeros, **dict.fromkeys(PERTURBED_JUDGES, "log-odds")},
        interval=SCALE.interval,
    script:
        "../scripts/carb_sensitivity.py"


rule carb_agreement:
    input:
        **CARB.consistency_files,
    output:
        pairs=PATHS.analysis("carb/agreement_pairs.parquet"),
        table=PATHS.analysis("carb/agreement.parquet"),
    log:
        PATHS.log("carb_agreement", "all"),
    benchmark:
        PATHS.benchmark("carb_agreement", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        **CARB.consistency_settings,
        interval=SCALE.interval,
    script:
        "../scripts/carb_agreement.py"


rule locals_comparison:
    input:
        **LOCALS.score_files(LOCALS.compared),
    output:
        PATHS.analysis("locals/think_as_locals.parquet"),
    log:
        PATHS.log("locals_comparison", "all"),
    benchmark:
        PATHS.benchmark("locals_comparison", "all")
    conda:
        "../../envs/analyse.yaml"
    params:
        **LOCALS.comparison(LOCALS.compared),
        contrasts=[("full", name) for name in LOCALS.compared if name != "full"],
    script:
        "../scripts/locals_comparison.py"


use rule locals_comparison as locals_ablation with:
    input:
        **LOCALS.score_files(LOCALS.writing),
    output:
        PATHS.analysis("locals/reward_ablation.parquet"),
    log:
        PATHS.log("locals_ablation", "all"),
    benchmark:
        PATHS.benchmark("locals_ablation", "all")
    params:
        **LOCALS.comparison(LOCALS.writing),
        contrasts=[("full", name) for name in LOCALS.writing if name != "full"],
