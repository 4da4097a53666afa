"""Several reward models on several files of pairs: one function, which `polyreward score` calls."""

import dataclasses
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from polyreward.core.errors import PolyrewardError, raise_all, unknown_name
from polyreward.core.logs import announce
from polyreward.evaluation.inspection import render
from polyreward.evaluation.kept import made_of, read_kept, write_kept
from polyreward.evaluation.names import short_names, twice
from polyreward.evaluation.tables import SUFFIXES, accuracy_tables, one_table, write_by_suffix
from polyreward.prepare.pair_files import read_pairs
from polyreward.scoring.families import load_reward_model, source_problems
from polyreward.scoring.load import load_tokenizer
from polyreward.scoring.pairs import score_rows


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What score_models found.

    table: a row for each set of pairs and model, the best first: data, model, accuracy_pct, low, high,
    n_items, truncated_pct,
        n_within_noise, chance_pct; with `against` also difference, difference_low, difference_high,
        p_mcnemar.
    subsets: the accuracies of each subset.
    scores: {(data, model): table with a row for each pair}.
    kept: keys of those that were not scored again.
    against: the name of the model that others are compared with."""

    table: pd.DataFrame
    subsets: pd.DataFrame
    scores: dict[tuple[str, str], pd.DataFrame]
    kept: list[tuple[str, str]]
    against: str | None


def score_models(
    models: Sequence[str],
    data: Sequence[str],
    out: str | Path | None = None,
    *,
    against: str | None = None,
    limit: int | None = None,
    layout: str | None = None,
    kind: str = "classifier",
    reference: str | None = None,
    beta: float = 0.1,
    verdict: str = "labels",
    revision: str | None = None,
    dtype: str = "float32",
    max_length: int = 2048,
    token_budget: int = 2048,
    attention: str = "sdpa",
) -> Evaluation:
    """Score reward models on files of preference pairs and compare their accuracies.

    models: folders or hub ids, all of one kind.
    data: files as prepare.pair_files.read_pairs reads them. A model is called by the last part of its
    path, a file by its name
        without suffix, or by more of the path where that names two.
    against: the model that others are compared with, by its name or as in `models`.
    limit: rows of each file, from its begin; None for all.
    layout: of the files, as pair_layouts.LAYOUTS names it; None to find it by their columns.
    out: a file for all scores, Parquet, CSV, JSON or JSON Lines by its suffix; or a folder, which gets
    accuracy.csv,
        subsets.csv and the score files, <file of pairs>/<model>.parquet. What the folder holds of the same
        model, pairs,
        settings and code is not scored again. None: nothing is written.
    kind: classifier, implicit or generative.
    reference, beta: of DPO policies (implicit).
    verdict: labels or text (generative).
    revision: commit of a hub id.
    dtype: float32, bfloat16 or auto.
    max_length: tokens, truncated on the left.
    token_budget: tokens per batch.
    attention: as transformers names it.
    Raises PolyrewardError that lists all that is wrong with what is given, or after the last model all
    that could not score."""
    models, data = list(map(str, models)), list(map(str, data))
    folder = _folder(out)
    problems = list(_option_problems(models, data, out, kind, reference, revision, limit))
    problems += [problem for one in (*models, reference) if one for problem in source_problems(one)]
    names, files = short_names(models, with_suffix=True), short_names(data, with_suffix=False)
    if against is not None:
        against = names.get(against, against)
        if against not in names.values():
            problems.append(f"--against: {unknown_name(against, list(names.values()), 'this run')}")
        if len(models) == 1:
            problems.append("--against: there is but one model; add one with --model")
    rows, unread = _read_all(files, limit, layout)
    if len(unread) == 1 and not problems:
        raise PolyrewardError(unread[0])
    raise_all(problems + unread, "score")

    work = _Work(
        rows,
        folder,
        {"dtype": dtype, "max_length": max_length, "token_budget": token_budget, "attention": attention},
    )
    for source, model in names.items():
        entry = {"kind": kind, "source": source, "revision": revision, "verdict": verdict}
        if reference:
            entry.update(reference={"source": reference}, beta=beta)
        work.score(entry, model)
    if work.failed:
        if len(names) == 1:
            raise PolyrewardError(work.failed[0])
        raise_all(
            work.failed,
            f"score{f'; the scores of other models are in {folder}' if folder and work.scores else ''}",
        )
    table, subsets = accuracy_tables(rows, work.scores, against)
    if folder is not None:
        write_by_suffix(table, folder / "accuracy.csv")
        write_by_suffix(subsets, folder / "subsets.csv")
    elif out is not None:
        write_by_suffix(one_table(work.scores), Path(out))
    return Evaluation(table, subsets, work.scores, work.kept, against)


def _folder(out: str | Path | None) -> Path | None:
    """Return the folder that `out` names; None where it names a file or is None."""
    return Path(out) if out is not None and (Path(out).is_dir() or not Path(out).suffix) else None


def _option_problems(models, data, out, kind, reference, revision, limit) -> Iterator[str]:
    for what, given in (("model", models), ("file of pairs", data)):
        if not given:
            yield f"no {what} is named; name one or more"
        yield from twice(given, what)
    if reference and kind != "implicit":
        yield f"--reference: a {kind} has none; add --kind implicit"
    if revision and len(models) > 1:
        yield "--revision: is the commit of one model; score each hub id by itself, into the same folder"
    if limit is not None and limit < 1:
        yield f"--limit: {limit} is less than one pair; give 1 or more"
    if out is not None and _folder(out) is None and Path(out).suffix.lower() not in SUFFIXES:
        yield (
            f"--out: {out}: `{Path(out).suffix}` is no format that is written here; use"
            f" {', '.join(SUFFIXES)}, or name a folder"
        )


def _read_all(
    files: dict[str, str], limit: int | None, layout: str | None
) -> tuple[dict[str, list[dict]], list[str]]:
    """Return ({name: rows}, what is wrong with files)."""
    rows, problems = {}, []
    for path, name in files.items():
        try:
            rows[name] = read_pairs(path, limit, layout)
        except PolyrewardError as error:
            problems.append(str(error))
    return rows, problems


class _Work:
    """The scores so far. folder: where score files are kept, None for nowhere. scoring: as
    families.load_reward_model has it."""

    def __init__(self, rows: dict[str, list[dict]], folder: Path | None, scoring: dict):
        self.rows, self.folder, self.scoring = rows, folder, scoring
        self.scores: dict[tuple[str, str], pd.DataFrame] = {}
        self.kept: list[tuple[str, str]] = []
        self.failed: list[str] = []

    def score(self, entry: dict, model: str) -> None:
        """Score a model on all sets of pairs of which the folder does not have its scores; what fails is
        noted."""
        try:
            made = self._take_kept(entry, model)
            todo = [name for name in self.rows if (name, model) not in self.scores]
            if not todo:
                return
            self._check_template(entry, model, todo)
            reward_model = load_reward_model(entry, self.scoring, cache=None)
            for name in todo:
                label = model if len(self.rows) == 1 else f"{model} on {name}"
                scores = score_rows(reward_model, self.rows[name], label)
                if self.folder is not None:
                    write_kept(scores, self._file(name, model), made[name])
                self.scores[name, model] = scores
            del reward_model
            gc.collect()  # its memory is the next model's
        except PolyrewardError as error:
            self.failed.append(str(error))

    def _check_template(self, entry: dict, model: str, todo: list[str]) -> None:
        """Try the model's chat template on every row before its weights are loaded.

        Raises PolyrewardError that names the rows that it refuses; rows that it cuts or makes equal are logged."""
        if entry["kind"] == "generative":
            return  # a judge sees one question about all answers
        tokenizer = load_tokenizer(entry["source"], entry["revision"])
        for name in todo:
            found = render(tokenizer, self.rows[name], self.scoring["max_length"])
            lines = found.lines(f"{model} on {name}", self.scoring["max_length"])
            if found.refused:
                raise PolyrewardError(lines[0])
            for line in lines:
                announce(line)

    def _take_kept(self, entry: dict, model: str) -> dict[str, dict]:
        """Take what the folder has; returns {data: what its scores follow from}."""
        if self.folder is None:
            return {}
        made = made_of(entry, self.rows, self.scoring)
        for name, of in made.items():
            scores, changed = read_kept(self._file(name, model), of)
            if scores is not None:
                self.scores[name, model] = scores
                self.kept.append((name, model))
                announce(f"{model} on {name}: not scored again, {self._file(name, model)} has the scores")
            elif changed:
                announce(f"{model} on {name}: scored again, as {changed}")
        return made

    def _file(self, name: str, model: str) -> Path:
        assert self.folder is not None
        return self.folder / name / f"{model}.parquet"
