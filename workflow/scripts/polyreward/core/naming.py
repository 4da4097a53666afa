"""Names and paths; standard library only, since the Snakefile imports this."""

import dataclasses
import re
from collections.abc import Iterable

TEXT_BASELINES = ["length", "tfidf-answer", "tfidf-prompt-answer"]
BASE_BASELINES = ["probe", "loglik", "pmi"]  # of each base; in names before it: probe-<base>
BEST_OF_N, GRPO = "best-of-n", "grpo"  # a reward model chose of several answers, or trained who writes them
COMMIT = re.compile(r"[0-9a-f]{40}")  # of a repository of the hub; a branch or a tag may move
MODEL = re.compile(r"^(?P<base>[A-Za-z0-9.-]+)_(?P<language>[a-z]{2,3})(?:_seed(?P<seed>[1-9]\d*))?\Z")


def seed_suffix(seed: int) -> str:
    """Return what a name ends with by its seed, of which the first is not named."""
    return f"_seed{seed}" if seed > 1 else ""


@dataclasses.dataclass(frozen=True)
class ModelName:
    """A trained reward model's name: base, training language (ISO 639-1), and which of the seeds, from 1."""

    base: str
    language: str
    seed: int = 1

    def __str__(self) -> str:
        """Return the name as in files and tables."""
        return f"{self.base}_{self.language}{seed_suffix(self.seed)}"

    @classmethod
    def parse(cls, name: str) -> "ModelName":
        """Read a name; raise ValueError where it is none."""
        if not (match := MODEL.match(name)):
            raise ValueError(
                f"`{name}` is no model name; write <base>_<language> or <base>_<language>_seed<n>"
            )
        return cls(match["base"], match["language"], int(match["seed"] or 1))


def hub_name(repository: str, revision: str) -> str:
    """Return what files call a repository of the hub (owner/name) at a revision."""
    return f"{repository}@{revision}".replace("/", "--")


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression that matches any of the names, or nothing where there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


class Paths:
    """Where stages keep what several rooms name, below a scale's results folder; rules have the rest."""

    def __init__(self, results: str):
        self.results = results
        self.work = f"{results}/work"

    def artifact(self, name: str) -> str:
        """Return the path of a table or figure."""
        return f"{self.results}/{name}"

    def revision(self, kind: str, repository: str) -> str:
        """Return the record of a commit; kind: model or dataset; repository: as from hub_name."""
        return f"{self.work}/1_sources/revisions/{kind}/{repository}.yaml"

    def judge_question(self, question: str) -> str:
        """Return a question to judges in its published words."""
        return f"{self.work}/1_sources/judge_questions/{question}.yaml"

    def dataset(self, dataset: str) -> str:
        """Return the raw rows of a dataset."""
        return f"{self.work}/1_sources/data/{dataset}.jsonl"

    def prepared(self, rowset: str) -> str:
        """Return the English rows of `train`, `dev` or a benchmark."""
        return f"{self.work}/2_prepared/{rowset}.jsonl"

    def carb_step(self, name: str) -> str:
        """Return what a step of CARB's construction leaves for the next one."""
        return f"{self.work}/2_prepared/carb/steps/{name}"

    def carb_items(self, culture: str) -> str:
        """Return one culture's items."""
        return f"{self.work}/2_prepared/carb/{culture}.jsonl"

    def translated(self, rowset: str, language: str) -> str:
        """Return the rows of a set in one language: JSON Lines of id, subset, prompt, chosen, rejected."""
        return f"{self.work}/3_translated/{rowset}/{language}.jsonl"

    def model(self, model: str) -> str:
        """Return the folder of a trained reward model."""
        return f"{self.work}/4_models/{model}"

    def locals_model(self, name: str) -> str:
        """Return the folder of a judge: `warmup`, or one trained by GRPO, named by its rewards."""
        return self.model(f"locals/{name}")

    def policy(self, name: str) -> str:
        """Return the folder of a policy."""
        return self.model(f"policies/{name}")

    def scores(self, benchmark: str, scorer: str, language: str) -> str:
        """Return the scores of one scorer (a reward model or a baseline) on one benchmark and language."""
        return f"{self.work}/5_scores/{benchmark}/{scorer}/{language}.parquet"

    def scores_cache(self, scorer: str) -> str:
        """Return the folder of a server's replies to a judge, and of scores that a job which failed had
        finished; a rerun reads both."""
        return f"{self.work}/5_scores/replies/{scorer}"

    def analysis(self, name: str) -> str:
        """Return a file of the analysis stage."""
        return f"{self.work}/6_analysis/{name}"
