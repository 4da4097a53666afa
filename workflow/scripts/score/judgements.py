"""Judge every policy's answers against references. Judge the judge by known pairs and by labelled ones."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.alignment.win_rates import JUDGEMENT_COLUMNS, KNOWN_COLUMNS, LABEL_COLUMNS
from polyreward.core.files import read_jsonl
from polyreward.core.logs import announce
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.prepare.kinds import MADE_OF_WORDS
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Conversations, RewardModel, conversations_of
from polyreward.scoring.pair_question import PairJudge

# How a reference answer is made worse; see prepare/kinds.py.
KINDS = {"off_topic": lambda row: row["rejected"]} | {
    kind: MADE_OF_WORDS[kind] for kind in ("drift", "garble", "cut", "loop", "echo")
}
# Few, so that a judge on a server does not cost much more:
INSTRUCTIONS = 50  # of which known pairs are made
LABELLED = 100  # pairs of each labeller


def judgements(
    answers: Sequence[dict], references: Sequence[dict], judge: RewardModel, language: str
) -> pd.DataFrame:
    """Judge responses (policy, run, id, response) against reference answers (id, prompt, reference).

    A response without a reference is left out; an empty one loses without being judged. win: 1 where the
    judge scores the response above the reference, 0.5 where alike, else 0; if the judge weighs probabilities,
    the response's. margin: the response's score minus the reference's. Lengths in characters."""
    weighs = isinstance(judge, PairJudge) and judge.weighs
    by_id = {row["id"]: row for row in references}
    answers = [row for row in answers if row["id"] in by_id]
    asked = [row for row in answers if row["response"].strip()]
    conversations = [
        Conversations(by_id[row["id"]]["prompt"], (row["response"], by_id[row["id"]]["reference"]))
        for row in asked
    ]
    scored = iter(judge.score(conversations, f"judge, {language}").values if conversations else [])
    records = []
    for row in answers:
        response, reference = row["response"].strip(), by_id[row["id"]]["reference"]
        of_response, of_reference = map(float, next(scored)) if response else (0.0, np.inf)
        margin = of_response - of_reference
        win = of_response if weighs else (np.sign(margin) + 1) / 2
        own = {name: row[name] for name in ("policy", "run", "id")}
        lengths = {"length_response": len(response), "length_reference": len(reference)}
        records.append({"language": language, **own, "win": win, "margin": margin, **lengths})
    table = pd.DataFrame(records, columns=JUDGEMENT_COLUMNS)
    if len(table) and (table["win"] == 0.5).all():
        announce(
            f"judge, {language}: every comparison is a tie. A judge that names the same place for every pair"
            " gives that."
        )
    return table


def known_pairs(references: Sequence[dict]) -> list[dict]:
    """Return pairs of a reference answer and one that a rule made worse: id, kind, prompt, chosen,
    rejected.

    off_topic is another instruction's reference, of about this length; of two partners each rejects what
    the other chooses. references: rows of id, prompt, reference; the first INSTRUCTIONS are used."""
    by_length = sorted(references[:INSTRUCTIONS], key=lambda row: (len(row["reference"]), row["id"]))
    pairs = []
    for one, other in zip(by_length[::2], by_length[1::2], strict=False):
        for row, partner in ((one, other), (other, one)):
            pair = {"id": row["id"], "prompt": row["prompt"], "chosen": row["reference"]}
            made = {kind: make(pair | {"rejected": partner["reference"]}) for kind, make in KINDS.items()}
            pairs += [pair | {"kind": kind, "rejected": text} for kind, text in made.items() if text]
    return [pair for pair in pairs if pair["rejected"] != pair["chosen"]]


def known_judgements(references: Sequence[dict], judge: RewardModel, language: str) -> pd.DataFrame:
    """Return how a judge decides known pairs: language, id, kind, and right, 0.5 for a tie."""
    pairs = known_pairs(references)
    scores = judge.score(conversations_of(pairs), f"known pairs, {language}")
    margins = [chosen - rejected for chosen, rejected in scores.values]
    table = pd.DataFrame(pairs, columns=["id", "kind"])
    return table.assign(language=language, right=(np.sign(margins) + 1) / 2)


def label_judgements(pairs: Mapping[str, Sequence[dict]], judge: RewardModel, language: str) -> pd.DataFrame:
    """Return whether a judge agrees with each labeller's labels: language, id, labeller, same.

    same: 0.5 for a tie. pairs: {labeller: its pairs of a policy's responses}; of each the first LABELLED."""
    rows = [{**pair, "labeller": labeller} for labeller, own in pairs.items() for pair in own[:LABELLED]]
    scores = judge.score(conversations_of(rows), f"labelled pairs, {language}")
    margins = [chosen - rejected for chosen, rejected in scores.values]
    table = pd.DataFrame(rows, columns=["id", "labeller"])
    return table.assign(language=language, same=(np.sign(margins) + 1) / 2)


def main(snakemake):
    params, language = snakemake.params, snakemake.wildcards.language
    judge = load_reward_model(params.entry, params.scoring, params.cache)
    pairs = dict(zip(params.labellers, map(read_jsonl, snakemake.input.pairs), strict=True))
    answers, references = read_jsonl(snakemake.input.answers), read_jsonl(snakemake.input.instructions)
    write_table(
        judgements(answers, references, judge, language), snakemake.output.judgements, JUDGEMENT_COLUMNS
    )
    write_table(known_judgements(references, judge, language), snakemake.output.known, KNOWN_COLUMNS)
    write_table(label_judgements(pairs, judge, language), snakemake.output.labels, LABEL_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
