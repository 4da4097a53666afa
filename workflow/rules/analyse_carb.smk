# Stage 6 of the CARB paper: who is right on which items, what moves scores, and what the answers are worth that a reward model picks.
# Tables are parquet where a later step draws or lays them out, so that no digit is lost.


rule carb_comparison:
    # All that the leaderboard and Figures 1 to 3 show, of one bootstrap.
    input:
        item_files=expand("<prepared>/carb/{culture}.jsonl", culture=CULTURES),
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_leaderboard'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        leaderboard="<analysis>/carb/leaderboard.parquet",
        groups="<analysis>/carb/groups.parquet",
        domains="<analysis>/carb/domains.parquet",
        glance="<analysis>/carb/glance.parquet",
    log:
        "<logs>/carb_comparison/all.log",
    benchmark:
        "<benchmarks>/carb_comparison/all.tsv"
    conda:
        "../../envs/plot.yaml"
    params:
        cells={"cultures": CULTURES, "domains": DOMAINS},
        interval=INTERVAL,
        languages={culture: CATALOG.languages[culture] for culture in CULTURES},
    script:
        "../scripts/analyse/carb_comparison.py"


rule culture_comparison:
    # All scorers on place quartets, of one bootstrap over topics.
    input:
        item_files=expand("<prepared>/quartets/{language}.jsonl", language=QUARTET_LANGUAGES),
        unplaced=expand("<prepared>/unplaced_quartets/{language}.jsonl", language=QUARTET_LANGUAGES),
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_culture' and benchmark == 'quartets'", within=SCORES),
        ),
        unplaced_scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_culture' and benchmark == 'unplaced_quartets'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        table="<analysis>/carb/culture.parquet",
        differences="<analysis>/carb/culture_differences.parquet",
    log:
        "<logs>/culture_comparison/all.log",
    benchmark:
        "<benchmarks>/culture_comparison/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        languages=QUARTET_LANGUAGES,
        source=SOURCE,
        interval=INTERVAL,
    script:
        "../scripts/analyse/culture_comparison.py"


rule carb_picks:
    # How good the answers are that each reward model picks, by policy and over all policies; and those of policies that it trained.
    input:
        candidates=expand("<scores>/candidates/{policy}.jsonl", policy=CARB.policies),
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_correlation'", within=SCORES),
        ),
        before=["<scores>/grpo/start.jsonl"] if REWARDING else [],
        trained=expand("<scores>/grpo/answers/{name}.jsonl", name=REWARDING),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/carb/picks.csv",
    log:
        "<logs>/carb_picks/all.log",
    benchmark:
        "<benchmarks>/carb_picks/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        policies=CARB.policies,
        start=CARB.grpo.policy if CARB.grpo else None,
        trained=REWARDING,
    script:
        "../scripts/analyse/carb_picks.py"


rule carb_points:
    # Picks, with the reward models' scores on both benchmarks.
    input:
        picks="<analysis>/carb/picks.csv",
        leaderboard="<analysis>/carb/leaderboard.parquet",
        rewardbench=expand("<analysis>/languages/{language}.csv", language=LANGUAGES),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/carb/points.csv",
    log:
        "<logs>/carb_points/all.log",
    benchmark:
        "<benchmarks>/carb_points/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        confidence=INTERVAL["confidence"],
        cultures=CULTURES,
        domains=DOMAINS,
    script:
        "../scripts/analyse/carb_points.py"


rule carb_regressions:
    input:
        "<analysis>/carb/points.csv",
    output:
        "<analysis>/carb/correlation.parquet",
    log:
        "<logs>/carb_regressions/all.log",
    benchmark:
        "<benchmarks>/carb_regressions/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        interval=INTERVAL,
    script:
        "../scripts/analyse/carb_regressions.py"


rule carb_sensitivity:
    # The unit of every change is the scorer's own spread on the benchmark; judges of Think-as-Locals play a knock-out there.
    input:
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup(
                f"table == 'carb_perturbation' and benchmark == 'carb_perturbation' and scorer not in {list(PERTURBED_JUDGES)}",
                within=SCORES,
            ),
        ),
        benchmark=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_perturbation' and benchmark == 'carb'", within=SCORES),
        ),
        judged=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup(
                f"table == 'carb_perturbation' and scorer in {list(PERTURBED_JUDGES)}", within=SCORES
            ),
        ),
        matches=expand("<scores>/locals/{judge}/matches.parquet", judge=PERTURBED_JUDGES.values()),
        replies=[
            f"<scores>/carb_perturbation/{name}/replies.csv" for name in [*REWARD_MODELS, *PERTURBED_JUDGES]
        ],
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/carb/perturbation.parquet",
    log:
        "<logs>/carb_sensitivity/all.log",
    benchmark:
        "<benchmarks>/carb_sensitivity/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        judges=PERTURBED_JUDGES,
        cultures=CULTURES,
        interval=INTERVAL,
    script:
        "../scripts/analyse/carb_sensitivity.py"


rule carb_agreement:
    input:
        item_files=expand("<prepared>/carb_consistency/{culture}.jsonl", culture=CULTURES),
        scores=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_consistency' and benchmark == 'carb_consistency'", within=SCORES),
        ),
        benchmark=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_consistency' and benchmark == 'carb'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/carb/agreement_pairs.parquet",
    log:
        "<logs>/carb_agreement/all.log",
    benchmark:
        "<benchmarks>/carb_agreement/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        languages=CULTURES,
        k=CARB.consistency.k,
    script:
        "../scripts/analyse/carb_agreement.py"


rule locals_comparison:
    # Judges on both benchmarks, for the table of Think-as-Locals and that of rewards.
    input:
        rewardbench=collect(
            "<scores>/locals/{row.scorer}/rewardbench.parquet",
            row=lookup("table == 'carb_{compared}' and language == 'rewardbench'", within=SCORES),
        ),
        carb=collect(
            "<scores>/locals/{row.scorer}/carb.parquet",
            row=lookup("table == 'carb_{compared}' and language == 'carb'", within=SCORES),
        ),
        replies=collect(
            "<scores>/locals/{row.scorer}/replies.csv",
            row=lookup("table == 'carb_{compared}' and language == 'carb'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        "<analysis>/locals/{compared}.parquet",
    log:
        "<logs>/locals_comparison/{compared}.log",
    benchmark:
        "<benchmarks>/locals_comparison/{compared}.tsv"
    wildcard_constraints:
        compared="think_as_locals|reward_ablation",
    conda:
        "../../envs/analyse.yaml"
    params:
        benchmark=CATALOG.benchmark(JUDGED),
        cultures=LOCALS.evaluation.cultures,
        domains=DOMAINS,
        interval=INTERVAL,
    script:
        "../scripts/analyse/locals_comparison.py"


rule taught_comparison:
    # Reward models that had lessons on place quartets, in the language of the lessons and in others; and what the lessons cost.
    input:
        item_files=expand("<prepared>/quartets/{language}.jsonl", language=QUARTET_LANGUAGES),
        quartets=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_taught'", within=SCORES),
        ),
        main=collect(
            "<scores>/{row.benchmark}/{row.scorer}/{row.language}.parquet",
            row=lookup("table == 'carb_taught_cost'", within=SCORES),
        ),
        sheet="<results>/work/scorers.csv",
    output:
        table="<analysis>/carb/taught.parquet",
        cost="<analysis>/carb/taught_cost.parquet",
    log:
        "<logs>/taught_comparison/all.log",
    benchmark:
        "<benchmarks>/taught_comparison/all.tsv"
    conda:
        "../../envs/analyse.yaml"
    params:
        benchmark=CATALOG.benchmark(MAIN),
        interval=INTERVAL,
    script:
        "../scripts/analyse/taught_comparison.py"
