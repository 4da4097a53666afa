"""The section of Think-as-Locals; "paper" means arXiv 2509.21798 here."""

from typing import Annotated, Any

from pydantic import Field, field_validator

from polyreward.settings.base import (
    Count,
    CountFromZero,
    FromZero,
    GrpoTraining,
    Language,
    Names,
    NamesOrNone,
    PlainName,
    PolicyTraining,
    Section,
    Share,
)

WITHOUT_CRITERIA = "no-criteria"  # the run whose judge is trained to say its verdict at once
WARMUPS = {"warmup": True, "warmup-at-once": False}  # {its folder: whether its replies have criteria}
# Rewards as the paper writes them
SIGNS = {"correctness": "R_corr", "appropriateness": "R_appr", "layout": "layout"}
LABELS = {  # of judges that are no runs
    "base": "base, verdict at once",
    "base-with-criteria": "base, with criteria",
    "warmup": "after the warm-up",
    WITHOUT_CRITERIA: "trained without criteria",
}


class Warmup(PolicyTraining):
    """Supervised training on replies that are written by rule, so that GRPO has something to sample from."""

    pairs: Count
    """Pairs, each in both orders."""


class Easy(Section):
    """Pairs that are easy to tell apart, and whose right answer can be checked."""

    dataset: str
    """A name in workflow/catalog/datasets.yaml. With templates, the wrong answer is the right answer to
    another request."""
    warmup: Share
    """Share of the warm-up's pairs that are of it."""
    grpo: Share
    """Share of GRPO's pairs that are of it; they come first."""


class Grpo(GrpoTraining):
    """Training by group relative policy optimisation."""

    pairs: Count
    """Pairs, none of the warm-up's; each in both orders."""
    gradient_accumulation: Count = 1
    """Forward passes per update, which hold whole questions, half of them with the right answer first."""


class RewardWeights(Section):
    """Weights of the three rewards of GRPO."""

    correctness: FromZero = 1.0
    """Weight of the right verdict."""
    appropriateness: FromZero = 0.1
    """Weight of fitting criteria."""
    layout: FromZero = 1.0
    """Weight of the reply's layout."""


class CriteriaJudge(Section):
    """How all of them are asked when they are evaluated."""

    max_length: Count = 640
    """Tokens of question and reply."""
    max_new_tokens: Count
    """Tokens of a reply."""


class Evaluation(Section):
    """Parts of both benchmarks, chosen by hash, the same for all judges."""

    cultures: Names
    """Some of carb.cultures, in whose rewrites the judges are evaluated too (paper: ar, zh, ja)."""
    benchmark: str | None = None
    """A name in workflow/catalog/benchmarks.yaml, seen in the cultures' languages; null for the main
    benchmark, in those of them that the scale has, or in all of the scale's (paper: M-RewardBench)."""
    items_per_cell: Count | None
    """Items of each culture and domain; null for all."""
    rows_per_subset: Count | None
    """Rows of each subset of the main benchmark, in each language; null for all."""


class ThinkAsLocals(Section):
    """Think-as-Locals: a judge writes criteria as a local would set them, then its verdict."""

    base: str
    """A name in workflow/catalog/models.yaml (paper: Qwen2.5 7B, 14B and 32B Instruct)."""
    datasets: NamesOrNone = []
    """Preference data for GRPO next to the held-out topics: names in workflow/catalog/datasets.yaml (paper:
    HelpSteer3, CARE)."""
    data_shares: dict[str, Annotated[float, Field(gt=0, le=1)]] = {}
    """{source: share of GRPO's pairs that are not easy}; sources are `datasets`, and `own` for the held-out
    topics. The rest is drawn at random from all."""
    cultures: Names | None
    """Those whose held-out topics judges are trained on; null for all."""
    easy: Easy | None
    """Easy pairs in the warm-up, and first in GRPO; null for none."""
    criteria: str = "resources/carb/criteria.yaml"
    """YAML file that the warm-up's criteria are written from."""
    criteria_language: Language | None = "en"
    """Language of the warm-up's criteria; null for each item's own."""
    criteria_quote: CountFromZero = 24
    """Final characters of the right answer that a warm-up reply's last criterion quotes, before its label; in
    GRPO every reply must quote an answer like this. 0 for none."""
    warmup: Warmup | None
    """Supervised training before GRPO; null for none (paper: none)."""
    grpo: Grpo
    """Training by GRPO."""
    runs: dict[PlainName, RewardWeights] = Field(json_schema_extra={"required": ["full", "no-criteria"]})
    """Weights of the rewards by run; `full` is the method, `no-criteria` says its verdict at once (paper: the
    same)."""
    judge: CriteriaJudge
    """How all of them are asked when they are evaluated."""
    judge_token_budget: Count = 8192
    """Tokens per padded batch when these judges are asked; instead of scoring.token_budget."""
    evaluation: Evaluation
    """What they are evaluated on."""
    others: NamesOrNone = []
    """Judges that were trained elsewhere, as rows next to ours: generative entries of
    workflow/catalog/reward_models.yaml or of reward_models. One with a `question` is asked it about every two
    answers (paper: RM-R1-Qwen2.5-Instruct-7B)."""
    held_out: Count
    """Items with a held-out pair, on which R_corr is measured before and after training. GRPO takes their
    other pairs first."""
    seeds: Count
    """Trainings of `full`, each with its own seed; carb_locals_learning has all, others the first."""

    @field_validator("runs")
    @classmethod
    def _without_criteria_last(cls, runs: dict) -> dict:
        """Return the runs in the order of the tables, whatever an overlay adds."""
        return dict(sorted(runs.items(), key=lambda run: run[0] == WITHOUT_CRITERIA))

    @property
    def repeats(self) -> list[str]:
        """The further trainings of `full`, each with a seed of its own."""
        return [f"full-{number}" for number in range(2, self.seeds + 1)]

    @property
    def labels(self) -> dict[str, str]:
        """{judge: what readers call it}."""
        labels = {**{name: name for name in self.others}, **LABELS}
        for run, weights in self.runs.items():
            left_out = [SIGNS[reward] for reward, weight in weights if not weight]
            labels.setdefault(run, f"without {' and '.join(left_out)}" if left_out else "all rewards")
        return labels

    def training(self, run: str) -> dict[str, Any]:
        """Return a training's rewards with their weights, whether its judge writes criteria, and their quote.

        quote: how many characters of an answer a judge names in its last criterion."""
        criteria = run != WITHOUT_CRITERIA
        quote = self.criteria_quote if criteria and self.warmup else 0
        return {
            "rewards": self.runs["full" if run in self.repeats else run],
            "criteria": criteria,
            "quote": quote,
        }
