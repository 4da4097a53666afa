"""The transfer matrix of one model."""

from pathlib import Path, PurePath

import click

from polyreward.cli.scoring import COUNT, how_to_score
from polyreward.cli.shared import PATH
from polyreward.core.inert import printable


@click.command(
    short_help="Compare a reward model's accuracy in other languages with English.",
    epilog=(
        "Example: polyreward matrix --model results/work/4_models/gemma-3-270m_en "
        "--pairs results/work/3_translated/mini-rewardbench --languages es,ko --out matrix"
    ),
)
@click.option("--model", required=True, help="Folder or hub id of the reward model.")
@click.option(
    "--pairs",
    multiple=True,
    metavar="FOLDER|LANGUAGE=FILE",
    help=(
        "Pairs in each language, with the same ids: a folder with en.jsonl and so on, or a file for each"
        " language. By default mini's, if results/ has them here; else --benchmark."
    ),
)
@click.option(
    "--benchmark", help="Benchmark of the hub instead of --pairs; by default multilingual-rewardbench."
)
@click.option(
    "--languages", multiple=True, metavar="LANGUAGE,...", help="Languages next to English; by default all."
)
@click.option(
    "--sections",
    help="Benchmark that gives sections and weights, as for compare; by default the pairs' own categories.",
)
@click.option("--base", help="Folder or hub id of the untrained base, to score by its PMI, too.")
@click.option("--shared", is_flag=True, help="Leave out items that a language lacks.")
@click.option(
    "--out",
    type=PATH,
    help="Folder to write; by default matrix_ and the model's name. Existing scores are kept.",
)
@click.option("--layout", help="Layout of the files of pairs; by default found by their columns.")
@click.option("--limit", type=COUNT, help="Rows to read, from the start of each file.")
@how_to_score
def matrix(
    model: str,
    pairs: tuple[str, ...],
    benchmark: str | None,
    languages: tuple[str, ...],
    sections: str | None,
    base: str | None,
    shared: bool,
    out: Path | None,
    layout: str | None,
    limit: int | None,
    **options,
) -> None:
    """Score a reward model in several languages, and print its accuracy in each and what it loses from
    English, next to length, PMI and the models of two papers.

    The folder gets matrix.csv, printed.csv, matrix.png, matrix.pdf, the page matrix.html, and the scores.
    Items are paired by id, so that files of all languages need the same ids."""
    if pairs and benchmark:
        raise click.UsageError("--pairs and --benchmark exclude each other; keep one")
    out = out or Path(f"matrix_{PurePath(model.rstrip('/')).name}")
    wanted = [one for text in languages for one in text.split(",") if one]
    from polyreward.evaluation import matrix_shown

    matrix_shown.check_folder(out)
    from polyreward.evaluation.matrix_run import (
        find_pairs,
        model_matrix,
    )  # imports PyTorch, which takes seconds
    from polyreward.report.matrix import write_matrix_page

    files, named = find_pairs(pairs, benchmark, wanted, out / "pairs")
    found = model_matrix(model, files, sections or named, base, out, shared, limit, layout, **options)
    matrix_shown.write_matrix(found, out)
    page = write_matrix_page(found, out)
    print(printable(matrix_shown.summary(found)))
    print(printable(f"\n{page}: the same as a page to share"))
