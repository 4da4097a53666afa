"""Preference rows: validity, the share that is used, and counts by source."""

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain

import pandas as pd

from polyreward.core.conversations import ROLES, as_text
from polyreward.core.draws import drawn
from polyreward.core.logs import announce
from polyreward.core.seeds import job_seed

FUNCTION = re.compile(r"`[^`(]*?([A-Za-z_]\w*)\s*\([^`]*`")
COUNT_COLUMNS = [
    *("source", "use", "raw", "valid", "distinct", "unseen", "sampled", "train", "dev", "evaluation"),
    *("templates", "printed"),  # printed: pairs that the paper prints of the source
]


def row_problems(row: dict, subsets: set[str] | None = None, several: bool = False) -> Iterator[str]:
    """Yield what is wrong with one preference row; several: `rejected` may be a list of answers."""
    rejected, prompt = row.get("rejected"), row.get("prompt")
    answers = rejected if several and isinstance(rejected, list) and rejected else [rejected]
    texts = [(field, row.get(field)) for field in ("id", "subset", "chosen")]
    texts += [("rejected", answer) for answer in answers]
    if not isinstance(prompt, list) or not prompt:
        texts.append(("prompt", prompt))
    wrong = [
        f"`{field}` is {'empty' if value in (None, []) or isinstance(value, str) else 'no text'}; give one or"
        " drop the item"
        for field, value in texts
        if not _is_text(value)
    ]
    yield from dict.fromkeys(wrong)
    if isinstance(prompt, list) and prompt:
        yield from _message_problems(prompt)
    if row.get("chosen") and row["chosen"] in answers:
        yield "`chosen` and `rejected` are identical; give two answers or drop the item"
    yield from margin_problems(row)
    if subsets is not None and row.get("subset") not in subsets:
        yield f"subset `{row.get('subset')}` is unknown; use one of {', '.join(sorted(subsets))}"


def margin_problems(row: dict) -> Iterator[str]:
    """Yield what is wrong with the number by which a row's chosen answer should lead; it may have none."""
    margin = row.get("margin")
    if margin is None:
        return
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not math.isfinite(margin):
        yield "`margin` is no finite number; give one or leave it out"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _message_problems(prompt: list) -> Iterator[str]:
    for number, turn in enumerate(prompt, 1):
        if not isinstance(turn, dict) or not (_is_text(turn.get("role")) and _is_text(turn.get("content"))):
            yield f"`prompt`: message {number} has no `role` or no `content`; give both as text"
        elif turn["role"] not in ROLES:
            role = turn["role"][:60]
            yield f"`prompt`: message {number} has the role `{role}`; use one of {', '.join(ROLES)}"
    if isinstance(prompt[-1], dict) and prompt[-1].get("role") == "assistant":
        yield (
            "`prompt` ends with a message of the assistant; end it before the answer, which `chosen` and"
            " `rejected` are"
        )


@dataclasses.dataclass(frozen=True)
class Share:
    """The share of a set that is used: templates of each category, rows of each template; None for all."""

    templates: int | None
    rows: int | None


def drawn_rows(rows: Sequence[dict], categories: dict[str, str], share: Share, root_seed: int) -> list[dict]:
    """Return a share of the rows, drawn by hash, in order; categories: {subset: category}.

    A row without a template is its own template; one without a category has its own category.
    """
    names = {template_of(row): categories.get(row["subset"]) for row in rows}
    templates = [{"id": name, "category": category} for name, category in names.items()]
    kept = {row["id"] for row in drawn(templates, ["category"], share.templates, root_seed, "template")}
    of_kept = [{"id": row["id"], "template": template_of(row)} for row in rows if template_of(row) in kept]
    ids = {row["id"] for row in drawn(of_kept, ["template"], share.rows, root_seed, "fill")}
    return [row for row in rows if row["id"] in ids]


def with_problem(row: dict) -> dict:
    """Return a programming problem with its function, the same in every programming language, as template.

    HumanEval's prompts show it in backquotes, as `int addUp(int a)` or `add_up(a)`.
    """
    found = FUNCTION.search(as_text(row["prompt"]))
    return row | ({"template": f"problem-{found[1].replace('_', '').lower()}"} if found else {})


def template_of(row: dict) -> str:
    """Return a row's template, or its id without one."""
    return row.get("template") or row["id"]


def prepared_pool(
    rows: Sequence[dict],
    evaluation: Sequence[dict],
    categories: dict[str, str],
    dev_share: float,
    max_pairs: dict[str, int],
    share: Share,
    root_seed: int,
    filters: Collection[str] = ("distinct", "unseen"),
    kinds: Callable[[list[dict]], list[dict]] = list,
) -> tuple[list[dict], list[dict], pd.DataFrame]:
    """Filter a preference pool and split it; return (train rows, dev rows, counts per source and filter).

    Filters, in order. valid. distinct: by id and, if in `filters`, by prompt and answers; the first stays.
    unseen, if in `filters`: neither template nor prompt is in `evaluation`. sampled: the share of all, then
    at most max_pairs[source] pairs, drawn by hash.

    Args:
        categories: {subset: category}, for subsets that have one.
        dev_share: share of the templates for tuning, drawn by hash.
        kinds: makes pairs of the train requests.
    """
    problems = [list(row_problems(row)) for row in rows]
    valid = [row for row, found in zip(rows, problems, strict=True) if not found]
    for problem, count in Counter(chain(*problems)).most_common(10):
        announce(f"pool: {count} rows left out: {problem}")
    distinct = valid
    if "distinct" in filters:
        distinct = list({content_of(row): row for row in reversed(valid)}.values())[::-1]
    distinct = list({row["id"]: row for row in reversed(distinct)}.values())[::-1]
    unseen = distinct
    if "unseen" in filters:
        templates = {row["template"] for row in evaluation if row.get("template")}
        prompts = {str(row["prompt"]) for row in evaluation}
        unseen = [
            row
            for row in distinct
            if row.get("template") not in templates and str(row["prompt"]) not in prompts
        ]
    shared, sampled = drawn_rows(unseen, categories, share, root_seed), []
    for source in dict.fromkeys(row["source"] for row in shared):
        of_source = [row for row in shared if row["source"] == source]
        sampled += drawn(of_source, [], max_pairs.get(source), root_seed, "sample")
    templates = sorted(
        {template_of(row) for row in sampled}, key=lambda name: job_seed(root_seed, "dev", name)
    )
    dev_templates = set(templates[: round(dev_share * len(templates))])
    sampled = [{**row, "category": categories.get(row["subset"])} for row in sampled]
    train = kinds([row for row in sampled if template_of(row) not in dev_templates])
    dev = [row for row in sampled if template_of(row) in dev_templates]
    steps = {"raw": rows, "valid": valid, "distinct": distinct, "unseen": unseen, "sampled": sampled}
    return train, dev, counts_by_source({**steps, "train": train, "dev": dev}, "training")


def content_of(row: dict) -> tuple[str, str, str]:
    """Return a pair's prompt and answers."""
    return str(row.get("prompt")), str(row.get("chosen")), str(row.get("rejected"))


def counts_by_source(steps: dict[str, Sequence[dict]], use: str) -> pd.DataFrame:
    """Return the rows per source after each step (COUNT_COLUMNS)."""
    sources = dict.fromkeys(row["source"] for row in steps["raw"])
    table = pd.DataFrame({"source": list(sources), "use": use})
    for step, rows in steps.items():
        count = Counter(row["source"] for row in rows)
        table[step] = pd.array([count[source] for source in sources], dtype="Int64")
    table["templates"] = [
        len({template_of(row) for row in steps["raw"] if row["source"] == source}) for source in sources
    ]
    return table.reindex(columns=COUNT_COLUMNS)
