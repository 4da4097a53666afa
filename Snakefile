# polyreward: data flows one way, sources -> prepared -> translated -> models -> scores -> analysis -> artifacts.
# workflow/artifacts.yaml lists what can be made, config.yaml the settings, and workflow/profiles/ how to run it.

from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


# With --sdm apptainer; the head of envs/apptainer.def has how to build it.
container: "envs/polyreward.sif"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


# Each stage's folder, with which a rule's paths begin; the two benchmarks, and the source language.
pathvars:
    results=SETTINGS.results,
    logs="<results>/logs",
    benchmarks="<results>/benchmarks",
    sources="<results>/work/1_sources",
    prepared="<results>/work/2_prepared",
    translated="<results>/work/3_translated",
    models="<results>/work/4_models",
    scores="<results>/work/5_scores",
    analysis="<results>/work/6_analysis",
    main=SETTINGS.benchmarks.main,
    twins=SETTINGS.benchmarks.twins,
    source=SETTINGS.source_language,


include: "workflow/rules/sources.smk"
include: "workflow/rules/prepare.smk"
include: "workflow/rules/prepare_carb.smk"
include: "workflow/rules/translate.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/train_carb.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/score_carb.smk"
include: "workflow/rules/analyse.smk"
include: "workflow/rules/analyse_carb.smk"
include: "workflow/rules/artifacts.smk"
include: "workflow/rules/artifacts_carb.smk"


# A job runs again where its script's code changes.
follow_code(workflow.rules, SETTINGS.portable)


onstart:
    from polyreward.ops.hub_check import hub_problems  # the hub's client takes a moment to import

    # What else would be known after hours in a queue only.
    stop_early(workflow, PLAN, hub_problems)
    # The same of a language that brings a folder of its own.
    PLAN.check_languages()
    # The same of place quartets, where they are made.
    PLAN.check_quartets(workflow.dag.needrun_jobs())
    # One run at a time in a folder. It comes after stop_early, which names jobs that a killed run left on a cluster.
    hold_folder()
    # No more jobs at a time than the machine's memory and GPUs hold, where they run here.
    limit_jobs(workflow)
    # Snakemake looks for new jobs when one ends.
    wait_for_jobs(workflow)
    # Ctrl-C does not wait for jobs.
    end_jobs_on_interrupt(workflow)


rule all:
    default_target: True
    input:
        ARTIFACTS.targets(),
        ARTIFACTS.own_targets,
        ARTIFACTS.compared_targets(),
        "<results>/SHA256SUMS",


rule carb:
    # Everything of arXiv 2509.21798, and the test of culture.
    input:
        ARTIFACTS.targets("carb"),
        ARTIFACTS.compared_targets("carb"),
        ["<results>/carb_culture.png", "<results>/carb_culture_differences.csv"],


rule think_as_locals:
    # Think-as-Locals, of arXiv 2509.21798.
    input:
        "<results>/carb_think_as_locals.csv",
        "<results>/carb_reward_ablation.csv",
        "<results>/carb_locals_learning.csv",
        "<results>/carb_locals_curves.png",


rule transfer:
    # Everything of arXiv 2410.18027, and the tables that show how far to trust it.
    input:
        ARTIFACTS.targets("transfer"),
        ARTIFACTS.compared_targets("transfer"),
        [
            f"<results>/{name}.csv"
            for name in ["baselines", "gate", "kinds", "training_added", "transfer_gap", "twins"]
        ],
        ["<results>/printed.csv", "<results>/printed_leads.png"],
