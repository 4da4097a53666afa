# What the rules of the CARB paper share: functions for their inputs and params; no rules.

# CARB's scorers: trained here, listed and off the shelf; some judges also in a knock-out of pairs, {its name there: its own}
CARB_LISTED = {**LISTED, **{name: CATALOG[name] for name in SHELF}}
KNOCKOUTS = {f"{name}-knockout": name for name in CARB["knockout"]}
LOGLIKS = [f"loglik-{base}" for base in BASES]


def carb_reward_models():
    """Return {reward model: kind} of all that CARB scores."""
    listed = {name: entry["kind"] for name, entry in CARB_LISTED.items()}
    return {**dict.fromkeys(trained_models(), "classifier"), **listed, **dict.fromkeys(KNOCKOUTS, "generative")}


def carb_scorers():
    """Return {scorer: kind} of all on CARB's leaderboard."""
    return {**carb_reward_models(), **dict.fromkeys(["length", "script", *LOGLIKS], "baseline")}


def carb_entry(scorer):
    """Return how a scorer of CARB is loaded: an entry as reward_models has it, with its `source`."""
    if scorer in LOGLIKS:
        return {"kind": "implicit", "source": PATHS.base_model(scorer.removeprefix("loglik-"))}
    return located(CARB_LISTED[scorer]) if scorer in CARB_LISTED else {"kind": "classifier", "source": PATHS.model(scorer)}


def carb_folders(scorer):
    return folders(CARB_LISTED[scorer]) if scorer in CARB_LISTED else [carb_entry(scorer)["source"]]


def carb_model(scorer):
    """Return the model of a scorer of CARB, as `holding` takes it."""
    if scorer in CARB_LISTED:
        return CARB_LISTED[scorer]
    return scorer.removeprefix("loglik-") if scorer in LOGLIKS else ModelName.parse(scorer).base


def item_states(scorer, items="carb"):
    """Return the states of CARB's items below the layers in which a trained reward model differs from its base."""
    trained = scorer not in CARB_LISTED and scorer not in LOGLIKS
    return [PATHS.item_states(ModelName.parse(scorer).base, items)] if trained and frozen_layers() else []


def carb_item_files():
    return [PATHS.carb_items(culture) for culture in CARB["cultures"]]


def carb_score_files(*scorers):
    return [PATHS.scores("carb", scorer, culture) for scorer in scorers for culture in CARB["cultures"]]


def carb_settings():
    """Return what every comparison of CARB's scorers needs."""
    parts = {"cultures": CARB["cultures"], "domains": CARB["domains"]}
    return {"kinds": carb_scorers(), **parts, "interval": interval_settings()}


# Rewrites of CARB's right answers, and the same answers in all languages
PERTURBED_SETS = ["carb_perturbation", "carb_consistency"]


def carb_perturbed_models():
    """Return {reward model: kind} of all that score them; a judge sees pairs there, so that a knock-out adds nothing."""
    return {name: kind for name, kind in carb_reward_models().items() if name not in KNOCKOUTS}


def carb_perturbed_files():
    return [PATHS.carb_perturbed(name, culture) for name in PERTURBED_SETS for culture in CARB["cultures"]]


def carb_perturbed_score_files(sets, scorers):
    return [PATHS.scores(name, scorer, culture) for name in sets for scorer in scorers for culture in CARB["cultures"]]


def carb_consistency_input():
    """Return the scores of the same answers in all languages, and what tells their unit."""
    return {
        "item_files": [PATHS.carb_perturbed("carb_consistency", culture) for culture in CARB["cultures"]],
        "scores": carb_perturbed_score_files(["carb_consistency"], carb_perturbed_models()),
        "benchmark": carb_score_files(*carb_perturbed_models()),
    }


def carb_consistency_settings():
    return {"kinds": carb_perturbed_models(), "languages": CARB["cultures"], "k": CARB["consistency"]["k"]}


NOTEBOOKS["carb"] = [
    *(PATHS.artifact(f"carb_{name}.csv") for name in ("leaderboard", "correlation", *(f"figure{n}" for n in (1, 2, 3, 5)))),
    *carb_item_files(),
    *carb_score_files(*carb_scorers()),
]
NOTEBOOK_KEYS["carb"] = ["carb"]


# Think-as-Locals


def written_by(judge):
    """Return the entry of a judge that writes criteria and then its verdict: `base`, `warmup` or one of the runs."""
    where = {"model": LOCALS["base"]} if judge == "base" else {"locals": judge}
    return {"kind": "generative", "verdict": "criteria", **where, **LOCALS["judge"]}


# Judges that are evaluated, {name: entry}; the base has not learnt the layout and gives its verdicts at once
TRAINED_JUDGES = [*(["warmup"] if LOCALS["warmup"] else []), *LOCALS["runs"]]
LOCALS_JUDGES = {
    "base": {**written_by("base"), "verdict": "no-criteria"},
    **{name: written_by(name) for name in TRAINED_JUDGES},
    "full-at-once": {**written_by("full"), "verdict": "no-criteria"},
}
LOCALS_MODEL = {"model": LOCALS["base"], **LOCALS["judge"]}  # each of them, as `holding` takes it
SAMPLED = ["base", *(name for name in ("warmup", "full") if name in TRAINED_JUDGES)]
THINK_AS_LOCALS = [*SAMPLED, "full-at-once"]
ABLATION = TRAINED_JUDGES
CLAIM_JUDGES = ["base", *TRAINED_JUDGES]
# The rows of Think-as-Locals in the table of perturbations: {its name there: the judge}
PERTURBED_JUDGES = {"locals-base": "base", "locals-without-criteria": "full-at-once", "locals-with-criteria": "full"}
LOCALS_ARTIFACTS = ["carb_think_as_locals", "carb_reward_ablation", "carb_locals_curves", "carb_locals_samples"]


def run_name(judge):
    """Return what a judge is, in a reader's words."""
    if judge in LOCALS["runs"]:
        left_out = [name for name, weight in LOCALS["runs"][judge].items() if not weight]
        signs = {"correctness": "R_corr", "appropriateness": "R_appr", "layout": "layout"}
        return f"without {' and '.join(signs[name] for name in left_out)}" if left_out else "all rewards"
    return {"base": "base", "warmup": "after the warm-up", "full-at-once": "all rewards, verdict at once"}[judge]


def locals_start():
    return PATHS.locals_model("warmup") if LOCALS["warmup"] else PATHS.base_model(LOCALS["base"])


def locals_sizes():
    return {"warmup": (LOCALS["warmup"] or {}).get("pairs", 0), "grpo": LOCALS["grpo"]["pairs"], "samples": LOCALS["samples"]}


def locals_scoring():
    return {**SCORING, "token_budget": LOCALS["judge_token_budget"]}


def locals_score_files(judges):
    files = {"rewardbench": "rewardbench.parquet", "carb": "carb.parquet", "replies": "replies.csv"}
    return {key: [PATHS.locals_scores(judge, name) for judge in judges] for key, name in files.items()}


def locals_perturbed_score_files(names):
    cultures = LOCALS["evaluation"]["cultures"]
    return [PATHS.scores("carb_perturbation", name, culture) for name in names for culture in cultures]


def locals_settings(artifact, judges):
    """Return the params of a comparison of judges."""
    return {
        "artifact": artifact,
        "names": {judge: run_name(judge) for judge in judges},
        "benchmark": benchmark_facts(MAIN),
        "cultures": LOCALS["evaluation"]["cultures"],
        "domains": CARB["domains"],
        "interval": interval_settings(),
        "caption": caption(artifact),
        "confidence": CONFIDENCE,
    }


def one_of_models(left_out=()):
    """Return a pattern for any reward model or base that CARB scores but some; short, as it is tried on every file of CARB."""
    trained = f"(?:{one_of(BASES)})_(?:{one_of(LANGUAGES)})"
    return f"{trained}|{one_of([name for name in [*CARB_LISTED, *LOGLIKS] if name not in left_out])}"


wildcard_constraints:
    local=one_of(LOCALS_JUDGES),
    single=one_of_models(left_out=KNOCKOUTS.values()),
    playing=one_of(KNOCKOUTS.values()),
    perturbed=one_of_models(left_out=LOGLIKS),
    perturbed_judge=one_of(PERTURBED_JUDGES),
    policy=one_of(CARB["policies"]),
