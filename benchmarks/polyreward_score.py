"""Score a file of pairs once with polyreward and write how long the scoring took; against_rewardbench.py
calls it.

`polyreward_score.py MEASURED.json THREADS MODEL PAIRS.jsonl DTYPE`"""

import json
import sys

import torch
from common import CONFIG, conversations_of, counted, run, seconds

from polyreward.core.files import read_jsonl, write_text
from polyreward.scoring.load import load_classifier
from polyreward.scoring.tokens import tokenized


def main() -> None:
    """Load the model, score, and write seconds, tokens and rewards in the order of the pairs."""
    path, threads, folder, pairs, dtype = sys.argv[1:]
    torch.set_num_threads(int(threads))
    model = load_classifier(folder, **{**CONFIG["scoring"], "dtype": dtype})
    conversations, found = conversations_of(read_jsonl(pairs)), []
    with counted(model.model.get_decoder()) as work:
        elapsed = seconds(lambda: found.append(model.score(conversations, "polyreward")))
    texts = tokenized(model.tokenizer, conversations, model.max_length)
    measured = {
        "seconds": elapsed,
        "computed_tokens": work.tokens,
        "real_tokens": sum(
            len(texts.groups[group][member]) for places in texts.places for group, member in places
        ),
        "rewards": [list(map(float, values)) for values in found[0].values],
    }
    write_text(json.dumps(measured), path)


if __name__ == "__main__":
    run(main)
