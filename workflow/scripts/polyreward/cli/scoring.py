"""Scores without the pipeline."""

from collections.abc import Sequence
from pathlib import Path

import click

from polyreward.cli.shared import PATH
from polyreward.core.inert import printable
from polyreward.core.kinds import REWARD_KINDS
from polyreward.core.project import ROOT

COUNT = click.IntRange(min=1)
KINDS = " ".join(f"{name}: {kind.score}." for name, kind in REWARD_KINDS.items())
POSITIVE = click.FloatRange(min=0, min_open=True)


def how_to_score(command):
    """Add the options that say how a model is loaded and run."""
    options = (
        click.option(
            "--kind",
            type=click.Choice(list(REWARD_KINDS)),
            default="classifier",
            help=f"Kind of model. {KINDS}",
        ),
        click.option("--reference", help="Folder or hub id of a policy's reference model (implicit)."),
        click.option("--beta", type=POSITIVE, default=0.1, help="Beta of the log-ratio (implicit)."),
        click.option(
            "--verdict",
            type=click.Choice(["labels", "text"]),
            default="labels",
            help="Verdict of a judge: probabilities of its labels, or the text that it writes (generative).",
        ),
        click.option("--revision", help="Commit of a hub id."),
        click.option(
            "--dtype",
            type=click.Choice(["float32", "bfloat16"]),
            default="float32",
            help="Precision. float32 is exact.",
        ),
        click.option(
            "--max-length",
            type=COUNT,
            default=2048,
            help="Tokens of a conversation; longer ones are cut on the left.",
        ),
        click.option("--token-budget", type=COUNT, default=2048, help="Tokens per batch."),
        click.option(
            "--attention",
            default="sdpa",
            help="Attention, by its name in transformers. A model without sdpa runs with eager.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    short_help="Score reward models on files of preference pairs.",
    epilog=(
        "Example: polyreward score results/work/4_models/gemma-3-270m_en "
        "results/work/3_translated/mini-rewardbench/es.jsonl --out scores.parquet"
    ),
)
@click.argument("model", required=False)
@click.argument("data", required=False)
@click.option("--model", "models", multiple=True, help="One more model; give it once for each.")
@click.option("--data", "files", multiple=True, help="One more file of pairs; give it once for each.")
@click.option(
    "--out",
    help=(
        "File to write (.parquet or .csv) with id, subset, category, score_chosen, "
        "score_rejected, truncated_share, within_noise. Or a folder; existing scores in it are kept."
    ),
)
@click.option(
    "--against", help="Model that the others are compared with: its name in the table, or as given."
)
@click.option(
    "--layout", help="Layout of the files of pairs; by default found by their columns. `inspect` names it."
)
@click.option(
    "--limit", type=COUNT, help="Rows to read, from the start of each file. A row may hold several pairs."
)
@how_to_score
def score(
    model: str | None,
    data: str | None,
    models: tuple[str, ...],
    files: tuple[str, ...],
    out: str | None,
    **options,
) -> None:
    """Score reward models on files of preference pairs and print their accuracies, the best first.

    MODEL is a folder or a hub id. DATA is a file of pairs: JSON Lines, JSON, CSV or Parquet, also compressed.
    It has the columns prompt, chosen and rejected, or a known layout
    such as HelpSteer's or JudgeBench's. rejected is one answer or a list; chosen must beat all. For several
    models or files: score --model A --model B --data x.jsonl --data y.csv."""
    every_model = [one for one in (model, *models) if one]
    every_file = [one for one in (data, *files) if one]
    for name, given in {"MODEL": every_model, "DATA": every_file, "--out": out}.items():
        if not given:
            kind = "option" if name == "--out" else "argument"
            raise click.MissingParameter(param_hint=f"'{name}'", param_type=kind)

    from polyreward.evaluation.options import checked

    checked(every_model, every_file, out, **options)

    from polyreward.evaluation.score import score_models, summary  # imports PyTorch, which takes seconds

    print(printable(summary(score_models(every_model, every_file, out, **options), options["limit"])))


@click.command(
    short_help="Compare models by scores that exist, of any tool.",
    epilog="Example: polyreward compare one.csv two.csv --sections rewardbench --out compared",
)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--columns",
    multiple=True,
    metavar="FIELD=COLUMN,...",
    help=(
        "Columns of your files, such as id=prompt_id,score_chosen=reward. Fields: id, subset, model, cluster,"
        " prompt, score_chosen, score_rejected, correct, scores, num_correct. Instead of a column, id=# is "
        "the row's number, model=# the file's name, cluster=# each item by itself."
    ),
)
@click.option(
    "--seeds",
    multiple=True,
    metavar="NAME=MODEL,...",
    help="Trainings of one model, by names or a pattern, such as 'mine=mine_seed*'. Once for each model.",
)
@click.option(
    "--sections",
    help=(
        "Benchmark that gives sections and weights, such as rewardbench or multilingual-rewardbench. "
        "each-subset takes the plain mean of subsets. By default each item counts the same."
    ),
)
@click.option(
    "--level",
    type=click.Choice(["overall", "section", "subset"]),
    default="overall",
    help="Parts on which pairs are compared. The correction is for all of them, so each part costs power.",
)
@click.option(
    "--ties",
    type=click.Choice(["wrong", "shared"]),
    default="wrong",
    help=(
        "Credit of a right answer that shares the highest score: none, as elsewhere in polyreward, or one "
        "over the number of answers at the top, as in RewardBench 2."
    ),
)
@click.option(
    "--out", type=PATH, help="Folder for models.csv, parts.csv, pairs.csv, models.png and models.pdf."
)
def compare(
    files: tuple[str, ...],
    columns: tuple[str, ...],
    seeds: tuple[str, ...],
    sections: str | None,
    level: str,
    ties: str,
    out: Path | None,
) -> None:
    """Compare models by the scores in FILES: accuracies with intervals, ranks, and every pair of models.

    FILES are what polyreward writes, rewardbench's per-example results, its released scores, RewardBench 2's
    best of four, or JSON Lines, CSV or Parquet of any tool. A row has an id, score_chosen and score_rejected
    or correct, and maybe a subset. Each file is a model, unless it has a column model.

    A tie counts as wrong, unless --ties says otherwise. Items of one cluster count together: those with the
    same cluster or template, else with the same prompt."""
    from polyreward.evaluation.compare import compare as compared
    from polyreward.evaluation.compare import sections_of
    from polyreward.evaluation.score_files import read_score_files
    from polyreward.evaluation.shown import check_folder, summary, write_comparison

    fields = _assigned("--columns", [part for one in columns for part in one.split(",")])
    trainings = _assigned("--seeds", seeds)
    benchmark = sections_of(sections, ROOT)
    if out:
        check_folder(out)
    found = compared(read_score_files(files, fields, ties), benchmark, trainings, level)
    if out:
        write_comparison(found, out)
    print(printable(summary(found, ties)))


def _assigned(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return {name: value} of texts such as `name=value`."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.BadParameter(f"`{text}` is not NAME=VALUE", param_hint=option)
        if name in found:
            raise click.BadParameter(f"`{name}` is given twice; give it once", param_hint=option)
        found[name] = value
    return found


@click.command(
    short_help="Show the content of a file of preference pairs, and its problems.",
    epilog="Example: polyreward inspect pairs.jsonl --model results/work/4_models/gemma-3-270m_en",
)
@click.argument("file")
@click.option("--layout", help="Layout of the file; by default found by its columns.")
@click.option("--limit", type=COUNT, help="Rows to read, from the start of the file.")
@click.option(
    "--model", help="Folder or hub id whose chat template is tried on every pair; no weights are loaded."
)
@click.option("--max-length", type=COUNT, default=2048, help="Tokens of a conversation.")
def inspect(file: str, layout: str | None, limit: int | None, model: str | None, max_length: int) -> None:
    """Show the layout of FILE, rows left out and why, and subsets.

    With --model, also rows that the model's chat template refuses, cuts, or makes equal."""
    from polyreward.evaluation.inspection import overview, template_remarks
    from polyreward.prepare.pair_files import read_pair_file

    found = read_pair_file(file, limit, layout)
    lines = [found.summary(), *overview(found)]
    if model:
        from polyreward.core.logs import announce
        from polyreward.core.seals import intact
        from polyreward.evaluation.options import NO_FOLDER
        from polyreward.scoring.load import load_tokenizer

        if not Path(model).exists():
            announce(NO_FOLDER.format(model))
        refusal, remarks = template_remarks(load_tokenizer(intact(model)), found.rows, model, max_length)
        lines += [*filter(None, [refusal]), *remarks] or [f"{model}: takes every pair whole"]
    print(printable("\n".join(lines)))
