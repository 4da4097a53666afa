"""What the rules of Think-as-Locals read and write: its judges, how they are loaded, and their files."""

from collections.abc import Iterable, Sequence

from polyreward.carb.inputs import Carb
from polyreward.config.scale import ties_count_half
from polyreward.settings.think_as_locals import RewardWeights

WITHOUT_CRITERIA = "no-criteria"  # the run whose judge is trained to say its verdict at once
# The rows of Think-as-Locals in the table of perturbations: {its name there: the judge}
PERTURBED_JUDGES = {
    "locals-base": "base",
    "locals-without-criteria": WITHOUT_CRITERIA,
    "locals-with-criteria": "full",
}
ARTIFACTS = ["carb_think_as_locals", "carb_reward_ablation", "carb_locals_learning", "carb_locals_curves"]
# Rewards as the paper writes them
SIGNS = {"correctness": "R_corr", "appropriateness": "R_appr", "layout": "layout"}
JUDGES = {  # but the runs
    "base": "base, verdict at once",
    "base-with-criteria": "base, with criteria",
    "warmup": "after the warm-up",
    WITHOUT_CRITERIA: "trained without criteria",
}
WARMUPS = {"warmup": True, "warmup-at-once": False}  # {its folder: whether its replies have criteria}


class ThinkAsLocals:
    """A scale's part of Think-as-Locals: a base, its warm-up, and a training for each choice of rewards."""

    def __init__(self, carb: Carb):
        self.carb, self.scale = carb, carb.scale
        self.settings = settings = self.scale.settings.think_as_locals
        known, warmup, easy = self.scale.known, settings.warmup, settings.easy
        cultures = settings.cultures or carb.built_cultures
        self.training_items = [carb.training_items[culture] for culture in cultures]
        self.criteria_languages = [settings.criteria_language] if settings.criteria_language else cultures
        # Further trainings of `full`, each with a seed of its own: {name: its number}
        self.repeats = {f"full-{number}": number for number in range(2, settings.seeds + 1)}
        self.trained = [*(["warmup"] if warmup else []), *settings.runs]
        self.writing = [name for name in self.trained if self.criteria(name)]
        self.of_claims = ["base", "base-with-criteria", *self.writing]
        # Their R_corr is measured on held-out pairs: {judge: its trainings, one for each seed}
        self.learner_seeds = {name: [name] for name in ["base-with-criteria", *self.writing]}
        self.learner_seeds["full"] += self.repeats
        self.learners = ["base-with-criteria", *self.writing, *self.repeats]
        self.model = {"model": settings.base, **dict(settings.judge)}
        elsewhere = {**known.reward_models, **self.scale.configured}
        self.others = {name: elsewhere[name] for name in settings.others}
        self.judges = {
            "base": {**self.written_by("base"), "verdict": "no-criteria"},
            "base-with-criteria": self.written_by("base"),
            **{name: self.written_by(name) for name in self.trained},
            **self.others,
        }
        main = ["base", "base-with-criteria", "warmup", "full", WITHOUT_CRITERIA]  # the paper's main table
        self.compared = [*(name for name in main if name in self.judges), *self.others]
        self.pairs = {
            "warmup": warmup.pairs if warmup else 0,
            "grpo": settings.grpo.pairs,
            "held_out": settings.held_out,
        }
        self.easy_shares = {use: getattr(easy, use) if easy else 0.0 for use in ("warmup", "grpo")}
        self.easy_files = [self.scale.paths.dataset(easy.dataset)] if easy else []
        # The benchmark next to CARB, and its rows
        evaluation = settings.evaluation
        self.benchmark = evaluation.benchmark or self.scale.settings.benchmarks.main
        self.languages = evaluation.cultures if evaluation.benchmark else self.scale.languages
        self.rows = [self.scale.paths.translated(self.benchmark, language) for language in self.languages]
        self.scoring = {**self.scale.scoring, "token_budget": settings.judge_token_budget}

    def criteria(self, training: str) -> bool:
        """Return whether a judge of ours writes criteria."""
        return training != WITHOUT_CRITERIA

    def quote(self, training: str) -> int:
        """Return how many characters of an answer a judge names in its last criterion."""
        return self.settings.criteria_quote if self.criteria(training) and self.settings.warmup else 0

    def rewards(self, training: str) -> RewardWeights:
        """Return the weights of the rewards of one of runs or repeats."""
        return self.settings.runs["full" if training in self.repeats else training]

    def grpo_seed(self, training: str) -> int:
        """Return the seed of a training: the same for all runs."""
        repeat = [str(self.repeats[training])] if training in self.repeats else []
        return self.scale.job_seed("locals_grpo", *repeat)

    def written_by(self, judge: str) -> dict:
        """Return the entry of the base, or of a trained judge."""
        is_base = judge in ("base", "base-with-criteria")
        where = {"model": self.settings.base} if is_base else {"think_as_locals": judge}
        verdict = "criteria" if self.criteria(judge) else "no-criteria"
        return {"kind": "generative", "verdict": verdict, **where, **dict(self.settings.judge)}

    def model_of(self, judge: str) -> dict:
        """Return the model of one of judges, as JobResources takes it."""
        return self.others.get(judge, self.model)

    def names(self, judges: Iterable[str]) -> dict[str, str]:
        """Return {judge: what readers call it}."""
        names = {**{name: name for name in self.others}, **JUDGES}
        for run, weights in self.settings.runs.items():
            left_out = [SIGNS[reward] for reward, weight in weights if not weight]
            names.setdefault(run, f"without {' and '.join(left_out)}" if left_out else "all rewards")
        return {judge: names[judge] for judge in judges}

    def start(self, training: str) -> str:
        """Return the folder that a training starts from."""
        if not self.settings.warmup:
            return self.scale.base_folder(self.settings.base)
        warmup = next(name for name, criteria in WARMUPS.items() if criteria == self.criteria(training))
        return self.scale.paths.locals_model(warmup)

    def score_files(self, judges: Sequence[str]) -> dict[str, list[str]]:
        """Return the files of some judges: {rewardbench, carb, replies}."""
        files = {"rewardbench": "rewardbench.parquet", "carb": "carb.parquet", "replies": "replies.csv"}
        folder = f"{self.scale.paths.work}/5_scores/locals"
        return {key: [f"{folder}/{judge}/{name}" for judge in judges] for key, name in files.items()}

    def perturbed_score_files(self, names: Iterable[str]) -> list[str]:
        """Return the scores of rewrites by some of PERTURBED_JUDGES."""
        paths, cultures = self.scale.paths, self.settings.evaluation.cultures
        return [paths.scores("carb_perturbation", name, culture) for name in names for culture in cultures]

    def comparison(self, judges: Sequence[str]) -> dict:
        """Return the arguments of a comparison of judges."""
        halved = [name for name, entry in self.others.items() if name in judges and ties_count_half(entry)]
        return {
            "judges": list(judges),
            "benchmark": self.scale.benchmark_facts(self.benchmark),
            "cultures": self.settings.evaluation.cultures,
            "domains": self.carb.settings.domains,
            "interval": self.scale.interval,
            "half_credit": halved,
        }
