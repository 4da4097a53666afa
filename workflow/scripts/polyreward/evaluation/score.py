"""Score several reward models on several files of pairs, and what `polyreward score` prints of it."""

import dataclasses
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import pandas as pd

from polyreward.analysis.accuracy import ALL
from polyreward.core.errors import PolyrewardError, raise_all, unknown, unknown_name
from polyreward.core.files import unwritable
from polyreward.core.kinds import REWARD_KINDS
from polyreward.core.logs import announce
from polyreward.core.seals import intact
from polyreward.core.tables import as_markdown, p_text
from polyreward.evaluation.inspection import template_remarks
from polyreward.evaluation.kept import made_of, read_kept, write_kept
from polyreward.evaluation.tables import (
    SUFFIXES,
    accuracy_tables,
    one_at_a_time,
    one_table,
    short_names,
    with_others,
    write_by_suffix,
)
from polyreward.prepare.pair_files import examples_of, read_pairs
from polyreward.scoring.families import load_reward_model, source_problems
from polyreward.scoring.load import load_tokenizer
from polyreward.scoring.pairs import score_rows


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What score_models found.

    Attributes:
        table: a row for each file and model, the best first, as tables.accuracy_tables.
        subsets: the accuracies of each subset.
        scores: {(data, model): table with a row for each pair}.
        kept: keys of those that were not scored again.
        against: the name of the model that others are compared with.
    """

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

    A model is called by the last part of its path, a file by its name without suffix, or by more of the path
    where that names two.

    Args:
        models: folders or hub ids, all of one kind.
        data: files as prepare.pair_files.read_pairs reads them.
        out: a file for all scores, by its suffix Parquet or CSV. Or a folder for accuracy.csv,
            subsets.csv and score files, <file of pairs>/<model>.parquet: scores of the same
            model, pairs, settings and code are kept. None: nothing is written.
        against: the model that others are compared with, by its name or as in `models`.

    The other arguments are options of `polyreward score`, which explains them.

    Raises:
        PolyrewardError: lists all that is wrong with what is given, or after the last model all that failed.
    """
    models, data = list(map(str, models)), list(map(str, data))
    folder = Path(out) if out is not None and (Path(out).is_dir() or not Path(out).suffix) else None
    problems = [*_named_wrong(models, "model"), *_named_wrong(data, "file of pairs")]
    problems += unknown("--kind", [kind], REWARD_KINDS, "core/kinds.py")
    if reference and kind != "implicit":
        problems.append(f"--reference: a {kind} has none; add --kind implicit")
    if revision and len(models) > 1:
        problems.append("--revision: is one model's commit; score each hub id by itself, into one folder")
    counts = {"--limit": limit, "--max-length": max_length, "--token-budget": token_budget}
    problems += [
        f"{name}: {given} is less than one; give 1 or more"
        for name, given in counts.items()
        if given is not None and given < 1
    ]
    if not beta > 0:
        problems.append(f"--beta: {beta} is not above 0; give a positive number, such as 0.1")
    if folder and folder.exists() and not folder.is_dir():
        problems.append(f"--out: {out}: is a file without a known suffix; name a folder or another file")
    if out is not None and folder is None and Path(out).suffix.lower() not in SUFFIXES:
        known = f"use {', '.join(SUFFIXES)}, or name a folder"
        problems.append(f"--out: {out}: `{Path(out).suffix}` is no format that is written here; {known}")
    problems += [problem for one in (*models, reference) if one for problem in source_problems(one)]
    names, files = short_names(models, with_suffix=True), short_names(data, with_suffix=False)
    if against is not None:
        against = names.get(against, against)
        if against not in names.values():
            problems.append(f"--against: {unknown_name(against, list(names.values()), 'this run')}")
        if len(models) == 1:
            problems.append("--against: there is only one model; add one with --model")
    rows, unread = {}, []
    for path, name in files.items():
        try:
            rows[name] = read_pairs(path, limit, layout)
        except PolyrewardError as error:
            unread.append(str(error))
    if len(unread) == 1 and not problems:
        raise PolyrewardError(unread[0])
    raise_all(problems + unread, "score")
    if out is not None:
        places = [folder / "accuracy.csv", *(folder / name / "a" for name in rows)] if folder else [Path(out)]
        refused = {place: reason for place in places if (reason := unwritable(place))}
        raise_all(
            (
                f"--out: {place}: cannot be written ({refused[place]}); name another place"
                for place in refused
            ),
            "score",
        )

    scoring = {"dtype": dtype, "max_length": max_length, "token_budget": token_budget, "attention": attention}
    scores: dict[tuple[str, str], pd.DataFrame] = {}
    kept, failed = [], []
    for source, model in names.items():
        entry = {"kind": kind, "source": source, "revision": revision, "verdict": verdict}
        if reference:
            entry.update(reference={"source": reference}, beta=beta)
        try:
            made = made_of(entry, rows, scoring) if folder else {}
            for name, content in made.items():
                path = folder / name / f"{model}.parquet"
                found = read_kept(path, content)
                if found is not None:
                    scores[name, model] = found
                    kept.append((name, model))
                    announce(f"{model} on {name}: not scored again, {path} has the scores")
                elif path.exists():
                    why = f"{path} was made of something else"
                    if content is None:
                        why = "the hub did not name its model's commit (give --revision)"
                    announce(f"{model} on {name}: scored again, as {why}")
            todo = {name: found for name, found in rows.items() if (name, model) not in scores}
            if not todo:
                continue
            _check_template(entry, model, todo, max_length)
            reward_model = load_reward_model(entry, scoring, cache=None)
            for name, found in todo.items():
                label = model if len(rows) == 1 else f"{model} on {name}"
                scores[name, model] = score_rows(reward_model, found, label)
                if folder:
                    write_kept(scores[name, model], folder / name / f"{model}.parquet", made[name])
            del reward_model
            gc.collect()  # frees memory for the next model
        except PolyrewardError as error:
            failed.append(str(error))
    if len(failed) == len(names) == 1:
        raise PolyrewardError(failed[0])
    raise_all(failed, f"score; the scores of other models are in {folder}" if folder and scores else "score")
    table, subsets = accuracy_tables(rows, scores, against)
    if folder:
        with one_at_a_time(folder):
            for name, found in (("accuracy.csv", table), ("subsets.csv", subsets)):
                whole, others = with_others(found, folder / name)
                write_by_suffix(whole, folder / name)
                if others:
                    announce(f"{folder / name}: also has {others} lines of earlier runs into this folder")
    elif out is not None:
        write_by_suffix(one_table(scores), Path(out))
    return Evaluation(table, subsets, scores, kept, against)


def _named_wrong(sources: Sequence[str], what: str) -> Iterator[str]:
    if not sources:
        yield f"no {what} is named; name one or more"
    paths = [PurePath(source) for source in sources]
    for path in dict.fromkeys(paths):
        if paths.count(path) > 1:
            yield f"{path}: is named {paths.count(path)} times; name each {what} once"


def _check_template(entry: dict, model: str, rows: dict[str, list[dict]], max_length: int) -> None:
    """Try the model's chat template on every row before its weights are loaded.

    Raises:
        PolyrewardError: names the rows that it refuses.
    """
    if entry["kind"] == "generative":
        return  # a judge sees one question about all answers
    tokenizer = load_tokenizer(intact(entry["source"]), entry["revision"])
    for name, found in rows.items():
        refusal, remarks = template_remarks(tokenizer, found, f"{model} on {name}", max_length)
        if refusal:
            raise PolyrewardError(refusal)
        for remark in remarks:
            announce(remark)


def summary(found: Evaluation, limit: int | None) -> str:
    """Return an evaluation as text: a table of one model's subsets, or of the models, and remarks."""
    table, near = found.table.drop(columns="chance_pct"), []
    if len(found.scores) == 1:
        (scores,) = found.scores.values()
        overall = found.table.drop(columns=["data", "model", "chance_pct"]).assign(subset=ALL)
        table = pd.concat([found.subsets.drop(columns=["data", "model"]), overall], ignore_index=True)
        near = list(scores["id"][scores["within_noise"]])
    chances = {f"{row.chance_pct:.1f}": row.data for row in found.table.itertuples()}
    several = len(chances) > 1
    gets = " ".join(f"{share} ({data})" if several else share for share, data in chances.items())
    remarks = [
        f"A scorer that does not read gets {gets}. low and high are 95% Wilson intervals over requests:"
        " pairs of one template count as one, without templates those of one prompt."
    ]
    if found.against is not None:
        remarks.append(
            f"difference is from {found.against} on the same pairs, in percentage points, with its 95% paired"
            " bootstrap interval, over requests, too; p_mcnemar is McNemar's exact"
            " test."
        )
    if limit is not None:
        sizes = {data: len(table) for (data, _), table in found.scores.items()}
        pairs = ", ".join(
            f"{count} ({data})" if len(sizes) > 1 else str(count) for data, count in sizes.items()
        )
        remarks.append(
            f"Only the first {limit} rows of each file (--limit) were read. Pairs in them: {pairs}."
        )
    if near:
        remarks.append(f"Margins that batching may turn (n_within_noise): {examples_of(near)}")
    if found.kept:
        remarks.append(f"{len(found.kept)} of {len(found.scores)} score files were there and are kept.")
    filled: pd.DataFrame = table.astype(object).where(table.notna(), None)
    if "p_mcnemar" in filled:
        filled["p_mcnemar"] = table["p_mcnemar"].map(p_text)
    shown = as_markdown(filled, floatfmt=".1f", missingval="")
    return f"{shown}\n\n" + "\n".join(remarks)
