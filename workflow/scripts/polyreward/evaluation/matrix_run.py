"""Find the pairs of each language, score them by a model and by baselines, and make the matrix."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from babel import Locale
from babel.core import UnknownLocaleError

from polyreward.analysis.comparison import Benchmark
from polyreward.core.errors import raise_all, unknown
from polyreward.core.files import write_jsonl
from polyreward.core.logs import announce
from polyreward.core.project import ROOT
from polyreward.evaluation.compare import sections_of
from polyreward.evaluation.matrix import (
    LENGTH,
    MODEL,
    PMI,
    SOURCE,
    Matrix,
    own_sections,
    same_items,
    transfer_matrix,
)
from polyreward.evaluation.options import short_names
from polyreward.evaluation.score import score_models
from polyreward.prepare.pair_files import read_pair_file
from polyreward.prepare.pool import with_problem
from polyreward.scoring.baselines import length_baseline
from polyreward.scoring.pairs import score_rows
from polyreward.sheet.catalogs import FILES, read_checked

OF_MINI = Path("results/work/3_translated/mini-rewardbench")
OF_HUB = "multilingual-rewardbench"
OF_ANY_KIND = (
    "dtype",
    "max_length",
    "token_budget",
    "attention",
)  # options that a base shares with the model


def find_pairs(
    pairs: Sequence[str], benchmark: str | None, languages: Sequence[str], folder: Path
) -> tuple[dict[str, Path], str | None]:
    """Return {language: its file of pairs}, English first, and the benchmark of the catalog that they are.

    Args:
        pairs: folders of <language>.jsonl, and LANGUAGE=FILE. Without them, `benchmark` of the hub is fetched
            into `folder`; without it mini's, if it is here, else M-RewardBench.
        languages: which of them; () for all. English is always there.

    Raises:
        PolyrewardError: lists all that is wrong.
    """
    wanted = list(dict.fromkeys([SOURCE, *languages])) if languages else []
    if not pairs and benchmark is None and OF_MINI.is_dir():
        announce(f"pairs: {OF_MINI}; name others with --pairs or --benchmark")
        pairs = [str(OF_MINI)]
    if not pairs:
        return hub_files(benchmark or OF_HUB, wanted, folder), benchmark or OF_HUB
    files, problems = {}, []
    for one in pairs:
        language, equals, file = one.partition("=")
        if equals and not Path(one).exists():
            found = {language: Path(file)}
        else:
            found = {path.stem: path for path in sorted(Path(one).glob("*.jsonl"))}
            if not Path(one).is_dir() or not found:
                problems.append(
                    f"--pairs {one}: no folder with files such as en.jsonl; or name files, as en=FILE"
                )
        for name, path in found.items():
            if name in files:
                problems.append(f"--pairs: `{name}` is given as {files[name]} and as {path}; name one")
            if not _is_language(name):
                problems.append(
                    f"--pairs: `{name}` ({path}) is no ISO 639 code of a language, such as es; rename it"
                )
            files[name] = path
    problems += unknown("--languages", wanted[1:], files, "--pairs")
    raise_all(problems, "matrix")
    names = [SOURCE, *files] if SOURCE in files else list(files)
    chosen = {name: files[name] for name in names if not wanted or name in wanted}
    catalog = read_checked(ROOT / FILES["benchmarks"])
    named = {Path(one).name for one in pairs if Path(one).is_dir()} & catalog.keys()
    return chosen, named.pop() if len(named) == 1 else None


def _is_language(name: str) -> bool:
    try:
        return bool(Locale.parse(name).get_language_name("en"))
    except (ValueError, UnknownLocaleError):
        return False


def hub_files(name: str, wanted: Sequence[str], folder: Path) -> dict[str, Path]:
    """Fetch a benchmark of the hub that has several languages, and write <language>.jsonl into a folder.

    Raises:
        PolyrewardError: the catalogs have no such benchmark, or it lacks a language.
    """
    benchmarks, datasets = (read_checked(ROOT / FILES[one]) for one in ("benchmarks", "datasets"))
    there = {one for one, facts in benchmarks.items() if "holds" in datasets[facts["dataset"]]}
    there = {one for one in there if datasets[benchmarks[one]["dataset"]].get("languages")}
    raise_all(unknown("--benchmark", [name], there, FILES["benchmarks"]), "matrix")
    entry, code = datasets[benchmarks[name]["dataset"]], benchmarks[name].get("code", [])
    raise_all(unknown("--languages", wanted, entry["languages"], name), "matrix")
    chosen = {SOURCE: entry["languages"][SOURCE], **entry["languages"]}
    chosen = {one: chosen[one] for one in chosen if not wanted or one in wanted}
    from polyreward.sources.hub_data import hub_rows  # imports datasets, which takes seconds

    announce(f"pairs: {name} of the hub, in {', '.join(chosen)}")
    rows = hub_rows({**entry, "languages": chosen}, benchmarks[name]["dataset"])
    rows = [with_problem(row) if row["subset"] in code else row for row in rows]
    files = {language: folder / f"{language}.jsonl" for language in chosen}
    for language, path in files.items():
        own = ({**row, **row["translations"].get(language, {})} for row in rows)
        write_jsonl(({key: row[key] for key in row if key != "translations"} for row in own), path)
    return files


def model_matrix(
    model: str,
    files: Mapping[str, Path],
    sections: str | None,
    base: str | None,
    folder: Path,
    shared: bool,
    limit: int | None,
    layout: str | None,
    **options,
) -> Matrix:
    """Score a model, its base and the length baseline in each language, and return the matrix.

    Args:
        files: as from find_pairs.
        sections: a benchmark of the catalog; None for the rows' own categories.
        base: folder or hub id of the untrained base, which is scored by PMI.
        folder: where scores are written, and kept for the next run.
        options: of score.score_models.

    Raises:
        PolyrewardError: as score_models and transfer_matrix.
    """
    missing = [f"{path}: no such file; correct the path" for path in files.values() if not path.is_file()]
    raise_all(missing, "matrix")
    rows = {language: read_pair_file(path, limit, layout).rows for language, path in files.items()}
    same_items(rows, shared)  # before minutes of scoring
    benchmark = sections_of(sections, ROOT)
    if not isinstance(benchmark, Benchmark):
        benchmark = own_sections(rows[SOURCE])
    paths = {language: str(path) for language, path in files.items()}
    names = short_names(list(paths.values()), with_suffix=False)

    def scored(source: str, where: Path, role: str, **how) -> tuple[str, dict]:
        found = score_models([source], list(paths.values()), where, limit=limit, layout=layout, **how).scores
        ((_, name), *_) = found
        shown = f"PMI of {name}" if role == PMI else name
        return shown, {(shown, role, one): found[names[path], name] for one, path in paths.items()}

    name, scores = scored(model, folder / "scores", MODEL, **options)
    scores |= {(LENGTH, LENGTH, one): score_rows(length_baseline(), rows[one], LENGTH) for one in files}
    if base is not None:
        plain = {key: options[key] for key in OF_ANY_KIND if key in options}
        scores |= scored(base, folder / "scores/pmi", PMI, kind="implicit", pmi=True, **plain)[1]
    by_text = options.get("kind") == "generative" and options.get("verdict") == "text"
    return transfer_matrix(name, scores, rows, benchmark, [name] if by_text else [], shared)
