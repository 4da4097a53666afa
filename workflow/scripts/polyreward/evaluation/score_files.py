"""Read the scores that reward-model tools write, as one table, and check that they can be compared."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.core.errors import PolyrewardError, raise_all, unknown
from polyreward.evaluation.options import short_names
from polyreward.prepare.row_files import file_rows

# {field: columns that may hold it; the first of them that is there counts}
NAMES = {
    "id": ("id",),
    "subset": ("subset", "subsets"),
    "model": ("model", "scorer"),
    "cluster": ("cluster", "template"),
    "prompt": ("prompt",),
}
ANSWERS = {
    "score_chosen": ("score_chosen", "scores_chosen"),
    "score_rejected": ("score_rejected", "scores_rejected"),
    "scores": ("scores",),
    "num_correct": ("num_correct",),
    "correct": ("correct", "results"),
}
FIELDS = NAMES | ANSWERS
TIES = ("wrong", "shared")
NUMBERED = "#"  # for a column: the row's number is its id, the file's name its model, the id its cluster
PARTS = ("data", "benchmark", "language")  # columns that tell items of one id apart
TIED_SUBSET = "ties"  # of RewardBench 2: several answers are right
PAIRED_IDS = re.compile(r"(?:ref|tied):(\d+)\Z")  # in that subset: two items of one question
COLUMNS = ["scorer", "id", "subset", "template", "right", "tied"]
PROBLEMS = 20  # that are listed


def read_score_files(
    paths: Sequence[str | Path], columns: Mapping[str, str] | None = None, ties: str = "wrong"
) -> pd.DataFrame:
    """Return a row for each model and item of all files, with COLUMNS.

    right: 0 to 1. tied: whether a right and a wrong answer have the same score, the best of their kind.
    template: the item's cluster, by its id in any file that names one; else its prompt; else its id.

    Args:
        columns: {field of FIELDS: the file's column}, or NUMBERED for id, model and cluster.
        ties: "wrong" (0), or "shared": one over the number of answers at the top.

    Raises:
        PolyrewardError: lists all problems, with the file and what to do.
    """
    columns, paths = dict(columns or {}), list(map(str, paths))
    problems = list(unknown("--columns", columns, FIELDS, "a row"))
    problems += [
        f"--columns: {name}={NUMBERED} has no meaning; name a column"
        for name, column in columns.items()
        if column == NUMBERED and name not in ("id", "model", "cluster")
    ]
    twice = [path for path in dict.fromkeys(paths) if paths.count(path) > 1]
    problems += [f"{path}: is named {paths.count(path)} times; name each file once" for path in twice]
    raise_all(problems, "compare")
    names, tables = short_names(paths, with_suffix=False), []
    for path in paths:
        try:
            table, faults = _read(path, names[path].removesuffix("_outputs"), columns, ties)
        except PolyrewardError as error:
            problems.append(str(error))
        else:
            problems += faults
            tables += [] if table is None else [table]
    if tables:
        together = _with_parts(pd.concat(tables, ignore_index=True))
        problems += _unlike(together)
    raise_all(problems, "compare", PROBLEMS)
    return together.assign(template=_clusters(together), scorer=together["model"])[COLUMNS]


def _read(
    path: str, name: str, columns: Mapping[str, str], ties: str
) -> tuple[pd.DataFrame | None, list[str]]:
    """Return a file's rows, or None, and its problems. name: the model's, where no column says it."""
    read = list(file_rows(path))
    problems = [f"{place}: {row}" for place, row in read if isinstance(row, str)][:3]
    rows = _released([row for _, row in read if isinstance(row, dict)])
    if not rows:
        return None, problems or [f"{path}: holds no row; score again, or leave the file out"]
    there = dict.fromkeys(key for row in rows for key in row)
    fields = {
        field: columns.get(field, next((one for one in known if one in there), None))
        for field, known in FIELDS.items()
    }
    faults = _missing(fields, columns, there)
    if faults:
        listed = ", ".join(f"`{column}`" for column in there)
        return None, [*problems, *(f"{path}: has {fault}. It has {listed}" for fault in faults)]

    def cells(field: str) -> list:
        return [row.get(fields[field]) for row in rows]

    numbers = [str(number) for number in range(1, len(rows) + 1)]
    ids = numbers if fields["id"] == NUMBERED else _texts(cells("id"), None)
    empty = [place for place, one in zip(numbers, ids, strict=True) if one is None]
    if empty:
        return None, [
            *problems,
            f"{path}: {len(empty)} rows have no id (first: row {empty[0]}); give each one",
        ]
    table = pd.DataFrame(
        {
            "path": path,
            "model": _texts(cells("model"), name),
            "id": ids,
            "subset": _texts(cells("subset"), "all"),
            "cluster": ids if fields["cluster"] == NUMBERED else _texts(cells("cluster"), None),
            "prompt": _texts(cells("prompt"), None),
            **{part: _texts([row.get(part) for row in rows], "") for part in PARTS},
        }
    ).astype({"cluster": object, "prompt": object})
    right, tied, faults = _credits({field: cells(field) for field in ANSWERS}, table, ties)
    return table.assign(right=right, tied=tied), [*problems, *(f"{path}: {fault}" for fault in faults)]


def _released(rows: list[dict]) -> list[dict]:
    """Return the rows of one object with a list for each column, as rewardbench releases its scores."""
    if len(rows) != 1 or not isinstance(rows[0].get("id"), list):
        return rows
    count = len(rows[0]["id"])
    lists = {name for name, cells in rows[0].items() if isinstance(cells, list) and len(cells) == count}
    return [
        {name: cells[number] if name in lists else cells for name, cells in rows[0].items()}
        for number in range(count)
    ]


def _missing(
    fields: Mapping[str, str | None], columns: Mapping[str, str], there: Mapping[str, None]
) -> list[str]:
    """Return what a file's columns lack."""
    faults = [
        f"no column `{column}`, which --columns names"
        for column in columns.values()
        if column != NUMBERED and column not in there
    ]
    if fields["id"] is None:
        faults.append(
            f"no column `id`. Name it with --columns id=NAME. Or give --columns id={NUMBERED}, if the rows of"
            " all files are the same in the same order"
        )
    pair = fields["score_chosen"] and fields["score_rejected"]
    if not (pair or fields["scores"] or fields["correct"]):
        faults.append(
            "neither `score_chosen` and `score_rejected`, nor `scores`, nor `correct`. Name them with"
            " --columns score_chosen=NAME,score_rejected=NAME"
        )
    return faults


def _texts(cells: list, default: str | None) -> list[str | None]:
    """Return names as texts, and the default where there is none."""

    def text(cell: object) -> str | None:
        if cell is None or cell == "" or cell != cell:
            return default
        if isinstance(cell, float) and cell.is_integer():
            return str(int(cell))  # an id that a tool kept as a number
        return cell if isinstance(cell, str) else json.dumps(cell, default=str)

    return [text(cell) for cell in cells]


def _credits(
    cells: Mapping[str, list], table: pd.DataFrame, ties: str
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return how right each row is, whether it is tied, and what is wrong with its scores."""
    given = {field for field in ANSWERS if any(cell is not None for cell in cells[field])}
    shares = np.array([_share(cell) for cell in cells["correct"]])
    if "correct" in given and not given & {"scores", "score_chosen", "score_rejected"}:
        odd = ~((shares >= 0) & (shares <= 1))
        said = "`correct` is not between 0 and 1, or true or false", "write 1 or 0"
        tied = (shares > 0) & (shares < 1)
        right = np.where(tied & (ties == "wrong"), 0.0, shares)
        return right, tied, list(_named(*said, table["id"], odd))
    faults = []
    if "scores" in given:
        answers, counts = list(map(_numbers, cells["scores"])), list(map(_count, cells["num_correct"]))
        uncounted = table["subset"].map(_is_tied).to_numpy() & np.array([count is None for count in counts])
        said = (
            "the subset Ties has no `num_correct`",
            "add how many of the answers are right, which come first",
        )
        faults += _named(*said, table["id"], uncounted)
        right = [scores[: count or 1] for scores, count in zip(answers, counts, strict=True)]
        wrong = [scores[count or 1 :] for scores, count in zip(answers, counts, strict=True)]
        what = "`scores`"
    else:
        right, wrong = (list(map(_numbers, cells[field])) for field in ("score_chosen", "score_rejected"))
        what = "`score_chosen` or `score_rejected`"
    both = list(zip(right, wrong, strict=True))
    texts = np.array([None in [*one, *other] or not one or not other for one, other in both])
    values = [np.array([*one, *other], dtype=float) for one, other in both]  # None becomes NaN
    infinite = ~texts & ~np.array([np.isfinite(one).all() for one in values])
    again = "score these items again, or take them out of every file"
    faults += _named(f"{what} is a text or empty where a number has to be", again, table["id"], texts)
    faults += _named(f"{what} is NaN or infinite", again, table["id"], infinite)
    if (texts | infinite).any():
        return np.zeros(len(table)), np.zeros(len(table), dtype=bool), faults
    margins = np.array([min(one) - max(other) for one, other in both])
    at_top = np.array([1 + other.count(max(other)) for _, other in both])
    tied, single = margins == 0, np.array([len(one) == 1 for one in right])
    credit = np.where(tied & single & (ties == "shared"), 1 / at_top, margins > 0)
    other = single & ~tied & np.isin(shares, (0, 1)) & (shares != (margins > 0))
    says = (
        "`correct` or `results` contradicts the scores",
        "delete the column that is wrong, or turn its sign",
    )
    return credit, tied, [*faults, *_named(*says, table["id"], other)]


def _named(fault: str, fix: str, ids: pd.Series, bad: np.ndarray) -> Iterator[str]:
    """Yield one problem of all bad rows, with their number and the first."""
    if bad.any():
        yield f"{bad.sum()} of {len(ids)} rows: {fault} (first: id {ids[bad].iloc[0]}); {fix}"


def _numbers(cell: object) -> list[float | None]:
    """Return the numbers of a cell: one, or a list whose members may be lists of one; None for another."""
    if isinstance(cell, list):
        return [number for one in cell for number in _numbers(one)]
    try:
        return [None if cell is None or isinstance(cell, bool) else float(cell)]
    except (TypeError, ValueError):
        return [None]


def _share(cell: object) -> float:
    """Return a cell of `correct` as a number; NaN where it is none."""
    words = {"true": 1.0, "false": 0.0}
    found = [words.get(str(cell).strip().lower())]
    (number,) = found if found[0] is not None else (_numbers(cell) + [None])[:1]
    return np.nan if number is None else number


def _count(cell: object) -> int | None:
    (number,) = (_numbers(cell) + [None])[:1]
    return int(number) if number is not None and number >= 1 else None


def _is_tied(subset: str) -> bool:
    return subset.lower() == TIED_SUBSET


def _with_parts(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose ids begin with the data, benchmark or language, where a model has an id in several
    of them."""
    for part in PARTS:
        several = (table.groupby("model")[part].nunique() > 1).any()
        if several and table.duplicated(["model", "id"]).any():
            table = table.assign(id=table[part] + "/" + table["id"])
    return table


def _unlike(table: pd.DataFrame) -> Iterator[str]:
    """Yield why models cannot be compared: one is there twice, or their items differ."""
    models = dict(iter(table.groupby("model", sort=False)))
    for model, rows in models.items():
        yield from _repeated(model, rows)
    first_model, first_rows = next(iter(models.items()))
    first, first_files = _subsets(first_rows), _files(first_rows)
    for model, rows in models.items():
        found, files = _subsets(rows), _files(rows)
        for part in PARTS[1:]:
            ours, others = ({*of[part]} - {""} for of in (rows, first_rows))
            if ours and others and ours != others:
                yield (
                    f"{files}: {part} of {model} is {', '.join(sorted(ours))}, but in {first_files} it is"
                    f" {', '.join(sorted(others))}; compare scores of the same"
                )
        unlike = {"lacks": first.keys() - found.keys(), "adds": found.keys() - first.keys()}
        if any(unlike.values()):
            said = [f"{verb} {len(ids)} (such as {min(ids)})" for verb, ids in unlike.items() if ids]
            yield (
                f"{files}: the items of {model} are not those of {first_model} in {first_files}: it"
                f" {' and '.join(said)}. Score both on the same items, or take the others out"
            )
        moved = sorted(one for one in found.keys() & first.keys() if found[one] != first[one])
        if moved:
            yield (
                f"{files}: {len(moved)} items of {model} are in other subsets than in {first_files} (first:"
                f" {moved[0]}, in `{found[moved[0]]}` and `{first[moved[0]]}`); correct one of the files"
            )
    several = table.groupby("id")["cluster"].nunique() > 1
    if several.any():
        yield (
            f"{_files(table)}: {several.sum()} items have different clusters in them (first:"
            f" {several.idxmax()}); correct them, or name the column with --columns cluster=NAME"
        )
    if _clusters(table).nunique() == 1:
        yield (
            f"{_files(table)}: all items are of one cluster, so that"
            " no interval can be had. Name another column with --columns cluster=NAME. Or give --columns"
            f" cluster={NUMBERED}, if items are independent"
        )


def _repeated(model: str, rows: pd.DataFrame) -> Iterator[str]:
    """Yield what is there twice of a model: rows of a file, or files."""
    within = rows[rows.duplicated(["path", "id"])]
    for path, repeated in within.groupby("path", sort=False):
        ids = repeated["id"].unique()
        yield (
            f"{path}: {len(ids)} ids appear more than once for {model} (first: {ids[0]}); keep one row of"
            " each, or name another column with --columns id=NAME"
        )
    once = rows.drop_duplicates(["path", "id"])
    shared = once[once["id"].duplicated(keep=False)]
    if len(shared):
        yield (
            f"{_files(shared)}: the model `{model}` is in each; name one of them, or give --columns"
            f" model={NUMBERED}, which calls models by their files"
        )


def _subsets(rows: pd.DataFrame) -> dict[str, str]:
    return dict(zip(rows["id"], rows["subset"], strict=True))


def _files(rows: pd.DataFrame) -> str:
    return " and ".join(rows["path"].unique())


def _clusters(table: pd.DataFrame) -> pd.Series:
    """Return the cluster of each row: what any file names for its id."""
    by_id = table.groupby("id")[["cluster", "prompt"]].first()
    found = table["id"].map(by_id["cluster"].fillna(by_id["prompt"])).fillna(table["id"])
    question = table["id"].str.extract(PAIRED_IDS, expand=False)
    paired = table["subset"].map(_is_tied) & question.notna()
    return found.where(~paired, TIED_SUBSET + ":" + question.fillna(""))
