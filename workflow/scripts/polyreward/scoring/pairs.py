"""From preference rows to a table of scores."""

import dataclasses
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from polyreward.core.errors import PolyrewardError, is_outage, lacks_memory
from polyreward.core.files import read_jsonl
from polyreward.core.logs import announce, unannounced
from polyreward.core.seals import intact
from polyreward.core.tables import parse_score_path, write_scores
from polyreward.scoring import finished
from polyreward.scoring.interface import Composite, RewardModel, Scores, conversations_of

logger = logging.getLogger(__name__)
# Batching moves a margin in fp32 by less: 4e-5 at most on the mini models
FP32_NOISE = 1e-4
NOISE_SAMPLE = 16  # rows
NAMED = 10  # ids in a message


def write_row_scores(
    reward_model: RewardModel,
    rows: Iterable[str | Path],
    outputs: Iterable[str | Path],
    kept: Mapping[str, Path] | None = None,
) -> None:
    """Score rows by one reward model, and write a score file for each benchmark and language.

    rows: `<benchmark>/<language>.jsonl`, in any order. outputs: `<benchmark>/<scorer>/<language>.parquet`.
    kept: {output: its copy, as from finished.kept_files}; one that is there is not scored again."""
    files = {(Path(path).parent.name, Path(path).stem): path for path in rows}
    for output in outputs:
        named = parse_score_path(output)
        own = read_jsonl(files[named["benchmark"], named["language"]])
        copy = kept.get(output) if kept else None
        if copy and copy.is_file():
            finished.copy(intact(copy), output)
            announce(f"{output}: not scored again, a run that failed had finished it")
            continue
        write_scores(score_rows(reward_model, own, str(output)), output, **named)
        if copy:
            finished.copy(output, copy)


def score_rows(reward_model: RewardModel, rows: Sequence[dict], label: str) -> pd.DataFrame:
    """Score evaluation rows; return the columns of `score_table`, truncated_share and within_noise.

    score_rejected: the highest of the rejected. within_noise: the margin is no larger than `margin_noise`.
    Raises PolyrewardError that names rows whose scores are NaN or infinite."""
    scores = _scored(reward_model, rows, label)
    chosen, rejected = _chosen_and_best(scores.values)
    table, margins = score_table(rows, chosen, rejected), chosen - rejected
    equal = table["id"][margins == 0]
    if len(equal):
        announce(
            f"{label}: {len(equal)} of {len(table)} pairs have the same score twice, which counts as wrong:"
            f" {', '.join(equal.head(NAMED))}. A chat template or max_length may cut what differs;"
            " `polyreward inspect FILE --model MODEL` says which"
        )
    noise = margin_noise(reward_model, rows, margins)
    return table.assign(
        truncated_share=[cut.mean() for cut in scores.truncated], within_noise=np.abs(margins) <= noise
    )


def _scored(reward_model: RewardModel, rows: Sequence[dict], label: str) -> Scores:
    """Score rows; raise PolyrewardError with the row and the cause where a model fails on one."""
    try:
        return reward_model.score(conversations_of(rows), label)
    except PolyrewardError:
        raise
    except Exception as error:  # a model's code raises what it likes
        if lacks_memory(error) or is_outage(error):
            raise
        for row in rows if len(rows) > 1 else ():
            with unannounced():
                _scored(reward_model, [row], label)
        logger.info("the model failed", exc_info=error)
        one = f"row `{rows[0]['id']}`" if len(rows) == 1 else f"these {len(rows)} rows together"
        raise PolyrewardError(
            f"{label}: the model fails on {one} ({type(error).__name__}: {str(error)[:300]}); try another"
            " --attention or --token-budget, or leave the row or the model out"
        ) from error


def margin_noise(reward_model: RewardModel, rows: Sequence[dict], margins: np.ndarray) -> float:
    """Return by how much the margins of rows may move when the same rows are batched in another way.

    Below fp32, this scores the first rows again, each text by itself."""
    if reward_model.exact:
        return FP32_NOISE
    again = unbatched(reward_model).score(conversations_of(rows[:NOISE_SAMPLE]), "noise").values
    chosen, rejected = _chosen_and_best(again)
    return float(np.abs(chosen - rejected - margins[:NOISE_SAMPLE]).max())


def unbatched(model: Any) -> Any:
    """Return the same model that runs each text by itself."""
    from polyreward.scoring.tokens import TextModel  # imports torch, which text baselines do without

    if isinstance(model, TextModel):
        return dataclasses.replace(model, token_budget=1, share=False)
    if isinstance(model, Composite):
        parts = {name: unbatched(part) for name, part in vars(model).items() if hasattr(part, "exact")}
        return dataclasses.replace(cast("Any", model), **parts)
    return dataclasses.replace(model, concurrency=1) if hasattr(model, "concurrency") else model


def _chosen_and_best(values: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array([(own[0], own[1:].max()) for own in values], dtype="float64").reshape(-1, 2)
    return both[:, 0], both[:, 1]


def score_table(rows: Sequence[dict], chosen: Sequence[float], rejected: Sequence[float]) -> pd.DataFrame:
    """Return id, template, subset, category, score_chosen and score_rejected of each row.

    A row without a template is its own, by its id. Raises PolyrewardError that names rows whose scores are
    NaN or infinite."""
    table = pd.DataFrame(
        {
            "id": [row["id"] for row in rows],
            "template": [row.get("template") or row["id"] for row in rows],
            "subset": [row["subset"] for row in rows],
            "category": [row["category"] for row in rows],
            "score_chosen": np.asarray(chosen, dtype="float64"),
            "score_rejected": np.asarray(rejected, dtype="float64"),
        }
    )
    bad = table[~np.isfinite(table[["score_chosen", "score_rejected"]]).all(axis=1)]
    if len(bad):
        listed = ", ".join(bad["id"].head(NAMED))
        raise PolyrewardError(
            f"the scores of {len(bad)} rows are NaN or infinite ({listed}); try `dtype: float32`, or leave"
            " the scorer out"
        )
    return table
