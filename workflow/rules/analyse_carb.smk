# Stage 6 of the CARB paper: who is right on which items, what moves scores, and what the answers are worth that a reward model picks.
# Tables are parquet where a later step draws or lays them out, so that no digit is lost.


rule carb_comparison:
    # All that the leaderboard and Figures 1 to 3 show, of one bootstrap.
    input:
        item_files=CARB.item_files,
        scores=CARB.score_files(CARB.scorers),
    output:
        leaderboard="<analysis>/carb/leaderboard.parquet",
        groups="<analysis>/carb/groups.parquet",
        domains="<analysis>/carb/domains.parquet",
        glance="<analysis>/carb/glance.parquet",
    conda:
        "../../envs/plot.yaml"
    params:
        settings=CARB.board_settings(CARB.scorers),
        languages={culture: CATALOG.languages[culture] for culture in CULTURES},
    script:
        "../scripts/analyse/carb_comparison.py"


rule carb_picks:
    # How good the answers are that each reward model picks, by policy and over all policies; and those of policies that it trained.
    input:
        candidates=CARB.candidates,
        scores=CARB.candidate_scores(CARB.reward_models),
        before=["<scores>/grpo/start.jsonl"] if CARB.rewarding else [],
        trained=expand("<scores>/grpo/answers/{name}.jsonl", name=CARB.rewarding),
    output:
        "<analysis>/carb/picks.csv",
    params:
        policies=CARB.policies,
        kinds=CARB.reward_models,
        start=CARB.grpo.policy if CARB.grpo else None,
        trained=CARB.rewarding,
    script:
        "../scripts/analyse/carb_picks.py"


rule carb_points:
    # Picks, with the reward models' scores on both benchmarks.
    input:
        picks="<analysis>/carb/picks.csv",
        leaderboard="<analysis>/carb/leaderboard.parquet",
        rewardbench=expand("<analysis>/languages/{language}.csv", language=LANGUAGES),
    output:
        "<analysis>/carb/points.csv",
    params:
        settings={
            "of_model": CARB.knockouts,
            "bases": CARB.bases,
            "confidence": INTERVAL["confidence"],
        },
        cultures=CULTURES,
        domains=DOMAINS,
    script:
        "../scripts/analyse/carb_points.py"


rule carb_regressions:
    input:
        "<analysis>/carb/points.csv",
    output:
        "<analysis>/carb/correlation.parquet",
    params:
        interval=INTERVAL,
    script:
        "../scripts/analyse/carb_regressions.py"


rule carb_sensitivity:
    # The unit of every change is the scorer's own spread on the benchmark; judges of Think-as-Locals play a knock-out there.
    input:
        scores=CARB.perturbed_score_files(["carb_perturbation"], [*CARB.perturbed_models, "length"]),
        benchmark=CARB.score_files([*CARB.perturbed_models, "length"]),
        judged=JUDGES.perturbed_score_files(PERTURBED_JUDGES),
        matches=expand("<scores>/locals/{judge}/matches.parquet", judge=PERTURBED_JUDGES.values()),
        replies=[
            f"<scores>/carb_perturbation/{name}/replies.csv"
            for name in [*CARB.perturbed_models, *PERTURBED_JUDGES]
        ],
    output:
        "<analysis>/carb/perturbation.parquet",
    params:
        kinds={**CARB.perturbed_models, "length": "baseline"},
        judges=PERTURBED_JUDGES,
        cultures=CULTURES,
        zeros={**CARB.zeros, **dict.fromkeys(PERTURBED_JUDGES, "log-odds")},
        interval=INTERVAL,
    script:
        "../scripts/analyse/carb_sensitivity.py"


rule carb_agreement:
    input:
        item_files=CARB.perturbed_files("carb_consistency"),
        scores=CARB.perturbed_score_files(["carb_consistency"], CARB.perturbed_models),
        benchmark=CARB.score_files(CARB.perturbed_models),
    output:
        "<analysis>/carb/agreement_pairs.parquet",
    params:
        kinds=CARB.perturbed_models,
        languages=CULTURES,
        k=CARB.consistency.k,
    script:
        "../scripts/analyse/carb_agreement.py"


rule locals_comparison:
    input:
        **JUDGES.score_files(JUDGES.compared),
    output:
        "<analysis>/locals/think_as_locals.parquet",
    params:
        **JUDGES.comparison(JUDGES.compared),
        contrasts=[("full", name) for name in JUDGES.compared if name != "full"],
    script:
        "../scripts/analyse/locals_comparison.py"


use rule locals_comparison as locals_ablation with:
    input:
        **JUDGES.score_files(JUDGES.writing),
    output:
        "<analysis>/locals/reward_ablation.parquet",
    params:
        **JUDGES.comparison(JUDGES.writing),
        contrasts=[("full", name) for name in JUDGES.writing if name != "full"],
