"""What a file of pairs holds, and what a model's chat template makes of it, before any model is loaded."""

from collections import Counter
from collections.abc import Sequence

from polyreward.core.conversations import conversation_ids, rejected_of
from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import PairFile, examples_of

LISTED = 12  # subsets


def template_remarks(
    tokenizer, rows: Sequence[dict], model: str, max_length: int
) -> tuple[str | None, list[str]]:
    """Tokenise pairs as scoring does.

    Returns:
        A line on the rows that the chat template refuses, or None; and lines on rows made equal or cut.
    """
    refused, cut, same = {}, [], []
    for row in rows:
        answers = (row["chosen"], *rejected_of(row))
        try:
            found = [conversation_ids(tokenizer, row["prompt"], one, max_length) for one in answers]
        except PolyrewardError as error:
            refused[row["id"]] = str(error)
            continue
        (chosen, _), *others = found
        if any(ids == chosen for ids, _ in others):
            same.append(row["id"])
        if any(was_cut for _, was_cut in found):
            cut.append(row["id"])
    refusal, remarks = None, []
    if refused:
        row_id, words = next(iter(refused.items()))
        refusal = (
            f"{model}: its chat template refuses {len(refused)} rows, first `{row_id}` ({words}); change"
            " their roles, such as a system turn folded into the first user turn, or leave them out"
        )
    if same:
        remarks.append(
            f"{model}: {len(same)} pairs are the same to this model, as its template or max_length cuts the"
            f" difference: {examples_of(same)}"
        )
    if cut:
        remarks.append(
            f"{model}: {len(cut)} rows are longer than {max_length} tokens and cut: {examples_of(cut)}"
        )
    return refusal, remarks


def overview(found: PairFile) -> list[str]:
    """Return lines on a file's subsets and on which answers are longest."""
    subsets = Counter(row["subset"] for row in found.rows)
    more = f" and {len(subsets) - LISTED} more" if len(subsets) > LISTED else ""
    counts = ", ".join(f"{name} {count}" for name, count in subsets.most_common(LISTED)) + more
    longer = sum(len(row["chosen"]) > max(map(len, rejected_of(row))) for row in found.rows)
    share = f"chosen is the longest answer in {longer / len(found.rows):.0%} of pairs"
    return [f"subsets: {counts}", share]
