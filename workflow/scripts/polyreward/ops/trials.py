"""Which jobs of a scale `polyreward gpu-check` tries, and the file in which it writes how fast they are."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_text
from polyreward.ops.resources import Job
from polyreward.ops.work import Work, writes_text
from polyreward.settings.base import Section
from polyreward.sheet.entries import Models

FILE = "throughputs.json"  # in a scale's results
REWARDING, LABELS, TEXT, LIKELIHOOD = "scoring", "judge, labels", "judge, text", "log-likelihood"
TRAININGS = ("reward training", "SFT", "DPO", "GRPO of a judge", "GRPO of a policy")
# {rule: (kind of job, where its settings are)}. Rules that are not here are not tried: translation,
# similarities of texts, and answers of policies that GRPO trained.
TRIED = {
    **dict.fromkeys(
        ("reward_model", "judge_reward_model", "taught_reward_model"), ("reward training", "reward_model")
    ),
    "sft_policy": ("SFT", "alignment.sft"),
    "locals_warmup": ("SFT", "think_as_locals.warmup"),
    "dpo_policy": ("DPO", "alignment.dpo"),
    "locals_grpo": ("GRPO of a judge", "think_as_locals.grpo"),
    "grpo_policy": ("GRPO of a policy", "carb.grpo"),
    **dict.fromkeys(("sampled_responses", "policy_answers"), ("sampling", "alignment.sampling.batch_size")),
    "candidates": ("sampling", "carb.candidates.per_question"),
    **dict.fromkeys(("base_probe_scores", "passage_states"), ("hidden states", "scoring.token_budget")),
    **dict.fromkeys(
        ("base_likelihood_scores", "single_likelihood_scores", "carb_likelihood_scores"),
        (LIKELIHOOD, "scoring.token_budget"),
    ),
    **dict.fromkeys(
        ("reward_scores", "cross_reward_scores", "single_scores", "labelled_pairs"),
        (REWARDING, "scoring.token_budget"),
    ),
    # A reward model of any kind: its entry says which
    **dict.fromkeys(
        ("ready_made_scores", "carb_scores", "carb_perturbed_scores", "candidate_scores", "quartet_scores"),
        (None, "scoring.token_budget"),
    ),
    **dict.fromkeys(("judgements", "reference_answers"), (None, "scoring.token_budget")),
    **dict.fromkeys(
        ("locals_scores", "locals_perturbed_scores", "locals_held_out"),
        (None, "think_as_locals.judge_token_budget"),
    ),
}
OF_KIND = {"classifier": REWARDING, "implicit": LIKELIHOOD}


@dataclass(frozen=True)
class Trial:
    """A kind of job with one model. where: its settings. tokens: of a batch. rules: whose jobs it represents.

    entry: of models.yaml or of a reward model. training: the section of a training, else None."""

    kind: str
    model: str
    where: str
    training: Section | None
    tokens: int
    entry: dict = field(compare=False)
    rules: list[str] = field(compare=False, default_factory=list)


def trials_of(jobs: Iterable[Job], models: Models) -> list[Trial]:
    """Return each kind of job with each of its models once, those of one model next to each other."""
    found: dict[str, list[Trial]] = {}
    for job in jobs:
        for entry in job.on_card if job.rule in TRIED else []:
            kind, where = TRIED[job.rule]
            if kind is None:
                kind = (TEXT if writes_text(entry) else LABELS) if _is_judge(entry) else _kind(entry)
            tokens = 0 if job.model.training else job.model.tokens
            one = Trial(kind, model_name(job, entry, models), where, job.model.training, tokens, entry)
            of_model = found.setdefault(one.model, [])
            if one not in of_model:
                of_model.append(one)
            rules = of_model[of_model.index(one)].rules
            if job.rule not in rules:
                rules.append(job.rule)
    order = [*TRAININGS, REWARDING, LABELS, TEXT, LIKELIHOOD, "sampling", "hidden states"]
    return [one for trials in found.values() for one in sorted(trials, key=lambda one: order.index(one.kind))]


def _is_judge(entry: dict) -> bool:
    return entry.get("kind") == "generative"


def _kind(entry: dict) -> str:
    return OF_KIND.get(entry.get("kind", "classifier"), REWARDING)  # one that is trained here has no kind


def model_name(job: Job, entry: dict, models: Models) -> str:
    """Return what a job's model is called: that of a judge that is trained here is its base."""
    return models.settings.think_as_locals.base if "think_as_locals" in entry else job.model.name(entry)


def uses_liger(trial: Trial, models: Models) -> bool:
    """Return whether a trial's jobs train with the kernels of liger-kernel."""
    return models.settings.devices.liger and trial.kind in TRAININGS and trial.kind != "reward training"


@dataclass(frozen=True)
class Speeds:
    """What gpu-check measured, as its file has it. trials: rows with kind, model, rules, result, measured,
    and a speed: tokens_per_s, request_s, step_ms or update_s; on a card also peak_gib and reserved_gib.

    settings: a hash of the scale's settings and of the models' sizes."""

    results: str
    settings: str
    card: str
    trials: Sequence[dict]

    def seconds(self, job: Job, work: Work, models: Models) -> float | None:
        """Return the seconds that a job computes, without start and end; None where nothing measured it, or
        where its work is not counted (ops/work.py)."""
        if not job.on_card:
            return 0.0
        model = model_name(job, job.on_card[0], models)
        of_job = (row for row in self.trials if job.rule in row["rules"] and row["model"] == model)
        row = next(of_job, {})
        if row.get("tokens_per_s"):
            return (work.learns or work.reads) / row["tokens_per_s"] or None
        amounts = {"request_s": work.requests, "step_ms": work.steps / 1e3, "update_s": work.updates}
        return next((amount * row[name] for name, amount in amounts.items() if row.get(name)), None) or None

    def write(self, path: Path) -> None:
        """Write the file."""
        write_text(json.dumps(asdict(self), indent=1) + "\n", path)


def read_speeds(path: Path, models: Models, card: str | None) -> tuple[Speeds | None, str]:
    """Return what gpu-check measured for this very scale and card, else None; and in words what it is.

    card: this machine's, None where it has none: a file of any card then counts.

    Raises:
        PolyrewardError: the file is none of gpu-check's.
    """
    again = "run `polyreward gpu-check` for this scale"
    if not path.is_file():
        return None, f"Nothing was measured of this scale: {again} where it will run."
    try:
        found = Speeds(**json.loads(path.read_text(encoding="utf-8")))
        if not all({"rules", "model", "result"} <= row.keys() for row in found.trials):
            raise KeyError("rules, model, result")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise PolyrewardError(f"{path}: not what `polyreward gpu-check` writes; {again} again") from error
    if found.settings != settings_digest(models):
        return None, f"{path} was measured with other settings, of {found.results}: {again} again."
    if card is not None and card != found.card:
        return None, f"{path} was measured on another card, {found.card}, not on {card}: {again} here."
    return found, f"{path}, measured on {found.card}"


def settings_digest(models: Models) -> str:
    """Return a hash of a scale's settings and of all models that it may name."""
    known = {"models": models.catalog.models, "reward_models": models.catalog.reward_models}
    text = json.dumps([models.settings.model_dump(mode="json"), known], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
