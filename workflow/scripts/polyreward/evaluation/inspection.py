"""What a file of pairs holds, and what a model's chat template makes of it, before any model is loaded."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from polyreward.core.conversations import (
    as_messages,
    as_turns,
    begins_another,
    contents,
    conversation_ids,
    rejected_of,
    rendered_text,
)
from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import PairFile, examples_of

LISTED = 12  # subsets
NO_ANSWER = "rows have an answer that the chat template leaves out, or a part of it"


def template_remarks(
    tokenizer, rows: Sequence[dict], model: str, max_length: int, header: Sequence[int] = ()
) -> tuple[list[str], list[str]]:
    """Tokenise pairs as scoring does.

    Args:
        header: tokens after which the model reads its answer, as from load.header_read_after.

    Returns:
        Why these rows cannot be scored, a line for each reason; and what to know of their scores.
    """
    try_row = RowTrial(tokenizer, max_length, tokenizer.decode(list(header)) if header else "")
    refused, stops, places = {}, {}, {}
    for row in rows:
        try:
            found = list(try_row(row))
        except PolyrewardError as error:
            refused[row["id"]] = str(error)
            continue
        for stopped, words in found:
            (stops if stopped else places).setdefault(words, []).append(row["id"])
    refusals = [f"{len(ids)} {words}: {examples_of(ids)}" for words, ids in stops.items()]
    if refused:
        row_id, words = next(iter(refused.items()))
        refusals.append(
            f"its chat template refuses {len(refused)} rows, first `{row_id}` ({words}); change their roles,"
            " such as a system turn folded into the first user turn, or leave them out"
        )
    if len(places.get(NO_ANSWER, ())) == len(rows) > 0:
        refusals.append(
            "its chat template leaves out every answer, as one does that takes contents only in parts;"
            " correct its chat_template.jinja"
        )
    remarks = [f"{len(ids)} {words}: {examples_of(ids)}" for words, ids in places.items()]
    if begins_another(tokenizer):
        words = "its chat template ends each conversation with the header of another answer"
        remarks.append(words)
        if header:
            refusals.append(f"{words}, and it reads only what follows one; correct its chat_template.jinja")
    return [f"{model}: {line}" for line in refusals], [f"{model}: {line}" for line in remarks]


class RowTrial:
    """Looks at what a tokenizer and its chat template make of rows.

    header: the text after which the model reads its answer; empty for other models."""

    def __init__(self, tokenizer, max_length: int, header: str):
        self.tokenizer, self.max_length, self.header = tokenizer, max_length, header
        self.control, self.opening = control_tokens(tokenizer), _opening(tokenizer)

    def __call__(self, row: dict) -> Iterator[tuple[bool, str]]:
        """Yield (whether it cannot be scored, words for rows like it); raise PolyrewardError where the
        template refuses it."""
        prompt, answers = row["prompt"], (row["chosen"], *rejected_of(row))
        found = [conversation_ids(self.tokenizer, prompt, one, self.max_length) for one in answers]
        texts = [rendered_text(self.tokenizer, as_messages(prompt, one)) for one in answers]
        if self.opening and contents(prompt)[-1].rstrip().endswith(self.opening):
            twice = f"prompts end with `{self.opening}`, which the chat template writes once more"
            yield True, f"{twice}; give bare texts or messages"
        if self.header and any(self.header in answer for answer in answers):
            held = f"rows have an answer that holds `{self.header.strip()}`"
            yield (
                True,
                f"{held}, and the model reads only what follows it; end the answer before its next turn",
            )
        (chosen, _), *others = found
        if any(ids == chosen for ids, _ in others):
            yield False, "pairs are the same to this model, as its template or max_length cuts the difference"
        if any(was_cut for _, was_cut in found):
            yield False, f"rows are longer than {self.max_length} tokens and cut"
        for role in {turn["role"] for turn in as_turns(prompt) if not _shows(texts[0], turn["content"])}:
            yield (
                False,
                f"rows have a turn of role `{role}` that the chat template leaves out, or a part of it",
            )
        if not all(map(_shows, texts, answers)):
            yield False, NO_ANSWER
        if any(map(self.control.search, (*contents(prompt), *answers))):
            yield (
                False,
                "rows hold control tokens of the model, as its chat template writes them, in their texts",
            )


def control_tokens(tokenizer) -> re.Pattern:
    """Return a pattern of the tokens that stand for no text, such as the end of a turn."""
    special = {token.content for token in tokenizer.added_tokens_decoder.values() if token.special}
    names = sorted(special | set(tokenizer.all_special_tokens), key=lambda name: (-len(name), name))
    return re.compile("|".join(map(re.escape, names)) or "(?!)")


def _opening(tokenizer) -> str:
    """Return what the chat template writes before an answer, if it has control tokens."""
    turns = [{"role": "user", "content": "a"}]
    try:
        without = rendered_text(tokenizer, turns)
        asked = rendered_text(tokenizer, turns, add_generation_prompt=True)
    except PolyrewardError:
        return ""
    opening = asked.removeprefix(without).strip() if asked != without else ""
    return opening if control_tokens(tokenizer).search(opening) else ""


def _shows(text: str, content: str) -> bool:
    """Return whether a rendered text has a turn's text, whatever its white space."""
    return content.strip() in text or "".join(content.split()) in "".join(text.split())


def overview(found: PairFile) -> list[str]:
    """Return lines on a file's subsets and on which answers are longest."""
    subsets = Counter(row["subset"] for row in found.rows)
    more = f" and {len(subsets) - LISTED} more" if len(subsets) > LISTED else ""
    counts = ", ".join(f"{name} {count}" for name, count in subsets.most_common(LISTED)) + more
    longer = sum(len(row["chosen"]) > max(map(len, rejected_of(row))) for row in found.rows)
    share = f"chosen is the longest answer in {longer / len(found.rows):.0%} of pairs"
    return [f"subsets: {counts}", share]
