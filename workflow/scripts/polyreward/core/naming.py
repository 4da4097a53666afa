"""Names and paths; standard library only, since the Snakefile imports this."""

import dataclasses
import re
from collections.abc import Iterable

TEXT_BASELINES = ["length", "tfidf-answer", "tfidf-prompt-answer"]
OF_BASES = ("probe", "loglik", "pmi")  # baselines of each untrained base
UNTRAINED = ("probe", "pmi")  # those with which training is compared
BEST_OF_N, GRPO = "best-of-n", "grpo"  # a reward model chose of several answers, or trained who writes them
STAGES = {
    "sources": "1_sources",
    "prepared": "2_prepared",
    "translated": "3_translated",
    "models": "4_models",
    "scores": "5_scores",
    "analysis": "6_analysis",
}
COMMIT = re.compile(r"[0-9a-f]{40}")  # of a repository of the hub; a branch or a tag may move
TAUGHT = "-taught"
MODEL = re.compile(r"^(?P<base>[A-Za-z0-9.-]+)_(?P<language>[a-z]{2,3})(?:_seed(?P<seed>[1-9]\d*))?\Z")


def of_base(kind: str, base: str) -> str:
    """Return the name of a baseline of an untrained base; kind: one of OF_BASES."""
    return f"{kind}-{base}"


def seed_suffix(seed: int) -> str:
    """Return what a name ends with by its seed, of which the first is not named."""
    return f"_seed{seed}" if seed > 1 else ""


def taught(model: str) -> str:
    """Return the name of a reward model that had lessons on place quartets."""
    return f"{model}{TAUGHT}"


def without_lessons(model: str) -> str:
    """Return the name of the same reward model without lessons."""
    return model.removesuffix(TAUGHT)


def is_taught(model: str) -> bool:
    """Return whether a name is of such a model."""
    return model.endswith(TAUGHT)


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


def stage(results: str, name: str, file: str) -> str:
    """Return a file of a stage, as the Snakefile's pathvars have it; name: one of STAGES."""
    return f"{results}/work/{STAGES[name]}/{file}"


def score_file(results: str, benchmark: str, scorer: str, language: str) -> str:
    """Return the scores of one scorer on one benchmark and language."""
    return stage(results, "scores", f"{benchmark}/{scorer}/{language}.parquet")
