"""The page of errors: pairs on which reward models disagree, and CARB's items that all of them miss.

Margins are in standard deviations of a reward model's own margins, since reward models share no scale.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace as Record

import numpy as np
import pandas as pd

from polyreward.analysis.accuracy import correctness
from polyreward.carb.inputs import Carb
from polyreward.carb.leaderboard import rightness
from polyreward.config.model_files import ModelFiles
from polyreward.config.scale import Scale
from polyreward.core.conversations import as_text
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, write_text
from polyreward.core.naming import ModelName, Paths
from polyreward.core.tables import read_scores
from polyreward.report.results import Results
from polyreward.report.template import rendered

ERRORS = "errors.html"  # next to the report
# Pairs of a base, and items of a culture: the page shows the most with which it stays small enough.
MOST_SHOWN = (60, 40, 25, 15, 8, 4, 2, 1)
MOST_BYTES = 4_900_000  # a page of 5 MB still opens in a second
MOST_CHARACTERS = 1500  # of a text; some of RewardBench's are whole essays


def write_errors(results: Results, report: Path, root: Path) -> Path:
    """Write the page of errors next to the report, which it links to, and return its path.

    Args:
        results: the folder of results.
        report: the report's file.
        root: the checkout.

    Raises:
        PolyrewardError: scores are damaged, or belong to other rows.
    """
    scale, paths = results.registry.scale, Paths(str(results.folder))
    carb = Carb(scale, ModelFiles(scale))
    names = {code: facts["name"] for code, facts in scale.known.languages.items()}
    bases, missed = read_disagreements(scale, paths), read_missed_items(carb, paths)
    n_languages = [len(one.languages) for one in bases]
    text = ""
    for most in MOST_SHOWN:
        pairs = [pair for base in bases for pair in base.pairs[:most]]
        items = [item for listed in missed.by_culture.values() for item in listed[:most]] if missed else []
        text = rendered(
            root,
            "errors.html",
            ["style.css", "errors.css"],
            "errors.js",
            report=report.name,
            scale=scale,
            about=results.about,
            names=names,
            bases=bases,
            pairs=pairs,
            pair_filters=_pair_filters(pairs, scale.settings.target_languages, names),
            pairs_missing=n_languages != [len(scale.settings.target_languages)] * len(scale.settings.bases),
            missed=missed,
            items=items,
            item_filters=_item_filters(items, names),
            items_missing=not missed or missed.models != list(carb.reward_models),
            n_reward_models=len(carb.reward_models),
            command=results.command_of_all,
            most=most,
            most_usual=MOST_SHOWN[0],
        )
        if len(text.encode()) <= MOST_BYTES:
            break
    out = report.parent / ERRORS
    write_text(text, out)
    return out


def read_disagreements(scale: Scale, paths: Paths) -> list[Record]:
    """Return the pairs of the main benchmark on which each base's English and target reward model disagree.

    A base is left out unless its scores are there in the source and in at least one target language. Of
    several seeds, the first counts.

    Returns:
        For each base: base, languages, n_pairs, n_clear (disagreements that batching cannot turn), and pairs,
        the largest disagreement first.
    """
    main = scale.settings.benchmarks.main
    files = {language: paths.translated(main, language) for language in scale.languages}
    rows = {language: read_jsonl(path) for language, path in files.items() if Path(path).is_file()}
    found = (_disagreements(scale, paths, base, rows) for base in scale.settings.bases)
    return [one for one in found if one]


def _disagreements(scale: Scale, paths: Paths, base: str, rows: Mapping[str, list[dict]]) -> Record | None:
    main, source = scale.settings.benchmarks.main, scale.settings.source_language
    readings: dict[str, list[dict[str, Record]]] = {}
    for language, own in rows.items():
        trainings = dict.fromkeys([source, language])
        models = [
            str(ModelName(base, training, scale.settings.reward_model_seeds[0])) for training in trainings
        ]
        files = {model: paths.scores(main, model, language) for model in models}
        if all(Path(path).is_file() for path in files.values()):
            readings[language] = [_readings(own, path, model) for model, path in files.items()]
    if source not in readings or len(readings) == 1:
        return None
    texts = {language: {row["id"]: row for row in rows[language]} for language in readings}
    sections, pairs = scale.categories(main), []
    for row in rows[source]:
        columns = [
            _column(texts[language][row["id"]], language, of_models)
            for language, of_models in readings.items()
            if row["id"] in texts[language]
        ]
        disagreeing = [column for column in columns if column.disagree]
        if disagreeing:
            pairs.append(
                Record(
                    base=base,
                    id=row["id"],
                    section=sections[row["subset"]],
                    subset=row["subset"],
                    columns=columns,
                    apart=disagreeing,
                    size=max(column.size for column in disagreeing),
                    noisy=all(column.noisy for column in disagreeing),
                )
            )
    pairs.sort(key=lambda pair: (-pair.size, pair.id))
    languages = [language for language in readings if language != source]
    n_clear = sum(not pair.noisy for pair in pairs)
    n_pairs = len(rows[source])
    return Record(base=base, languages=languages, n_pairs=n_pairs, n_clear=n_clear, pairs=pairs)


def _readings(rows: list[dict], path: str, model: str) -> dict[str, Record]:
    """Return {id: one reward model's reading of the pair}; equal margins stay equal."""
    ids = pd.DataFrame({"id": [row["id"] for row in rows]})
    table = _columns(path, ["id", "score_chosen", "score_rejected", "within_noise"])
    if sorted(table["id"]) != sorted(ids["id"]):
        raise PolyrewardError(
            f"{path}: its {len(table)} scores do not belong to these {len(ids)} pairs; score the benchmark"
            " again"
        )
    table = ids.merge(table, on="id", validate="one_to_one")
    margins = table["score_chosen"] - table["score_rejected"]
    spread = np.std(margins, ddof=1) if len(margins) > 1 else 0.0
    units, right = margins / spread if spread > 0 else margins, correctness(table, "wrong") == 1
    return {
        key: Record(model=model, margin=float(unit), right=bool(is_right), noisy=bool(is_noisy))
        for key, unit, is_right, is_noisy in zip(
            table["id"], units, right, table["within_noise"], strict=True
        )
    }


def _column(row: dict, language: str, of_models: list[dict[str, Record]]) -> Record:
    rejected = row["rejected"] if isinstance(row["rejected"], str) else "\n\n".join(row["rejected"])
    readings = [found[row["id"]] for found in of_models]
    return Record(
        language=language,
        prompt=cut(as_text(row["prompt"])),
        chosen=cut(row["chosen"]),
        rejected=cut(rejected),
        readings=readings,
        disagree=len({reading.right for reading in readings}) > 1,
        size=abs(readings[0].margin - readings[-1].margin),
        noisy=any(reading.noisy for reading in readings),
    )


def read_missed_items(carb: Carb, paths: Paths) -> Record | None:
    """Return the items that every reward model misses, among models that scored all cultures; a tie is a
    miss.

    Returns:
        models, n_items, n, n_by_chance (the expected number if reward models erred independently, each at its
        rate in the domain) and by_culture, the furthest behind first. None without items or scores.
    """
    files = {
        model: [paths.scores("carb", model, culture) for culture in carb.settings.cultures]
        for model in carb.reward_models
    }
    there = [model for model, listed in files.items() if all(Path(path).is_file() for path in listed)]
    scored = [model for model in there if all(len(read_scores(path)) for path in files[model])]
    places = [paths.carb_items(culture) for culture in carb.settings.cultures]
    if not scored or not all(Path(path).is_file() for path in places):
        return None
    items = {item["id"]: item for path in places for item in read_jsonl(path)}
    tables = {model: _item_scores(files[model], items) for model in scored}
    columns = {model: rightness(table, "wrong").set_index("id")["right"] for model, table in tables.items()}
    right = pd.DataFrame(columns).loc[list(items)]
    of_domain = right.groupby(pd.Series({key: item["domain"] for key, item in items.items()}))
    picks = [_picks(table, model) for model, table in tables.items()]
    missed = [
        _missed(items[key], [of_model[key] for of_model in picks]) for key in right.index[~right.any(axis=1)]
    ]
    missed.sort(key=lambda item: (item.margin, item.id))
    return Record(
        models=scored,
        n_items=len(items),
        n=len(missed),
        n_by_chance=float((of_domain.size() * (1 - of_domain.mean()).prod(axis=1)).sum()),
        by_culture={
            culture: [item for item in missed if item.culture == culture]
            for culture in carb.settings.cultures
        },
    )


def _item_scores(files: Sequence[str], items: Mapping[str, dict]) -> pd.DataFrame:
    columns = ["id", "template", "language", "domain", "candidate", "is_chosen", "score", "within_noise"]
    table = pd.concat([_columns(path, columns) for path in files], ignore_index=True)
    answers = [(key, number) for key, item in items.items() for number in range(len(item["answers"]))]
    if sorted(zip(table["id"], table["candidate"], strict=True)) != sorted(answers):
        raise PolyrewardError(
            f"{Path(files[0]).parent}: its {len(table)} scores do not belong to these {len(answers)} answers;"
            " score the items again"
        )
    return table


def _picks(table: pd.DataFrame, model: str) -> dict[str, dict[int, Record]]:
    """Return {item: {answer: pick}} for the answers that a reward model scores highest.

    A margin is the right answer's score minus the best wrong one's.
    """
    best_wrong = table[~table["is_chosen"]].groupby("id")["score"].max()
    margins = table[table["is_chosen"]].set_index("id")["score"] - best_wrong
    margins = margins / margins.std() if margins.std() > 0 else margins
    top = table[table["score"] == table.groupby("id")["score"].transform("max")]
    tied = top["id"].duplicated(keep=False)
    found: dict[str, dict[int, Record]] = {key: {} for key in margins.index}
    for key, number, noisy, tie in zip(top["id"], top["candidate"], top["within_noise"], tied, strict=True):
        pick = Record(model=model, margin=float(margins[key]), noisy=bool(noisy), tied=bool(tie))
        found[key][int(number)] = pick
    return found


def _missed(item: dict, picks: Sequence[dict[int, Record]]) -> Record:
    cultures = [reference["culture"] for reference in item.get("references") or []]
    answers = [
        Record(
            text=cut(text),
            right_for=cultures[number] if cultures else "",
            is_right=number == item["chosen"],
            picks=[one[number] for one in picks if number in one],
        )
        for number, text in enumerate(item["answers"])
    ]
    return Record(
        id=item["id"],
        culture=item["culture"],
        domain=item["domain"],
        prompt=cut(as_text(item["prompt"])),
        answers=answers,
        margin=sum(next(iter(one.values())).margin for one in picks) / len(picks),
        noisy=any(pick.noisy for answer in answers for pick in answer.picks),
    )


def cut(text: str) -> Record:
    """Return a text's first MOST_CHARACTERS, and the number of characters left out."""
    return Record(shown=text[:MOST_CHARACTERS], n_left_out=max(0, len(text) - MOST_CHARACTERS))


def _columns(path: str, columns: Sequence[str]) -> pd.DataFrame:
    table = read_scores(path)
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise PolyrewardError(
            f"{path}: no column {', '.join(missing)}; it is from another version. Delete it and run the same"
            " command again"
        )
    return table[list(columns)]


# What a list may be narrowed by: (its name, its attribute of an article, [(value, name)])
Filter = tuple[str, str, list[tuple[str, str]]]


def _pair_filters(pairs: Sequence[Record], targets: Sequence[str], names: Mapping) -> list[Filter]:
    apart = {column.language for pair in pairs for column in pair.apart}
    return [
        ("Base", "base", _options(pair.base for pair in pairs)),
        ("Section", "section", _options(pair.section for pair in pairs)),
        ("Subset", "subset", _options(sorted(pair.subset for pair in pairs))),
        ("They disagree in", "languages", [(one, names[one]) for one in targets if one in apart]),
    ]


def _item_filters(items: Sequence[Record], names: Mapping) -> list[Filter]:
    cultures = dict.fromkeys(item.culture for item in items)
    return [
        ("Culture", "culture", [(one, names.get(one, one)) for one in cultures]),
        ("Domain", "domain", _options(sorted(item.domain for item in items))),
    ]


def _options(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in dict.fromkeys(values)]
