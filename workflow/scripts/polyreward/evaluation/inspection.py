"""What a file of pairs holds, and what a model's chat template makes of it, before any model is loaded."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from polyreward.core.conversations import (
    TemplateRefusalError,
    as_messages,
    as_turns,
    contents,
    conversation_ids,
    generation_header,
    lost_turns,
    rejected_of,
    shown_whole,
)
from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import PairFile, examples_of

LISTED = 12  # subsets


def template_remarks(
    tokenizer, rows: Sequence[dict], model: str, max_length: int
) -> tuple[str | None, list[str]]:
    """Tokenise pairs as scoring does.

    Returns:
        A line on the rows that the chat template refuses or whose answers it leaves out, or None. Then lines
        on rows as in REMARKS.
    """
    refused: dict[str, str] = {}
    marked: dict[str, list[str]] = {name: [] for name in REMARKS}
    control, roles_lost = control_tokens(tokenizer), {}
    header = generation_header(tokenizer).strip()
    for row in rows:
        try:
            for name in _marks(tokenizer, row, max_length, control, header, roles_lost):
                marked[name].append(row["id"])
        except PolyrewardError as error:
            refused[row["id"]] = str(error)
    refusal = None
    if refused:
        row_id, words = next(iter(refused.items()))
        refusal = f"{model}: its chat template refuses {len(refused)} rows, first `{row_id}` ({words})"
    said = {"max_length": max_length, "lost": ", ".join(sorted(set().union(*roles_lost.values())))}
    said["control"] = ", ".join(sorted(_found_tokens(control, rows))[:3]) if marked["control"] else ""
    remarks = [
        f"{model}: {len(ids)} {REMARKS[name].format(**said)}: {examples_of(ids)}"
        for name, ids in marked.items()
        if ids
    ]
    if not refusal and len(marked["same"]) == len(rows):
        refusal = f"{model}: all {REMARKS['same']}; correct the template, or raise max_length"
    return refusal, remarks


# What is said of rows, after their number
REMARKS = {
    "turns": "rows have turns that its chat template leaves out ({lost}); say it in turns that it shows",
    "parts": "rows have a text of which its chat template leaves out a part",
    "control": "rows hold the model's own control tokens ({control}), which it does not read as plain text",
    "same": "pairs are the same to this model, as its template or max_length cuts the difference",
    "cut": "rows are longer than {max_length} tokens and cut",
}


def _marks(
    tokenizer, row: dict, max_length: int, control: re.Pattern | None, header: str, roles_lost: dict
) -> Iterator[str]:
    """Yield the names of the REMARKS on a row; roles_lost: {roles: those left out}, to be filled.

    Raises:
        PolyrewardError: the template refuses the row, or shows nothing of an answer.
    """
    turns, answers = as_turns(row["prompt"]), (row["chosen"], *rejected_of(row))
    found = [conversation_ids(tokenizer, turns, one, max_length) for one in answers]
    if control and header and control.search(header) and contents(turns)[-1].rstrip().endswith(header):
        raise TemplateRefusalError(
            "its prompt already holds the chat template, which would be applied twice; give messages, or the"
            " text without the template"
        )
    roles = (*(turn["role"] for turn in turns), "assistant")
    if roles not in roles_lost:
        lost = lost_turns(tokenizer, roles)
        if len(turns) in lost:
            raise TemplateRefusalError(
                "it leaves out the answer, as a template does that expects contents in parts; correct the"
                " template"
            )
        roles_lost[roles] = {roles[number] for number in lost}
    if roles_lost[roles]:
        yield "turns"
    elif not all(shown_whole(tokenizer, as_messages(turns, one)) for one in answers):
        yield "parts"
    if control and any(control.search(text) for text in (*contents(turns), *answers)):
        yield "control"
    (chosen, _), *others = found
    if any(ids == chosen for ids, _ in others):
        yield "same"
    if any(was_cut for _, was_cut in found):
        yield "cut"


def control_tokens(tokenizer) -> re.Pattern | None:
    """Return a pattern of the texts that a tokenizer reads as control tokens wherever they stand."""
    names = {str(token) for token in tokenizer.all_special_tokens}
    names |= {
        str(token) for token in getattr(tokenizer, "added_tokens_decoder", {}).values() if token.special
    }
    return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True)))) if names else None


def _found_tokens(control: re.Pattern | None, rows: Sequence[dict]) -> set[str]:
    texts = (text for row in rows for text in (*contents(row["prompt"]), row["chosen"], *rejected_of(row)))
    return {found for text in texts for found in control.findall(text)} if control else set()


def overview(found: PairFile) -> list[str]:
    """Return lines on a file's subsets and on which answers are longest."""
    subsets = Counter(row["subset"] for row in found.rows)
    more = f" and {len(subsets) - LISTED} more" if len(subsets) > LISTED else ""
    counts = ", ".join(f"{name} {count}" for name, count in subsets.most_common(LISTED)) + more
    longer = sum(len(row["chosen"]) > max(map(len, rejected_of(row))) for row in found.rows)
    share = f"chosen is the longest answer in {longer / len(found.rows):.0%} of pairs"
    return [f"subsets: {counts}", share]
