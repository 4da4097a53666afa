"""What a file of pairs holds, and what a model's chat template makes of it, before any model is loaded."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from statistics import median, quantiles

from polyreward.core.conversations import as_text, conversation_ids, rejected_of
from polyreward.core.errors import PolyrewardError
from polyreward.core.writing import main_script
from polyreward.prepare.pair_files import EXAMPLES, PairFile

SAMPLE = 1000  # rows whose writing systems are counted


@dataclasses.dataclass(frozen=True)
class Rendered:
    """What a tokenizer with its chat template makes of pairs.

    Attributes:
        refused: the template's own words, by id of the row.
        cut: ids of rows with a conversation longer than max_length.
        same: ids of rows in which chosen has the same tokens as a rejected answer.
    """

    refused: dict[str, str]
    cut: list[str]
    same: list[str]

    def lines(self, model: str, max_length: int) -> list[str]:
        """Return a line for each kind of row that is not scored as it is in the file."""
        found = []
        if self.refused:
            row_id, words = next(iter(self.refused.items()))
            found.append(
                f"{model}: its chat template refuses {len(self.refused)} rows, first `{row_id}` ({words});"
                " change their roles, such as a system turn folded into the first user turn, or leave"
                " them out"
            )
        if self.same:
            found.append(
                f"{model}: {len(self.same)} pairs are the same to this model, as its template or max_length"
                f" cuts the difference: {_some(self.same)}"
            )
        if self.cut:
            found.append(
                f"{model}: {len(self.cut)} rows are longer than {max_length} tokens and cut:"
                f" {_some(self.cut)}"
            )
        return found


def render(tokenizer, rows: Sequence[dict], max_length: int) -> Rendered:
    """Tokenise pairs as scoring does, and note what the chat template refuses, cuts, or makes the same."""
    refused, cut, same = {}, [], []
    for row in rows:
        try:
            found = [
                conversation_ids(tokenizer, row["prompt"], one, max_length)
                for one in (row["chosen"], *rejected_of(row))
            ]
        except PolyrewardError as error:
            refused[row["id"]] = str(error)
            continue
        (chosen, _), *others = found
        if any(ids == chosen for ids, _ in others):
            same.append(row["id"])
        if any(was_cut for _, was_cut in found):
            cut.append(row["id"])
    return Rendered(refused, cut, same)


def overview(found: PairFile) -> list[str]:
    """Return lines on a file's subsets, writing systems and lengths."""
    subsets = Counter(row["subset"] for row in found.rows)
    lines = [f"subsets: {_counts(subsets)}"]
    scripts = Counter(main_script(row["chosen"]) for row in found.rows[:SAMPLE])
    lines.append(f"writing systems of chosen: {_counts(scripts)}")
    texts = {
        "prompt": [as_text(row["prompt"]) for row in found.rows],
        "chosen": [row["chosen"] for row in found.rows],
        "rejected": [one for row in found.rows for one in rejected_of(row)],
    }
    for name, values in texts.items():
        lengths = sorted(map(len, values))
        ninth = quantiles(lengths, n=10, method="inclusive")[-1] if len(lengths) > 1 else lengths[0]
        lines.append(
            f"{name}: {len(lengths)} texts, median {median(lengths):.0f} characters, nine in ten up to"
            f" {ninth:.0f}, longest {lengths[-1]}"
        )
    longer = sum(len(row["chosen"]) > max(map(len, rejected_of(row))) for row in found.rows)
    lines.append(f"chosen is the longest answer in {longer / len(found.rows):.0%} of pairs")
    return lines


def _counts(counts: Counter) -> str:
    more = f" and {len(counts) - 12} more" if len(counts) > 12 else ""
    return ", ".join(f"{name} {count}" for name, count in counts.most_common(12)) + more


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:EXAMPLES]) + (", ..." if len(ids) > EXAMPLES else "")
