"""The trainings of Think-as-Locals' judges: what each starts from, is rewarded for, and is called."""

from polyreward.core.naming import stage
from polyreward.settings.think_as_locals import WITHOUT_CRITERIA, ThinkAsLocals

WARMUPS = {"warmup": True, "warmup-at-once": False}  # {its folder: whether its replies have criteria}
# Rewards as the paper writes them
SIGNS = {"correctness": "R_corr", "appropriateness": "R_appr", "layout": "layout"}
LABELS = {  # but the runs
    "base": "base, verdict at once",
    "base-with-criteria": "base, with criteria",
    "warmup": "after the warm-up",
    WITHOUT_CRITERIA: "trained without criteria",
}


def repeats(settings: ThinkAsLocals) -> list[str]:
    """Return the further trainings of `full`, each with a seed of its own."""
    return [f"full-{number}" for number in range(2, settings.seeds + 1)]


def seed_key(run: str) -> list[str]:
    """Return what a training's seed has in its key: nothing but for a repeat, whose number it is."""
    return [run.removeprefix("full-")] if run.startswith("full-") else []


def training_of(settings: ThinkAsLocals, run: str) -> dict:
    """Return the weights of a training's rewards, whether its judge writes criteria, and what these quote.

    quote: how many characters of an answer a judge names in its last criterion."""
    criteria = run != WITHOUT_CRITERIA
    rewards = settings.runs["full" if run.startswith("full-") else run]
    quote = settings.criteria_quote if criteria and settings.warmup else 0
    return {"rewards": rewards, "criteria": criteria, "quote": quote}


def warmup_folder(results: str, run: str) -> str:
    """Return the folder of the warm-up that a training starts from."""
    name = next(name for name, criteria in WARMUPS.items() if criteria == (run != WITHOUT_CRITERIA))
    return stage(results, "models", f"locals/{name}")


def judge_labels(settings: ThinkAsLocals) -> dict[str, str]:
    """Return {judge: what readers call it}."""
    labels = {**{name: name for name in settings.others}, **LABELS}
    for run, weights in settings.runs.items():
        left_out = [SIGNS[reward] for reward, weight in weights if not weight]
        labels.setdefault(run, f"without {' and '.join(left_out)}" if left_out else "all rewards")
    return labels
