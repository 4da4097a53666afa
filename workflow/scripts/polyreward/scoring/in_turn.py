"""Several reward models of one base on several sets of rows, in one job: each is loaded once, and what they
share is run once."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_scores
from polyreward.scoring.classifier import with_memory
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows


class Scoring(NamedTuple):
    """One file of scores to make: the folder of a reward model, a JSON Lines file of evaluation rows, the
    parquet file."""

    model: str | Path
    rows: str | Path
    scores: str | Path


def score_in_turn(work: Sequence[Scoring], settings: dict, top_layers: int) -> None:
    """Make files of scores, those of one model together.

    settings: as load_classifier takes them. top_layers: where only so many of a model's top layers are its
    own, what the layers below make of a text is computed once for all models; 0 where all layers are."""
    states: dict = {}
    for model, of_model in groupby(work, key=lambda one: one.model):
        reward_model = with_memory(load_classifier(model, **settings), top_layers, states)
        for one in of_model:
            write_scores(score_rows(reward_model, read_jsonl(one.rows), str(one.scores)), one.scores)
