"""Layouts of preference pairs: a small entry for each, and one shape for the rows that are read.

A pair is `{id, subset, category, template, prompt, chosen, rejected}`. The prompt is a text or a message list
that ends before the answer. `chosen` is a text. `rejected` is a text or a list of texts, all of which chosen
must beat.
"""

import ast
import dataclasses
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from polyreward.core.conversations import as_turns
from polyreward.core.errors import PolyrewardError, unknown_name
from polyreward.core.files import parsed_json
from polyreward.core.inert import HIDDEN, printable

Message = dict[str, str]
NAMES = ("id", "subset", "category", "template")
PAIR = (*NAMES, "prompt", "chosen", "rejected")
# ShareGPT's names (and similar ones) of the roles that chat templates know.
ROLES = {
    "human": "user",
    "gpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "chatgpt": "assistant",
}
# Parts of a message that its text does not hold. To score without them would score another answer.
UNSHOWN = ("reasoning_content", "reasoning", "thinking", "tool_calls", "function_call", "audio", "images")
IGNORED = re.compile("[\u00ad\u200b\u2060\ufeff]")  # characters of a name that print as nothing
RESERVED = "all items"  # the name of the row over all subsets in tables of accuracies
# A message, or a list of them, that was written as text: by JSON, or by pandas as Python does.
AS_TEXT = re.compile(
    r"""\s*\[?\s*\{\s*(?=["'])(?=.*["'](role|from)["']\s*:\s*["'](system|user|assistant|human|gpt)["'])""",
    re.DOTALL,
)
HH_TURN = re.compile(r"\n\n(Human|Assistant):[ ]?")
HELPSTEER_TURN = re.compile(r"\n*<extra_id_1>(User|Assistant)\n")


class UnfitRow(Exception):  # noqa: N818 - of a row, not of the file
    """A row that cannot be read as a pair; the text says why and how to fix it."""


class LeftOut(Exception):  # noqa: N818 - nothing is wrong with such a row
    """A valid row without a pair, such as a tie; the text says why."""


@dataclasses.dataclass(frozen=True)
class Layout:
    """One layout of preference pairs.

    Attributes:
        name: its `--layout`.
        needs: required columns, by which it is detected.
        read: makes pairs from a row; raises UnfitRow or LeftOut.
        uses: optional columns.
        fits: distinguishes, by the first row, layouts with the same columns.
        together: column whose equal values in consecutive rows make one pair; None where each row is a pair.
    """

    name: str
    needs: tuple[str, ...]
    read: Callable[[dict], list[dict]]
    uses: tuple[str, ...] = ()
    fits: Callable[[Mapping], bool] = lambda row: True
    together: str | None = None


def find_layout(row: Mapping, name: str | None = None) -> Layout:
    """Return a file's layout by its first row, or by name.

    Raises:
        PolyrewardError: no layout has these columns, or the named one is unknown or needs others.
    """
    if name is not None:
        if name not in LAYOUTS:
            raise PolyrewardError(f"--layout: {unknown_name(name, list(LAYOUTS), 'the list of layouts')}")
        layout = LAYOUTS[name]
        missing = [column for column in layout.needs if column not in row]
        if missing:
            raise PolyrewardError(f"layout {name} needs {_listed(layout.needs)}; missing: {_listed(missing)}")
        return layout
    found = [one for one in LAYOUTS.values() if all(column in row for column in one.needs) and one.fits(row)]
    if found:
        most = max(found, key=lambda one: len(one.needs))
        rivals = [one.name for one in found if not set(one.needs) <= set(most.needs)]
        if rivals:
            raise PolyrewardError(
                f"its columns fit the layouts {', '.join([most.name, *rivals])}; name one of them with"
                " --layout, in own_benchmarks with `layout`"
            )
        return most
    keys = _listed(list(row)[:20]) or "none"
    raise PolyrewardError(
        f"no layout of pairs has these columns: {keys} (of the first row). Name one with --layout"
        f" ({', '.join(LAYOUTS)}), or rename columns to prompt, chosen and rejected"
    )


def message_list(value: object) -> object:
    """Return messages as `[{role, content}]` with the usual role names; other values unchanged.

    Accepts messages as text in CSV files, ShareGPT's from and value, and contents in text parts. Drops a
    message's other keys unless they hold a part of what was said.

    Raises:
        UnfitRow: a message is incomplete, or holds something that its text does not show.
    """
    if isinstance(value, str) and AS_TEXT.match(value):
        value = _parsed(value)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not any(isinstance(turn, dict) for turn in value):
        return value
    return [_message(turn, number) for number, turn in enumerate(value, 1)]


def _parsed(text: str) -> list | dict:
    for parse in (parsed_json, ast.literal_eval):
        try:
            found = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, list | dict):
            return found
    raise UnfitRow(
        "holds a message list as text that cannot be read (pandas writes lists so); save as Parquet or JSON"
    )


def _shown(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)[:80]


def _message(turn: object, number: int) -> Message:
    if not isinstance(turn, dict):
        raise UnfitRow(f"message {number} is {_shown(turn)}; write {{role, content}}")
    role, content = turn.get("role", turn.get("from")), turn.get("content", turn.get("value"))
    unshown = [key for key in UNSHOWN if turn.get(key)] if len(turn) > 2 else []
    if unshown:
        raise UnfitRow(
            f"message {number} has `{unshown[0]}`, which is not scored; move it into `content` or drop it"
        )
    if isinstance(content, list):
        parts = [
            part.get("text") if isinstance(part, dict) and part.get("type", "text") == "text" else None
            for part in content
        ]
        if not all(isinstance(part, str) for part in parts):
            raise UnfitRow(
                f"message {number} has parts that are no text, such as an image; leave the row out"
            )
        content = "".join(parts)
    if not isinstance(role, str) or not isinstance(content, str):
        raise UnfitRow(f"message {number} has no `role` or no `content`; give both, as text")
    return {"role": ROLES.get(role, role), "content": content}


def _answer(value: object, column: str) -> tuple[list[Message] | None, str]:
    """Split off an answer: (the turns before it, or None; the answer)."""
    try:
        value = message_list(value)
    except UnfitRow as error:
        raise UnfitRow(f"`{column}`: {error}") from None
    if isinstance(value, list) and value and all(isinstance(turn, dict) for turn in value):
        if value[-1]["role"] != "assistant":
            raise UnfitRow(
                f"`{column}` ends with a message of role `{value[-1]['role'][:40]}`; end it with the answer"
            )
        return value[:-1], value[-1]["content"]
    if value is not None and not isinstance(value, str):
        raise UnfitRow(f"`{column}` is {_shown(value)}, not a text; give the answer as text")
    return None, value or ""


def pair(prompt: object, chosen: object, rejected: object, **names: object) -> dict:
    """Return one pair of a prompt and its answers; names: id, subset, category, template.

    An answer may be a text, a message, or a conversation that ends with it. Without a prompt, the turns that
    the conversations share are the prompt.
    """
    several = isinstance(rejected, list) and not any(isinstance(one, dict) for one in rejected)
    answers = [_answer(chosen, "chosen")]
    answers += [_answer(one, "rejected") for one in (rejected if several else [rejected])]
    try:
        prompt = message_list(prompt)
    except UnfitRow as error:
        raise UnfitRow(f"`prompt`: {error}") from None
    turns = [before for before, _ in answers if before]
    if prompt:
        if any(_stripped(before) != _stripped(as_turns(prompt)) for before in turns):
            raise UnfitRow("an answer has other messages before it than `prompt`; correct one of the two")
    elif any(before != answers[0][0] for before, _ in answers):
        raise UnfitRow(
            "the conversations differ before their last message; give both the same turns before it"
        )
    else:
        prompt = turns[0] if turns else None
    texts = [text for _, text in answers]
    named = {key: name_of(names.get(key), key) for key in NAMES}
    return {**named, "prompt": prompt, "chosen": texts[0], "rejected": texts[1:] if several else texts[1]}


def _stripped(turns: Iterable) -> list:
    return [
        (turn.get("role"), str(turn.get("content")).strip()) if isinstance(turn, dict) else turn
        for turn in turns
    ]


def name_of(value: object, key: str) -> str | None:
    """Return a name as text in one spelling: composed, with plain spaces and without what no font shows."""
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas writes whole numbers so where one is missing
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UnfitRow(f"`{key}` is {_shown(value)}; give a text or a whole number")
    text = " ".join(IGNORED.sub("", unicodedata.normalize("NFC", str(value))).split())
    if HIDDEN.search(text):
        raise UnfitRow(f"`{key}` has invisible characters ({printable(text)[:80]}); delete them")
    if key == "subset" and text == RESERVED:
        raise UnfitRow(f"`subset` is `{RESERVED}`, which is the name of all of them together; choose another")
    return text or None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# One function for each layout: from a row to its pairs.


def _pairs(row: dict) -> list[dict]:
    chosen = row.get("chosen")
    if isinstance(chosen, list) and not any(isinstance(turn, dict) for turn in chosen):
        if len(chosen) > 1:
            raise LeftOut("several right answers, which no pair can show")
        chosen = chosen[0] if chosen else None
    return [pair(row.get("prompt"), chosen, row.get("rejected"), **{key: row.get(key) for key in NAMES})]


def _m_rewardbench(row: dict) -> list[dict]:
    return [{**_pairs(row)[0], "id": name_of(f"{row['id']}-{row['language']}", "id")}]


def _ultrafeedback(row: dict) -> list[dict]:
    chosen, rejected = row["score_chosen"], row["score_rejected"]
    if None not in (chosen, rejected) and _number(row, "score_chosen") <= _number(row, "score_rejected"):
        raise LeftOut(
            "equal scores of both answers" if chosen == rejected else "rejected has the higher score"
        )
    return [pair(row.get("prompt"), row["chosen"], row["rejected"], id=row.get("prompt_id"))]


def _skywork(row: dict) -> list[dict]:
    return [pair(None, row["chosen"], row["rejected"], subset=row["source"], id=row.get("id"))]


def _rm_bench(row: dict) -> list[dict]:
    """Pair each of three styles of the chosen answer with each of the rejected one, by how the styles
    compare.
    """
    styles = range(len(row["chosen"]))
    if len(row["rejected"]) != len(styles):
        raise UnfitRow("`chosen` and `rejected` have different numbers of answers; give as many of each")
    return [
        pair(row["prompt"], row["chosen"][one], row["rejected"][other],
            id=f"{row['id']}-{one}{other}", subset=row["domain"], template=row["id"],
            category="easy" if one > other else "hard" if one < other else "normal",
        )
        for one in styles
        for other in styles
    ]  # fmt: skip


def _hh(row: dict) -> list[dict]:
    chosen, rejected = (_dialogue(row[key], key) for key in ("chosen", "rejected"))
    if chosen[-1]["role"] != "assistant" or rejected[-1]["role"] != "assistant":
        raise LeftOut("a dialogue that does not end with the assistant")
    if chosen[:-1] != rejected[:-1]:
        raise LeftOut("dialogues that differ before their last turn")
    if not chosen[-1]["content"] or not rejected[-1]["content"]:
        raise LeftOut("an empty last turn")
    return [pair(None, chosen, rejected, id=row.get("id"))]


def _dialogue(text: object, key: str) -> list[Message]:
    if not isinstance(text, str):
        raise UnfitRow(f"`{key}` is no dialogue; write it as `\\n\\nHuman: ...\\n\\nAssistant: ...`")
    before, *parts = HH_TURN.split(text)
    if before.strip() or not parts:
        raise UnfitRow(f"`{key}` does not begin with `\\n\\nHuman:`; it is no dialogue of hh-rlhf")
    roles = {"Human": "user", "Assistant": "assistant"}
    return [
        {"role": roles[role], "content": content.strip()}
        for role, content in zip(parts[::2], parts[1::2], strict=True)
    ]


def votes(prompt: object, first: object, second: object, better: int, **names: object) -> list[dict]:
    """Return the pair of two answers by a vote: positive for the first, negative for the second, zero for a
    tie.
    """
    if not better:
        raise LeftOut("ties")
    chosen, rejected = (first, second) if better > 0 else (second, first)
    return [pair(prompt, chosen, rejected, **names)]


def _number(row: dict, column: str) -> float:
    try:
        found = math.nan if isinstance(row[column], bool) else float(row[column])
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise UnfitRow(f"`{column}` is {_shown(row[column])}; give a number")
    return found


def _choice(row: dict, column: str, choices: Mapping[str, int]) -> int:
    value = str(row[column]).strip()
    if value not in choices:
        raise UnfitRow(f"`{column}` is `{value[:60]}`; use one of {', '.join(choices)}")
    return choices[value]


def _helpsteer2_preference(row: dict) -> list[dict]:
    prompt = _helpsteer_prompt(row["prompt"])
    return votes(prompt, row["response_1"], row["response_2"], -_number(row, "preference_strength"))


def _helpsteer2(rows: Sequence[dict]) -> list[dict]:
    if len(rows) != 2:
        raise LeftOut("prompts without exactly two rated responses")
    first, second = (_number(row, "helpfulness") for row in rows)
    prompt = _helpsteer_prompt(rows[0]["prompt"])
    return votes(prompt, rows[0]["response"], rows[1]["response"], first - second)


def _helpsteer_prompt(prompt: object) -> object:
    if not isinstance(prompt, str) or "<extra_id_1>" not in prompt:
        return prompt
    first, *parts = HELPSTEER_TURN.split(prompt)
    roles = {"User": "user", "Assistant": "assistant"}
    turns = [
        {"role": roles[role], "content": text} for role, text in zip(parts[::2], parts[1::2], strict=True)
    ]
    return [{"role": "user", "content": first}, *turns]


def _helpsteer3(row: dict) -> list[dict]:
    better = -_number(row, "overall_preference")
    names = {"id": row.get("id"), "subset": row.get("domain")}
    return votes(row["context"], row["response1"], row["response2"], better, **names)


def _arena(row: dict) -> list[dict]:
    ties = dict.fromkeys(("tie", "tie (bothbad)", "both_bad"), 0)
    better = _choice(row, "winner", {"model_a": 1, "model_b": -1, **ties})
    first, second = (_answer(row[key], key) for key in ("conversation_a", "conversation_b"))
    if first[0] is None or _stripped(first[0]) != _stripped(second[0] or []):
        raise LeftOut("conversations that differ before their last message")
    subset, key = row.get("language"), row.get("question_id")
    return votes(first[0], first[1], second[1], better, id=key, subset=subset)


def _arena_55k(row: dict) -> list[dict]:
    prompts, first, second = (_text_list(row[key], key) for key in ("prompt", "response_a", "response_b"))
    if len(prompts) != 1:
        raise LeftOut("conversations of several turns, in which each model had its own")
    if not first[0] or not second[0]:
        raise LeftOut("empty answers")
    won = [_number(row, f"winner_model_{one}") for one in "ab"]
    if won not in ([1, 0], [0, 1], [0, 0]):
        raise UnfitRow("`winner_model_a` and `winner_model_b` are not 0 or 1, at most one of them 1")
    better = int(won[0] - won[1])
    return votes(prompts[0], first[0], second[0], better, id=row.get("id"))


def _text_list(value: object, key: str) -> list:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        found = None
    if not isinstance(found, list) or not found:
        raise UnfitRow(f"`{key}` is no list of texts; give it as JSON")
    return found


def _judgebench(row: dict) -> list[dict]:
    better = _choice(row, "label", {"A>B": 1, "B>A": -1, "A=B": 0})
    names = {"id": row.get("pair_id"), "subset": row.get("source")}
    return votes(row["question"], row["response_A"], row["response_B"], better, **names)


def _llmbar(row: dict) -> list[dict]:
    better = _choice(row, "label", {"1": 1, "2": -1})
    names = {"id": row.get("id"), "subset": row.get("subset")}
    return votes(row["input"], row["output_1"], row["output_2"], better, **names)


def _rmb_pair(row: dict) -> list[dict]:
    names = {"id": row.get("pairwise_uid"), "subset": row.get("category_path")}
    answers = (_answer_in(row[key], key) for key in ("chosen", "reject"))
    return [pair(row["conversation_input"], *answers, **names)]


def _rmb_best_of_n(row: dict) -> list[dict]:
    losers = [_answer_in(one, "loser_list") for one in row["loser_list"] or []]
    names = {"id": row.get("bon_uid"), "subset": row.get("category_path")}
    return [pair(row["conversation_input"], _answer_in(row["bon_best"], "bon_best"), losers, **names)]


def _answer_in(value: object, key: str) -> object:
    if not isinstance(value, dict) or "answer" not in value:
        raise UnfitRow(f"`{key}` has no `answer`; give {{answer: text}}")
    return value["answer"]


def _sharegpt(row: dict) -> list[dict]:
    turns = message_list(row["conversations"])
    if row.get("system"):
        turns = [{"role": "system", "content": row["system"]}, *turns]
    return [pair(turns, row["chosen"], row["rejected"], id=row.get("id"))]


def _alpaca(row: dict) -> list[dict]:
    prompt = "\n".join(filter(None, [row["instruction"], row.get("input")]))
    turns = [{"role": "user", "content": prompt}]
    for asked, said in reversed(row.get("history") or []):
        turns = [{"role": "user", "content": asked}, {"role": "assistant", "content": said}, *turns]
    if row.get("system"):
        turns = [{"role": "system", "content": row["system"]}, *turns]
    answers = row["output"] if "output" in row and "chosen" not in row else [row["chosen"], row["rejected"]]
    if not isinstance(answers, list) or len(answers) != 2:
        raise UnfitRow("`output` is no list of two answers; give the better one first")
    return [pair(turns if len(turns) > 1 else prompt, *answers, id=row.get("id"))]


def _holds_lists(row: Mapping) -> bool:
    return isinstance(row["chosen"], list) and len(row["chosen"]) > 1 and isinstance(row["chosen"][0], str)


def _is_dialogue(row: Mapping) -> bool:
    return isinstance(row["chosen"], str) and row["chosen"].startswith("\n\nHuman:")


# docs/reference/files.md says who uses each.
LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout("m-rewardbench", ("id", "prompt", "chosen", "rejected", "language"), _m_rewardbench, NAMES),
        Layout("ultrafeedback", ("chosen", "rejected", "score_chosen", "score_rejected"), _ultrafeedback,
               ("prompt", "prompt_id", "messages")),
        Layout("skywork", ("chosen", "rejected", "source"), _skywork, ("id",),
               lambda row: not {"prompt", "subset", "conversations", "instruction"} & set(row)),
        Layout("rm-bench", ("id", "prompt", "chosen", "rejected", "domain"), _rm_bench, (), _holds_lists),
        Layout("hh-rlhf", ("chosen", "rejected"), _hh, ("id",),
               lambda row: "prompt" not in row and _is_dialogue(row)),
        Layout("helpsteer2-preference", ("prompt", "response_1", "response_2", "preference_strength"),
               _helpsteer2_preference),
        Layout("helpsteer2", ("prompt", "response", "helpfulness"), _helpsteer2, together="prompt"),
        Layout("helpsteer3", ("context", "response1", "response2", "overall_preference"), _helpsteer3,
               ("domain", "id")),
        Layout("arena", ("conversation_a", "conversation_b", "winner"), _arena, ("question_id", "language")),
        Layout("arena-55k", ("prompt", "response_a", "response_b", "winner_model_a", "winner_model_b"),
               _arena_55k, ("id", "winner_tie")),
        Layout("judgebench", ("question", "response_A", "response_B", "label"), _judgebench,
               ("pair_id", "source")),
        Layout("llmbar", ("input", "output_1", "output_2", "label"), _llmbar, ("id", "subset")),
        Layout("rmb-pairwise", ("conversation_input", "chosen", "reject"), _rmb_pair,
               ("pairwise_uid", "category_path")),
        Layout("rmb-best-of-n", ("conversation_input", "bon_best", "loser_list"), _rmb_best_of_n,
               ("bon_uid", "category_path")),
        Layout("sharegpt", ("conversations", "chosen", "rejected"), _sharegpt, ("id", "system"),
               lambda row: "prompt" not in row),
        Layout("alpaca", ("instruction", "chosen", "rejected"), _alpaca, ("id", "input", "history", "system"),
               lambda row: "prompt" not in row),
        Layout("alpaca-output", ("instruction", "output"), _alpaca, ("id", "input", "history", "system")),
        Layout("pairs", ("chosen", "rejected"), _pairs, PAIR),
    )
}  # fmt: skip
