"""Score rewritten answers, and the same answers in all languages, by one reward model."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from polyreward.carb.scores import load_scorer, write_item_scores
from polyreward.core.tables import parse_score_path, write_table
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run
from polyreward.scoring.interface import Composite, Conversations, RewardModel, Scores
from polyreward.think_as_locals.replies import REPLY_COLUMNS, replies_of, reply_counts


@dataclasses.dataclass(frozen=True)
class AgainstFirst(Composite):
    """A judge that sees each answer next to the item's first one, in both orders.

    By labels a score is the mean log-odds (nats) of preferring the answer to the first one; in words, the
    difference of their shares of the replies."""

    judge: RewardModel

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer against the first one of its prompt, all pairs together."""
        pairs = [
            Conversations(prompt, (answers[0], answer))
            for prompt, answers in conversations
            for answer in answers[1:]
        ]
        judged = self.judge.score(pairs, label)
        margins = np.array([scores[1] - scores[0] for scores in judged.values])
        cut = np.array([both.any() for both in judged.truncated])
        ends = np.cumsum([len(answers) - 1 for _, answers in conversations])[:-1]
        values = [np.append(0.0, of_prompt) for of_prompt in np.split(margins, ends)]
        truncated = [np.append(of_prompt.any(), of_prompt) for of_prompt in np.split(cut, ends)]
        return Scores(values, truncated)


def comparable(reward_model: RewardModel, kind: str) -> RewardModel:
    """Return a judge as AgainstFirst, and any other itself: its scores of one prompt can be subtracted."""
    return AgainstFirst(reward_model) if kind == "generative" else reward_model


def main(snakemake):
    params, inputs, files = snakemake.params, snakemake.input, snakemake.output
    name, replies = snakemake.wildcards.scorer, []
    scores = {path: parse_score_path(path) for path in files.scores}
    with scores_or_reason(scores, name, params.may_be_missing):
        scorer = load_scorer(params.entry, params.scoring, params.cache, inputs.frozen)
        compared = comparable(scorer, params.entry["kind"])
        write_item_scores({name: compared}, inputs.item_files, scores, name)
        replies = replies_of(scorer)
    write_table(reply_counts(name, replies), files.replies, REPLY_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
