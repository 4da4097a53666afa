"""Layouts of preference pairs: which columns each has, and what of them a pair is made of."""

import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from polyreward.core.conversations import as_turns
from polyreward.core.errors import PolyrewardError, unknown_name
from polyreward.prepare.pair_shape import (
    BESIDES,
    EMPTY,
    NAMES,
    LeftOut,
    Message,
    UnfitRow,
    message_list,
    pair,
    shown,
    split_answer,
    stripped,
    with_system,
)

SYSTEM = ("system", "system_prompt")  # columns whose text is a turn before the prompt, in any layout
PROMPT_ID = "prompt_id"  # the column that names a pair's template, where it has no other
HH_TURN = re.compile(r"\n\n(Human|Assistant):[ ]?")
HELPSTEER_TURN = re.compile(r"\n*<extra_id_1>(User|Assistant)\n")


@dataclasses.dataclass(frozen=True)
class Layout:
    """One layout of preference pairs.

    Attributes:
        needs: required columns, by which it is detected.
        texts: (prompt, chosen, rejected) of a row, or whole pairs; raises UnfitRow or LeftOut.
        names: {name of a pair: its column}.
        uses: other optional columns.
        fits: distinguishes, by the first row, layouts with the same columns.
        together: column whose equal values in consecutive rows make one pair; None for a pair from each row.
    """

    name: str
    needs: tuple[str, ...]
    texts: Callable[..., tuple | list[dict]]
    names: Mapping[str, str] = dataclasses.field(default_factory=lambda: {"id": "id"})
    uses: tuple[str, ...] = ()
    fits: Callable[[Mapping], bool] = lambda row: True
    together: str | None = None

    @property
    def columns(self) -> set[str]:
        """All columns that are read."""
        return {*self.needs, *self.names.values(), *self.uses, *SYSTEM, PROMPT_ID}

    @property
    def by_prompt(self) -> bool:
        """Whether its ids name prompts, of which several pairs may be."""
        return self.names.get("id") in (PROMPT_ID, "question_id")

    def pairs(self, rows: Sequence[dict]) -> list[dict]:
        """Return the pairs of a row, or of the rows that belong together."""
        row = rows[0]
        for column in self.needs:
            if column not in row:
                raise UnfitRow(f"has no `{column}`; give it, or drop the row")
        for column in () if BESIDES.isdisjoint(row) else sorted(BESIDES):
            if row.get(column) and column not in self.columns and str(row[column]).strip() not in EMPTY:
                raise UnfitRow(
                    f"`{column}` belongs to the conversation and is not scored; write what it says into the"
                    " messages, leave the row out, or delete the column if no answer depends on it"
                )
        try:
            found = self.texts(rows if self.together else row)
            names = {"template": row.get(PROMPT_ID)}
            names |= {name: row[column] for name, column in self.names.items() if row.get(column) is not None}
            if self.by_prompt:
                names["template"] = names.get("id")
            found = found if isinstance(found, list) else [pair(*found, **names)]
            system = next((row[column] for column in SYSTEM if row.get(column)), None)
            return [with_system(one, system) for one in found]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            fix = "correct the row (docs/reference/files.md shows the layout)"
            raise UnfitRow(f"does not fit layout {self.name} ({error}); {fix}") from None


def find_layout(row: Mapping, name: str | None = None) -> Layout:
    """Return a file's layout by its first row, or by name.

    Raises:
        PolyrewardError: no layout has these columns, or the named one is unknown or needs others.
    """
    if name is not None:
        if name not in LAYOUTS:
            raise PolyrewardError(f"--layout: {unknown_name(name, list(LAYOUTS), 'the list of layouts')}")
        needs = LAYOUTS[name].needs
        missing = [column for column in needs if column not in row]
        if missing:
            raise PolyrewardError(f"layout {name} needs {_listed(needs)}; missing: {_listed(missing)}")
        return LAYOUTS[name]
    found = [one for one in LAYOUTS.values() if set(one.needs) <= set(row) and one.fits(row)]
    if not found:
        orients = {"columns", "data"}, {"schema", "data"}  # and `index`, whose keys are numbers
        of_pandas = any(keys <= set(row) for keys in orients) or all(map(str.isdigit, row))
        hint = ". If pandas wrote it, save with orient='records'" if of_pandas and row else ""
        raise PolyrewardError(
            f"no layout of pairs has these columns: {_listed(list(row)[:20]) or 'none'} (of the first row)."
            f" Name one with --layout ({', '.join(LAYOUTS)}), or rename them to prompt, chosen and rejected"
            f"{hint}"
        )
    most = max(found, key=lambda one: len(one.needs))
    rivals = [one.name for one in found if not set(one.needs) <= set(most.needs)]
    if rivals:
        raise PolyrewardError(
            f"its columns fit the layouts {', '.join([most.name, *rivals])}; name one of them with"
            " --layout, in own_benchmarks with `layout`"
        )
    return most


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def voted(prompt: object, first: object, second: object, better: float) -> tuple:
    """Return (prompt, chosen, rejected) by a vote: above zero for the first, below for the second."""
    if not better:
        raise LeftOut("ties")
    return (prompt, first, second) if better > 0 else (prompt, second, first)


def rated(prompt: object, ratings: Sequence[tuple[float | None, object]]) -> tuple:
    """Return (prompt, its only best answer, its only worst); ratings: (rating or None, answer)."""
    order = sorted((one for one in ratings if one[0] is not None), key=lambda one: one[0])
    values = [rating for rating, _ in order]
    if len(order) < 2 or values.count(values[0]) > 1 or values.count(values[-1]) > 1:
        raise LeftOut("prompts without one best and one worst response")
    return prompt, order[-1][1], order[0][1]


def number_in(row: Mapping, column: str) -> float:
    """Return a number in a row; raise UnfitRow where it is none."""
    try:
        found = math.nan if isinstance(row[column], bool) else float(row[column])
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise UnfitRow(f"`{column}` is {shown(row[column])}; give a number")
    return found


def _choice(row: dict, column: str, choices: Mapping[str, int]) -> int:
    value = str(row[column]).strip()
    if value not in choices:
        raise UnfitRow(f"`{column}` is `{value[:60]}`; use one of {', '.join(choices)}")
    return choices[value]


# The prompt and the answers of a row, by layout.


def _pairs(row: dict) -> tuple:
    chosen = row.get("chosen")
    if isinstance(chosen, list) and not any(isinstance(turn, dict) for turn in chosen):
        if len(chosen) > 1:
            raise LeftOut("several right answers, which no pair can show")
        chosen = chosen[0] if chosen else None
    return row.get("prompt"), chosen, row.get("rejected")


def _m_rewardbench(row: dict) -> list[dict]:
    names = {name: row.get(name) for name in NAMES} | {"id": f"{row['id']}-{row['language']}"}
    return [pair(*_pairs(row), **names)]


def _ultrafeedback(row: dict) -> tuple:
    scores = [row[f"score_{role}"] for role in ("chosen", "rejected")]
    if None not in scores and number_in(row, "score_chosen") <= number_in(row, "score_rejected"):
        raise LeftOut("chosen has no higher score than rejected")
    return row.get("prompt"), row["chosen"], row["rejected"]


def _rm_bench(row: dict) -> list[dict]:
    """Pair each style of the chosen answer with each of the rejected one; plainer styles come first."""
    if len(row["chosen"]) != len(row["rejected"]):
        raise UnfitRow("`chosen` and `rejected` have different numbers of answers; give as many of each")
    return [
        pair(row["prompt"], chosen, rejected,
            id=f"{row['id']}-{one}{other}", subset=row["domain"], template=row["id"],
            category="easy" if one > other else "hard" if one < other else "normal",
        )
        for one, chosen in enumerate(row["chosen"])
        for other, rejected in enumerate(row["rejected"])
    ]  # fmt: skip


def _hh(row: dict) -> tuple:
    chosen, rejected = (_dialogue(row[key], key) for key in ("chosen", "rejected"))
    for last in (chosen[-1], rejected[-1]):
        if last["role"] != "assistant" or not last["content"]:
            raise LeftOut("a dialogue that does not end with an answer")
    if chosen[:-1] != rejected[:-1]:
        raise LeftOut("dialogues that differ before their last turn")
    return None, chosen, rejected


def _dialogue(text: str, key: str) -> list[Message]:
    before, *parts = HH_TURN.split(text)
    if before.strip() or not parts:
        raise UnfitRow(f"`{key}` does not begin with `\\n\\nHuman:`; it is no dialogue of hh-rlhf")
    return _turns([part.strip() for part in parts])


def _turns(parts: Sequence[str]) -> list[Message]:
    """Return messages of roles and texts in turn."""
    roles = {"Human": "user", "User": "user", "Assistant": "assistant"}
    texts = zip(parts[::2], parts[1::2], strict=True)
    return [{"role": roles[role], "content": text} for role, text in texts]


def _votes(name: str, *needs: str, choices: Mapping[str, int] | None = None, **names: str) -> Layout:
    """Return a layout whose columns `needs` are a prompt, two answers and a vote.

    choices: {vote: as `voted` takes it}; None for numbers, which are below zero for the first.
    """
    prompt, first, second, vote = needs

    def texts(row: dict) -> tuple:
        better = -number_in(row, vote) if choices is None else _choice(row, vote, choices)
        return voted(_helpsteer_prompt(row[prompt]), row[first], row[second], better)

    return Layout(name, needs, texts, names)


def _helpsteer_prompt(prompt: object) -> object:
    """Return the turns that HelpSteer 2 writes into one prompt."""
    if not isinstance(prompt, str) or "<extra_id_1>" not in prompt:
        return prompt
    return _turns(["User", *HELPSTEER_TURN.split(prompt)])


def _helpsteer2(rows: Sequence[dict]) -> tuple:
    if len(rows) != 2:
        raise LeftOut("prompts without exactly two rated responses")
    ratings = [(number_in(row, "helpfulness"), row["response"]) for row in rows]
    return rated(_helpsteer_prompt(rows[0]["prompt"]), ratings)


def _arena(row: dict) -> tuple:
    ties = dict.fromkeys(("tie", "tie (bothbad)", "both_bad"), 0)
    better = _choice(row, "winner", {"model_a": 1, "model_b": -1, **ties})
    first, second = (split_answer(row[key], key) for key in ("conversation_a", "conversation_b"))
    if first[0] is None or stripped(first[0]) != stripped(second[0] or []):
        raise LeftOut("conversations that differ before their last message")
    return voted(first[0], first[1], second[1], better)


def _arena_55k(row: dict) -> tuple:
    columns = (row[key] for key in ("prompt", "response_a", "response_b"))
    prompts, first, second = (json.loads(one) if isinstance(one, str) else one for one in columns)
    if len(prompts) != 1:
        raise LeftOut("conversations of several turns, in which each model had its own")
    if not first[0] or not second[0]:
        raise LeftOut("empty answers")
    won = [number_in(row, f"winner_model_{one}") for one in "ab"]
    if won not in ([1, 0], [0, 1], [0, 0]):
        raise UnfitRow("`winner_model_a` and `winner_model_b` are not 0 or 1, at most one of them 1")
    return voted(prompts[0], first[0], second[0], won[0] - won[1])


def _sharegpt(row: dict) -> tuple:
    turns = as_turns(message_list(row["conversations"], "conversations"))
    return [*turns], row["chosen"], row["rejected"]


def _alpaca(row: dict) -> tuple:
    prompt = "\n".join(filter(None, [row["instruction"], row.get("input")]))
    turns = []
    for asked, said in row.get("history") or []:
        turns += [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
    prompt = [*turns, {"role": "user", "content": prompt}] if turns else prompt
    return prompt, row["chosen"], row["rejected"]


OWN = {name: name for name in NAMES}
# docs/reference/files.md says who uses each.
LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout("m-rewardbench", ("id", "prompt", "chosen", "rejected", "language"), _m_rewardbench, OWN),
        Layout("ultrafeedback", ("chosen", "rejected", "score_chosen", "score_rejected"), _ultrafeedback,
               {"id": "prompt_id"}, ("prompt", "messages")),
        Layout("skywork", ("chosen", "rejected", "source"),
               lambda row: (None, row["chosen"], row["rejected"]), {"id": "id", "subset": "source"},
               fits=lambda row: not {"prompt", "subset", "conversations", "instruction"} & set(row)),
        Layout("rm-bench", ("id", "prompt", "chosen", "rejected", "domain"), _rm_bench,
               fits=lambda row: isinstance(row["chosen"], list) and len(row["chosen"]) > 1
               and isinstance(row["chosen"][0], str)),
        Layout("hh-rlhf", ("chosen", "rejected"), _hh,
               fits=lambda row: "prompt" not in row and isinstance(row["chosen"], str)
               and row["chosen"].startswith("\n\nHuman:")),
        _votes("helpsteer2-preference", "prompt", "response_1", "response_2", "preference_strength"),
        Layout("helpsteer2", ("prompt", "response", "helpfulness"), _helpsteer2, {}, together="prompt"),
        _votes("helpsteer3", "context", "response1", "response2", "overall_preference",
               id="id", subset="domain"),
        Layout("arena", ("conversation_a", "conversation_b", "winner"), _arena,
               {"id": "question_id", "subset": "language"}),
        Layout("arena-55k", ("prompt", "response_a", "response_b", "winner_model_a", "winner_model_b"),
               _arena_55k, uses=("winner_tie",)),
        _votes("judgebench", "question", "response_A", "response_B", "label",
               choices={"A>B": 1, "B>A": -1, "A=B": 0}, id="pair_id", subset="source"),
        _votes("llmbar", "input", "output_1", "output_2", "label",
               choices={"1": 1, "2": -1}, id="id", subset="subset"),
        Layout("rmb-pairwise", ("conversation_input", "chosen", "reject"),
               lambda row: (row["conversation_input"], row["chosen"]["answer"], row["reject"]["answer"]),
               {"id": "pairwise_uid", "subset": "category_path"}),
        Layout("rmb-best-of-n", ("conversation_input", "bon_best", "loser_list"),
               lambda row: (row["conversation_input"], row["bon_best"]["answer"],
                            [one["answer"] for one in row["loser_list"]]),
               {"id": "bon_uid", "subset": "category_path"}),
        Layout("sharegpt", ("conversations", "chosen", "rejected"), _sharegpt,
               fits=lambda row: "prompt" not in row),
        Layout("alpaca", ("instruction", "chosen", "rejected"), _alpaca, uses=("input", "history"),
               fits=lambda row: "prompt" not in row),
        Layout("orca", ("question", "chosen", "rejected"),
               lambda row: (row["question"], row["chosen"], row["rejected"]), OWN,
               fits=lambda row: "prompt" not in row),
        Layout("pairs", ("chosen", "rejected"), _pairs, OWN, ("prompt",)),
    )
}  # fmt: skip
