"""Score one judge on a part of the translated benchmark and of CARB, and count its replies."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.core.conversations import as_text
from polyreward.core.draws import drawn, in_every_language
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_scores, write_table
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Composite, Conversations, RewardModel, Scores, conversations_of
from polyreward.scoring.knockout import Knockout, first_round
from polyreward.scoring.pairs import score_table
from polyreward.think_as_locals.replies import REPLY_COLUMNS, replies_of, reply_counts


@dataclasses.dataclass(frozen=True)
class Recorder(Composite):
    """A judge whose scores are kept. kept: {(prompt as text, answers): their scores} of all that it saw."""

    judge: RewardModel
    kept: dict[tuple[str, tuple[str, ...]], np.ndarray] = dataclasses.field(
        default_factory=dict, compare=False
    )

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer, and keep the scores."""
        found = self.judge.score(conversations, label)
        shown = [(as_text(prompt), answers) for prompt, answers in conversations]
        self.kept.update(zip(shown, found.values, strict=True))
        return found


def asked(
    rows: Mapping[str, Sequence[dict]],
    items: Sequence[dict],
    rows_per_subset: int | None,
    items_per_cell: int | None,
    seed: int,
) -> tuple[dict[str, list[dict]], list[dict]]:
    """Return the parts of both benchmarks that all judges are asked about, drawn by hash.

    rows: {language: rows}; those that every language has are drawn from. items_per_cell: how many of each
    culture and domain; None for all."""
    draw, rows = (seed, "locals", "evaluation"), in_every_language(rows)
    of_rows = {name: drawn(own, ["subset"], rows_per_subset, *draw) for name, own in rows.items()}
    return of_rows, drawn(items, ["culture", "domain"], items_per_cell, *draw)


def row_scores(judge: RewardModel, rows: Mapping[str, Sequence[dict]], label: str) -> pd.DataFrame:
    """Score preference rows, {language: rows}, at once; return the columns of `score_table`, and language."""
    every = [{**row, "language": language} for language, own in rows.items() for row in own]
    values = judge.score(conversations_of(every), label).values
    table = score_table(every, [own[0] for own in values], [own[1] for own in values])
    return table.assign(language=[row["language"] for row in every])


def knockout_scores(judge: RewardModel, items: Sequence[dict], seed: int, label: str) -> pd.DataFrame:
    """Return a row per answer of some items in a knock-out of twos: its score is its matches won."""
    conversations = [Conversations(item["prompt"], tuple(item["answers"])) for item in items]
    values = Knockout(judge, seed).score(conversations, label).values
    records = [
        (
            item["id"],
            item["topic"],
            item["culture"],
            item["domain"],
            number,
            number == item["chosen"],
            float(score),
        )
        for item, scores in zip(items, values, strict=True)
        for number, score in enumerate(scores)
    ]
    columns = ["id", "template", "language", "domain", "candidate", "is_chosen", "score"]
    return pd.DataFrame(records, columns=columns)


def match_scores(judge: Recorder, items: Sequence[dict], seed: int) -> pd.DataFrame:
    """Return the scores of the first round of a judge's knock-out: id (<item>/<match>), candidate, score.

    Its matches are between answers drawn at random, so that they tell how far a judge's scores of one item's
    answers spread. seed: the knock-out's."""
    records = []
    for item in items:
        prompt, answers = item["prompt"], tuple(item["answers"])
        for number, pair in enumerate(first_round(Conversations(prompt, answers), seed)):
            scores = judge.kept[as_text(prompt), tuple(answers[candidate] for candidate in pair)]
            for candidate, score in zip(pair, scores, strict=True):
                records.append((f"{item['id']}/{number}", item["culture"], candidate, float(score)))
    return pd.DataFrame(records, columns=["id", "language", "candidate", "score"])


def main(snakemake):
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    name, replies = snakemake.wildcards.judge, []
    of_language = {Path(path).stem: path for path in files.rows}
    every = {language: read_jsonl(of_language[language]) for language in params.languages}
    items = read_jsonl(files.item_files)
    rows, items = asked(every, items, **params.part, seed=params.seed)
    benchmarks = {output.rewardbench: params.benchmark, output.carb: "carb", output.matches: "carb_matches"}
    scores = {path: {"benchmark": benchmark, "scorer": name} for path, benchmark in benchmarks.items()}
    with scores_or_reason(scores, name, params.may_be_missing):
        judge = load_reward_model(params.entry, params.scoring, params.cache)
        table = row_scores(judge, rows, f"{name}, benchmark")
        write_scores(table, output.rewardbench, **scores[output.rewardbench])
        recorder = Recorder(judge)
        table = knockout_scores(recorder, items, params.seed, f"{name}, CARB")
        write_scores(table, output.carb, **scores[output.carb])
        table = match_scores(recorder, items, params.seed)
        write_scores(table, output.matches, **scores[output.matches])
        replies = replies_of(judge)
    write_table(reply_counts(name, replies), output.replies, REPLY_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
