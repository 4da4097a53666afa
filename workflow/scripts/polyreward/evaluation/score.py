"""Score several reward models on several files of pairs, and what `polyreward score` prints of it."""

import dataclasses
import gc
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from polyreward.analysis.accuracy import ALL
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import unwritable
from polyreward.core.logs import announce
from polyreward.core.seals import intact
from polyreward.core.tables import as_markdown, p_text
from polyreward.evaluation.inspection import template_remarks
from polyreward.evaluation.kept import made_of, read_kept, write_kept
from polyreward.evaluation.options import NO_FOLDER, checked
from polyreward.evaluation.tables import (
    accuracy_tables,
    one_at_a_time,
    one_table,
    with_others,
    write_by_suffix,
)
from polyreward.prepare.pair_files import examples_of, read_pairs
from polyreward.scoring.families import load_reward_model
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
    pmi: bool = False,
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
        pmi: score by what the prompt adds to a causal LM's log-likelihood (kind implicit).

    The other arguments are options of `polyreward score`, which explains them.

    Raises:
        PolyrewardError: lists all that is wrong with what is given, or after the last model all that failed.
    """
    models, data = list(map(str, models)), list(map(str, data))
    asked = checked(
        models,
        data,
        out,
        against=against,
        limit=limit,
        kind=kind,
        reference=reference,
        beta=beta,
        revision=revision,
        max_length=max_length,
        token_budget=token_budget,
    )
    names, files, folder, against = asked.names, asked.files, asked.folder, asked.against
    rows, unread = {}, []
    for path, name in files.items():
        try:
            rows[name] = read_pairs(path, limit, layout)
        except PolyrewardError as error:
            unread.append(str(error))
    if len(unread) == 1 and not asked.sources:
        raise PolyrewardError(unread[0])
    raise_all(asked.sources + unread, "score")
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
        if pmi:
            entry["pmi"] = True
        if not Path(source).exists():
            announce(NO_FOLDER.format(source))
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
