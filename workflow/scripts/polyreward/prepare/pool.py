"""From raw rows to a preference pool and evaluation sets: valid, distinct, split by rule, and counted."""

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import pandas as pd

from polyreward.core.draws import drawn
from polyreward.core.errors import raise_all
from polyreward.core.logs import announce
from polyreward.core.seeds import job_seed

ROLES = (
    "system",
    "developer",
    "user",
    "assistant",
    "tool",
)  # of a prompt's messages, as chat templates know them
COUNT_COLUMNS = [
    "source",
    "use",
    "raw",
    "valid",
    "distinct",
    "unseen",
    "sampled",
    "train",
    "dev",
    "evaluation",
    "templates",
    "printed",  # pairs that the paper prints of the source
]


def row_problems(row: dict, subsets: set[str] | None = None, several: bool = False) -> Iterator[str]:
    """Yield what is wrong with one preference row, in words.

    subsets: the allowed ones, None for any.
    several: `rejected` may be a list of answers."""
    for field in ("id", "subset", "chosen"):
        yield from _text_problems(field, row.get(field))
    rejected = row.get("rejected")
    answers = rejected if several and isinstance(rejected, list) and rejected else [rejected]
    yield from dict.fromkeys(problem for answer in answers for problem in _text_problems("rejected", answer))
    yield from _prompt_problems(row.get("prompt"))
    if row.get("chosen") and row["chosen"] in answers:
        yield "`chosen` and `rejected` are identical; give two answers or drop the item"
    if subsets is not None and row.get("subset") not in subsets:
        yield f"subset `{row.get('subset')}` is unknown; use one of {', '.join(sorted(subsets))}"


def _is_text(value) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _text_problems(field: str, value) -> Iterator[str]:
    if not _is_text(value):
        fault = "empty" if value is None or value == [] or isinstance(value, str) else "no text"
        yield f"`{field}` is {fault}; give one or drop the item"


def _prompt_problems(prompt) -> Iterator[str]:
    if isinstance(prompt, list) and prompt:
        for number, turn in enumerate(prompt, 1):
            if not isinstance(turn, dict) or not all(_is_text(turn.get(key)) for key in ("role", "content")):
                yield f"`prompt`: message {number} lacks a `role` or `content`; give both, as text"
            elif turn["role"] not in ROLES:
                yield (
                    f"`prompt`: message {number} is of role `{turn['role'][:60]}`; use one of"
                    f" {', '.join(ROLES)}"
                )
        if isinstance(prompt[-1], dict) and prompt[-1].get("role") == "assistant":
            yield (
                "`prompt` ends with a message of the assistant; end it before the answer, which `chosen` and"
                " `rejected` are"
            )
    else:
        yield from _text_problems("prompt", prompt)


@dataclasses.dataclass(frozen=True)
class Share:
    """How much of a set is used, drawn by hash; None for all.

    templates: of each category.
    rows: of each template: its fills, or a family's two requests. A row without a template is its own, one
    without a category
        of a category of its own."""

    templates: int | None
    rows: int | None


def drawn_rows(rows: Sequence[dict], categories: dict[str, str], share: Share, root_seed: int) -> list[dict]:
    """Return a share of rows in their order.

    categories: {subset: category}."""
    names = {_template(row): categories.get(row["subset"]) for row in rows}
    templates = [{"id": name, "category": category} for name, category in names.items()]
    kept = {row["id"] for row in drawn(templates, ["category"], share.templates, root_seed, "template")}
    of_kept = [{"id": row["id"], "template": _template(row)} for row in rows if _template(row) in kept]
    ids = {row["id"] for row in drawn(of_kept, ["template"], share.rows, root_seed, "fill")}
    return [row for row in rows if row["id"] in ids]


def prepared_benchmark(
    rows: Sequence[dict],
    categories: dict[str, str],
    share: Share,
    root_seed: int,
    where: str,
    published: bool = False,
) -> tuple[list[dict], pd.DataFrame]:
    """Check an evaluation set, draw what is used, and add each row's category; categories: {subset:
    category}.

    published: it is other people's, who count a pair that stands twice twice. Returns the rows and their
    counts per source. Raises PolyrewardError that lists every bad row: an evaluation set is corrected, never
    thinned by its faults."""
    problems = [
        f"{where}:{n}: {text}" for n, row in enumerate(rows, 1) for text in row_problems(row, set(categories))
    ]
    ids = Counter(str(row["id"]) for row in rows if row.get("id"))
    problems += [
        f"{where}: id `{row_id}` stands {count} times; ids are unique"
        for row_id, count in ids.items()
        if count > 1
    ]
    contents = Counter(_content(row) for row in rows)
    repeated = [
        f"{where}: {count} rows say \u201c{str(key[0])[:50]}\u201d with the same answers; keep one"
        for key, count in contents.items()
        if count > 1
    ]
    if published and repeated:
        announce(
            f"evaluation set {where}: {len(repeated)} pairs stand in it more than once, and count as often"
        )
    problems += [] if published else repeated
    absent = sorted(categories.keys() - {row.get("subset") for row in rows})
    problems += [
        f"{where}: the benchmark's subset `{subset}` has no row; add rows, or take it out"
        for subset in absent
    ]
    raise_all(problems, f"evaluation set {where}")
    prepared = [
        {**row, "category": categories[row["subset"]]}
        for row in drawn_rows(rows, categories, share, root_seed)
    ]
    counts = _counts({"raw": rows, "valid": rows, "distinct": rows, "evaluation": prepared}, "evaluation")
    return prepared, counts


def prepared_pool(
    rows: Sequence[dict],
    evaluation: Sequence[dict],
    categories: dict[str, str],
    dev_share: float,
    max_pairs: dict[str, int],
    share: Share,
    root_seed: int,
    filters: Collection[str] = ("distinct", "unseen"),
) -> tuple[list[dict], list[dict], pd.DataFrame]:
    """Filter a preference pool and split it; returns (train rows, dev rows, counts per source after each
    filter).

    Filters, in order: valid; distinct by prompt and both answers, the first stays (where `filters` names it),
    and by id; unseen (where it names it): neither template nor prompt is in `evaluation`; sampled: the share
    of all, and at most max_pairs[source] pairs, drawn by hash. categories: {subset: category}, for those that
    have one. dev_share: share of the templates, drawn by hash, kept for tuning; a row without a template is
    its own."""
    valid = [row for row in rows if not list(row_problems(row))]
    by_content = (
        list({_content(row): row for row in reversed(valid)}.values())[::-1]
        if "distinct" in filters
        else valid
    )
    distinct = list({row["id"]: row for row in reversed(by_content)}.values())[::-1]
    seen_templates = {row["template"] for row in evaluation if row.get("template")}
    seen_prompts = {str(row["prompt"]) for row in evaluation}
    unseen = [
        row
        for row in distinct
        if "unseen" not in filters
        or (row.get("template") not in seen_templates and str(row["prompt"]) not in seen_prompts)
    ]
    shared, sampled = drawn_rows(unseen, categories, share, root_seed), []
    for source in dict.fromkeys(row["source"] for row in shared):
        of_source = [row for row in shared if row["source"] == source]
        sampled += drawn(of_source, [], max_pairs.get(source), root_seed, "sample")
    templates = sorted({_template(row) for row in sampled}, key=lambda name: job_seed(root_seed, "dev", name))
    dev_templates = set(templates[: round(dev_share * len(templates))])
    sampled = [{**row, "category": categories.get(row["subset"])} for row in sampled]
    train = [row for row in sampled if _template(row) not in dev_templates]
    dev = [row for row in sampled if _template(row) in dev_templates]
    steps = {"raw": rows, "valid": valid, "distinct": distinct, "unseen": unseen, "sampled": sampled}
    return train, dev, _counts({**steps, "train": train, "dev": dev}, "training")


def _template(row: dict) -> str:
    return row.get("template") or row["id"]


def _content(row: dict) -> tuple[str, str, str]:
    return str(row.get("prompt")), str(row.get("chosen")), str(row.get("rejected"))


def _counts(steps: dict[str, Sequence[dict]], use: str) -> pd.DataFrame:
    sources = dict.fromkeys(row["source"] for row in steps["raw"])
    table = pd.DataFrame({"source": list(sources), "use": use})
    for step, rows in steps.items():
        count = Counter(row["source"] for row in rows)
        table[step] = pd.array([count[source] for source in sources], dtype="Int64")
    table["templates"] = [
        len({_template(row) for row in steps["raw"] if row["source"] == source}) for source in sources
    ]
    return table.reindex(columns=COUNT_COLUMNS)
