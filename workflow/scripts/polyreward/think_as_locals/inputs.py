"""What the rules of Think-as-Locals read and write: its judges, how they are loaded, and their files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyreward.carb.inputs import Carb
from polyreward.config.scale import half_right
from polyreward.core.naming import Paths
from polyreward.settings.think_as_locals import RewardWeights
from polyreward.settings.think_as_locals import ThinkAsLocals as Settings

WITHOUT_CRITERIA = "no-criteria"  # the run whose judge is trained to say its verdict at once
# The rows of Think-as-Locals in the table of perturbations: {its name there: the judge}
PERTURBED_JUDGES = {
    "locals-base": "base",
    "locals-without-criteria": WITHOUT_CRITERIA,
    "locals-with-criteria": "full",
}
ARTIFACTS = [
    "carb_think_as_locals",
    "carb_locals_sizes",
    "carb_reward_ablation",
    "carb_locals_learning",
    "carb_locals_curves",
    "carb_locals_samples",
]
SIGNS = {
    "correctness": "R_corr",
    "appropriateness": "R_appr",
    "layout": "layout",
}  # of rewards, as the paper writes them
JUDGES = {  # but the runs
    "base": "base, verdict at once",
    "base-with-criteria": "base, with criteria",
    "warmup": "after the warm-up",
    WITHOUT_CRITERIA: "trained without criteria",
}
OURS = [
    *JUDGES,
    "full",
]  # the judges that any scale's comparison may have, but those that were trained elsewhere
TRAINED = "Think-as-Locals"  # what `full` is called in the table of several bases
WARMUPS = {"warmup": True, "warmup-at-once": False}  # {its folder: whether its replies have criteria}


@dataclass(frozen=True)
class ThinkAsLocals:
    """The part of a scale that Think-as-Locals is about: a base, its warm-up, and a training for each choice
    of rewards."""

    carb: Carb

    @property
    def settings(self) -> Settings:
        """The section `think_as_locals` of the configuration."""
        return self.carb.scale.settings.think_as_locals

    @property
    def cultures_trained_on(self) -> list[str]:
        """The cultures on whose held-out topics judges are trained."""
        return self.settings.cultures or self.carb.built_cultures

    @property
    def training_items(self) -> list[str]:
        """The files of items that pairs are made of."""
        return [self.carb.training_items[culture] for culture in self.cultures_trained_on]

    def criteria(self, training: str) -> bool:
        """Return whether a judge of ours writes criteria."""
        return training != WITHOUT_CRITERIA

    def quote(self, training: str) -> int:
        """Return how many characters of an answer a judge of ours names in its last criterion, as its warm-up
        taught it."""
        return self.settings.criteria_quote if self.criteria(training) and self.settings.warmup else 0

    @property
    def repeats(self) -> dict[str, int]:
        """The further trainings of `full`, each with a seed of its own: {name: its number}."""
        return {f"full-{number}": number for number in range(2, self.settings.seeds + 1)}

    def rewards(self, training: str) -> RewardWeights:
        """Return the weights of the rewards of one of runs or repeats."""
        return self.settings.runs["full" if training in self.repeats else training]

    def grpo_seed(self, training: str) -> int:
        """Return the seed of one of runs or repeats: the same for all choices of rewards, so that they see
        the same replies."""
        repeat = [str(self.repeats[training])] if training in self.repeats else []
        return self.carb.scale.job_seed("locals_grpo", *repeat)

    @property
    def learners(self) -> list[str]:
        """The judges whose R_corr is measured on held-out pairs: before any training, after the warm-up, and
        after GRPO."""
        return ["base-with-criteria", *self.writing, *self.repeats]

    @property
    def learner_seeds(self) -> dict[str, list[str]]:
        """{judge: its trainings, one for each seed}."""
        single = {name: [name] for name in self.learners if name not in self.repeats}
        return {**single, "full": ["full", *self.repeats]}

    @property
    def criteria_languages(self) -> list[str]:
        """The languages that the warm-up's criteria are written in."""
        one = self.settings.criteria_language
        return [one] if one else self.cultures_trained_on

    @property
    def trained(self) -> list[str]:
        """The judges that are trained: the warm-up, where there is one, and the runs."""
        return [*(["warmup"] if self.settings.warmup else []), *self.settings.runs]

    @property
    def writing(self) -> list[str]:
        """Those of them that are trained to write criteria."""
        return [name for name in self.trained if self.criteria(name)]

    def written_by(self, judge: str) -> dict:
        """Return the entry of `base`, asked to write criteria and then its verdict, or of one of the trained,
        asked as it was."""
        where = (
            {"model": self.settings.base}
            if judge in ("base", "base-with-criteria")
            else {"think_as_locals": judge}
        )
        verdict = "criteria" if self.criteria(judge) else "no-criteria"
        return {"kind": "generative", "verdict": verdict, **where, **dict(self.settings.judge)}

    @property
    def judges(self) -> dict[str, dict]:
        """{judge: entry} of all that are evaluated; the base gives its verdicts at once, and is asked as all
        others, too."""
        return {
            "base": {**self.written_by("base"), "verdict": "no-criteria"},
            "base-with-criteria": self.written_by("base"),
            **{name: self.written_by(name) for name in self.trained},
            **self.others,
        }

    @property
    def others(self) -> dict[str, dict]:
        """{judge: entry} of those that were trained elsewhere and stand beside ours: of the settings, or of
        the catalog."""
        scale = self.carb.scale
        entries = {**scale.known.reward_models, **scale.configured}
        return {name: entries[name] for name in self.settings.others}

    def model_of(self, judge: str) -> dict:
        """Return the model of one of judges, as JobResources takes it."""
        return self.others.get(judge, self.model)

    @property
    def model(self) -> dict:
        """The model of each of ours, as JobResources takes it."""
        return {"model": self.settings.base, **dict(self.settings.judge)}

    @property
    def sampled(self) -> list[str]:
        """The judges whose replies are shown."""
        return ["base", *(name for name in ("warmup", "full") if name in self.trained)]

    @property
    def compared(self) -> list[str]:
        """The judges of the paper's main table."""
        return ["base", "base-with-criteria", *self.sampled[1:], WITHOUT_CRITERIA, *self.others]

    @property
    def tables(self) -> dict[str, str]:
        """{base: the table of its judges}: of other scales' results as `beside` names them, and last of this
        scale's own."""
        table = "carb_think_as_locals.csv"
        beside = {name: Paths(folder).artifact(table) for name, folder in self.settings.beside.items()}
        return {**beside, self.settings.base: self.carb.scale.paths.artifact(table)}

    @property
    def tables_there(self) -> list[str]:
        """Those of other scales that exist. One that does not is named by the job, once the rest is made, and
        stops no plan."""
        return [
            table
            for name, table in self.tables.items()
            if name != self.settings.base and Path(table).is_file()
        ]

    @property
    def of_claims(self) -> list[str]:
        """The judges that the paper's claims are about."""
        return ["base", *self.writing]

    def name(self, judge: str) -> str:
        """Return what a judge is, in a reader's words."""
        if judge in JUDGES:
            return JUDGES[judge]
        if judge in self.others:
            return judge
        left_out = [SIGNS[reward] for reward, weight in self.settings.runs[judge] if not weight]
        return f"without {' and '.join(left_out)}" if left_out else "all rewards"

    def names(self, judges: Iterable[str]) -> dict[str, str]:
        """Return {judge: what it is, in a reader's words}."""
        return {judge: self.name(judge) for judge in judges}

    def start(self, training: str) -> str:
        """Return the folder that one of runs or repeats starts from: its warm-up's, or the base's where there
        is none."""
        scale = self.carb.scale
        if not self.settings.warmup:
            return scale.base_folder(self.settings.base)
        return scale.paths.locals_model(
            next(name for name, criteria in WARMUPS.items() if criteria == self.criteria(training))
        )

    @property
    def pairs(self) -> dict[str, int]:
        """How many pairs each use gets: {use: count}; no warm-up has none."""
        settings = self.settings
        return {
            "warmup": settings.warmup.pairs if settings.warmup else 0,
            "grpo": settings.grpo.pairs,
            "held_out": settings.held_out,
            "samples": settings.samples,
        }

    @property
    def easy_shares(self) -> dict[str, float]:
        """The share of the warm-up's and of GRPO's pairs that are easy to tell apart: {use: share}."""
        easy = self.settings.easy
        return {use: getattr(easy, use) if easy else 0.0 for use in ("warmup", "grpo")}

    @property
    def easy_files(self) -> list[str]:
        """The rows of the easy pairs, if there are any."""
        easy = self.settings.easy
        return [self.carb.scale.paths.dataset(easy.dataset)] if easy else []

    @property
    def scoring(self) -> dict:
        """How judges are loaded: as all that score, with a budget of tokens of their own."""
        return {**self.carb.scale.scoring, "token_budget": self.settings.judge_token_budget}

    def score_files(self, judges: Sequence[str]) -> dict[str, list[str]]:
        """Return the files of some judges: {rewardbench, carb: scores; replies: what became of them}."""
        files = {"rewardbench": "rewardbench.parquet", "carb": "carb.parquet", "replies": "replies.csv"}
        paths = self.carb.scale.paths
        return {key: [paths.locals_scores(judge, name) for judge in judges] for key, name in files.items()}

    def perturbed_score_files(self, names: Iterable[str]) -> list[str]:
        """Return the scores of rewrites by some of PERTURBED_JUDGES, a file for each culture."""
        paths = self.carb.scale.paths
        return [
            paths.scores("carb_perturbation", name, culture)
            for name in names
            for culture in self.settings.evaluation.cultures
        ]

    def comparison(self, judges: Sequence[str]) -> dict:
        """Return the arguments of a comparison of judges."""
        scale = self.carb.scale
        return {
            "judges": list(judges),
            "benchmark": scale.benchmark_facts(scale.settings.benchmarks.main),
            "cultures": self.settings.evaluation.cultures,
            "domains": self.carb.settings.domains,
            "interval": scale.interval,
            "half_ties": [
                name for name, entry in self.others.items() if name in judges and half_right(entry)
            ],
        }
