"""The `polyreward` command: scoring without a pipeline, and the upkeep of settings, catalogs and environments."""

import os
import sys
from pathlib import Path

import click

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.inert import printable

ROOT = Path(__file__).parents[3]
FIRST_PROBLEMS = 10  # of a catalog that are listed
RESULTS = click.option(
    "--results", type=click.Path(path_type=Path), default=Path("results"), show_default=True, help="A scale's results folder."
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns 0, 1 after printing what is wrong, or 2 after a wrong option."""
    try:
        ended = commands.main(arguments, prog_name="polyreward", standalone_mode=False)
        sys.stdout.flush()
    except PolyrewardError as error:
        print(printable(f"polyreward: {error}"), file=sys.stderr)
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:  # Ctrl-C; click has ended the line of the bar
        print("polyreward: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has enough; Python would complain again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return ended if isinstance(ended, int) else 0  # `--help` ends with a number, a command with None


def checkout() -> Path:
    """Return the checkout at hand: the one that the current folder is in, else the one that this package stands in."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "workflow/artifacts.yaml").is_file()), ROOT)


def summary(problems: str) -> str:
    """Return a list of problems by its first FIRST_PROBLEMS and the number of the others."""
    heading, *listed = problems.split("\n  - ")
    more = len(listed) - FIRST_PROBLEMS
    shown = "".join(f"\n  - {problem}" for problem in listed[:FIRST_PROBLEMS])
    return f"{heading}{shown}\n  and {more} more; --all lists them" if more > 0 else problems


class Listing(click.Command):
    """A command whose option --configfile takes all words up to the next option, as Snakemake's does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its words, as click has it."""
        spread: list[str] = []
        for word in args:
            goes_on = spread[-2:-1] == ["--configfile"] and not word.startswith("-")
            spread += ["--configfile", word] if goes_on else [word]
        return super().parse_args(ctx, spread)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
def commands() -> None:
    """Tools of the polyreward pipeline; `snakemake` runs it."""


@commands.command(
    short_help="Score reward models on files of preference pairs.",
    epilog="Example: polyreward score results/work/4_models/gemma-3-270m_en "
    "results/work/3_translated/mini-rewardbench/es.jsonl --out scores.parquet",
)
@click.argument("model", required=False)
@click.argument("data", required=False)
@click.option("--model", "models", multiple=True, help="One more model; give it once for each.")
@click.option("--data", "files", multiple=True, help="One more file of pairs; give it once for each.")
@click.option(
    "--out",
    help="File to write, .parquet, .csv, .json or .jsonl: id, subset, category, score_chosen, score_rejected, "
    "truncated_share, within_noise. Or a folder, where what is there already is not scored again.",
)
@click.option("--against", help="Model that the others are compared with: its name in the table, or as given.")
@click.option("--limit", type=click.IntRange(min=1), help="Score the first so many pairs of each file alone.")
@click.option(
    "--kind",
    type=click.Choice(["classifier", "implicit", "generative"]),
    default="classifier",
    show_default=True,
    help="classifier: its output is the reward; implicit: log-likelihood, or with --reference the log-ratio of a DPO policy; "
    "generative: a judge.",
)
@click.option("--reference", help="Folder or hub id of a policy's reference model (implicit).")
@click.option("--beta", type=float, default=0.1, show_default=True, help="Of the log-ratio (implicit).")
@click.option(
    "--verdict",
    type=click.Choice(["labels", "text"]),
    default="labels",
    show_default=True,
    help="What of a judge's reply counts: the probabilities of its labels, or what it writes (generative).",
)
@click.option("--revision", help="Commit of a hub id.")
@click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16", "auto"]),
    default="float32",
    show_default=True,
    help="float32 is exact; auto: bfloat16 where it is native.",
)
@click.option("--max-length", type=int, default=2048, show_default=True, help="Tokens, truncated on the left.")
@click.option("--token-budget", type=int, default=2048, show_default=True, help="Tokens per batch.")
@click.option(
    "--attention",
    default="sdpa",
    show_default=True,
    help="As transformers names it; a model that has no sdpa is run with eager, and says so.",
)
def score(
    model: str | None, data: str | None, models: tuple[str, ...], files: tuple[str, ...], out: str | None, **options
) -> None:
    """Score reward models on files of preference pairs and print their accuracies, the best first.

    MODEL is a folder, or a hub id. DATA is a file, JSON Lines, JSON, CSV or Parquet by its suffix, with the columns prompt,
    chosen, rejected and perhaps id and subset: texts, or message lists as TRL has them; rejected is one answer or a list, all of
    which chosen must beat. More of both are options: score --model A --model B --data x.jsonl --data y.csv."""
    every_model, every_file = ([one for one in (first, *more) if one] for first, more in ((model, models), (data, files)))
    for given, missing in ((every_model, "MODEL"), (every_file, "DATA")):
        if not given:
            raise click.MissingParameter(param_hint=f"'{missing}'", param_type="argument")
    if not out:
        raise click.MissingParameter(param_hint="'--out'", param_type="option")

    from polyreward.evaluation.score import score_models
    from polyreward.evaluation.texts import summary

    print(printable(summary(score_models(every_model, every_file, out, **options), options["limit"])))


@commands.command()
@click.argument("action", type=click.Choice(["check", "update"]))
@click.argument("languages", nargs=-1, required=True)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=lambda: checkout() / "resources/mini",
    show_default="resources/mini of this checkout",
    help="Folder of pool/, pool_twins/, eval/, twins/ and catalogs/.",
)
@click.option("--all", "whole", is_flag=True, help=f"List every problem, not the first {FIRST_PROBLEMS} of each language.")
def catalog(action: str, languages: tuple[str, ...], data: Path, whole: bool) -> None:
    """Check or update the translation catalogs (.po files).

    `check` lists what is missing; `update` adds new texts. LANGUAGES are ISO 639-1 codes, such as es it ko zh."""
    from polyreward.core.yaml_files import read_yaml
    from polyreward.sources.templates import data_files, read_templates
    from polyreward.translation.catalog import read_translations, texts_of_templates, update_catalog

    schema = read_yaml(ROOT / "workflow/schemas/templates.schema.yaml")
    files = [file for name in ("pool", "pool_twins", "eval", "twins") for file in data_files(data / name)]
    templates = read_templates(files, schema)
    texts = texts_of_templates(templates)
    paths = {language: data / "catalogs" / f"{language}.po" for language in languages}
    problems = []
    for language, path in paths.items():
        if action == "update":
            update_catalog(path, templates, language)
            print(f"{path}: written")
        try:
            print(f"{path}: {len(read_translations(path, language, texts))} texts, all translated")
        except PolyrewardError as error:
            problems.append(str(error) if whole else summary(str(error)))
    if problems:
        raise PolyrewardError("\n".join(problems))


@commands.command(
    cls=Listing,
    short_help="Begin the folder of a new language, or check what it lacks.",
    epilog="Example: polyreward language check fr --configfile workflow/scales/tiny.yaml workflow/scales/french.yaml",
)
@click.argument("action", type=click.Choice(["check", "update"]))
@click.argument("language")
@click.option(
    "--folder",
    help="Of the language's facts and texts; by default that of language_folders in the settings, else "
    "resources/languages/<language>.",
)
@click.option("--configfile", multiple=True, metavar="FILE...", help="Overlays on config.yaml; none for scale mini.")
def language(action: str, language: str, folder: str | None, configfile: tuple[str, ...]) -> None:
    """Begin the folder of a language that brings one of its own, or list all that is missing or broken in it.

    `update` writes what there is to translate, in the order in which a scale draws it, and keeps what is translated. LANGUAGE
    is an ISO 639 code, such as fr."""
    from polyreward.running.preflight import check_languages, update_folder
    from polyreward.running.scale import read_scale

    root = Path.cwd() if (Path.cwd() / "config.yaml").is_file() else ROOT
    scale = read_scale(configfile, root)
    if folder is None:
        folder = scale.config["language_folders"].get(language, f"resources/languages/{language}")
    if action == "update":
        print("\n".join(map(str, update_folder(language, root / folder, scale, root))))
        return
    print("\n".join(check_languages(scale.with_language(language, folder, root), root)))


@commands.command()
@click.argument("languages", nargs=-1, required=True)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=lambda: checkout() / "resources/mini",
    show_default="resources/mini of this checkout",
    help="Folder of pool/, eval/ and catalogs/.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="Of a language that brings its own, which LANGUAGES then names "
    "alone; of templates that are not translated whole nothing is counted.",
)
@click.option(
    "--benchmark",
    default="mini-rewardbench",
    show_default=True,
    help="Whose sections count, of workflow/catalog/benchmarks.yaml.",
)
def cues(languages: tuple[str, ...], data: Path, folder: Path | None, benchmark: str) -> None:
    """Print what classifiers that see answers alone get on eval/, in percent.

    Trained on pool/, and on the rest of each section. Far from 50: answers give away which one is right. LANGUAGES are ISO 639-1
    codes, such as en es it ko zh; the source language is en."""
    import pandas as pd

    from polyreward.core.yaml_files import read_yaml
    from polyreward.prepare.cues import cue_table, worst_cues
    from polyreward.translation.catalog import translated_templates

    schema, benchmarks = (
        read_yaml(ROOT / path) for path in ("workflow/schemas/templates.schema.yaml", "workflow/catalog/benchmarks.yaml")
    )
    sections = {subset: section for section, subsets in benchmarks[benchmark]["sections"].items() for subset in subsets}
    tables = []
    for language in languages:
        catalog = None if language == "en" else folder / "catalog.po" if folder else data / f"catalogs/{language}.po"
        pool, rows = (
            [{**row, "category": sections[row["subset"]]} for row in found]
            for found in (
                translated_templates(data / name, schema, catalog, language, part=folder is not None) for name in ("pool", "eval")
            )
        )
        tables.append(cue_table(pool, rows, language))
    table = pd.concat(tables)
    print(f"The farthest from 50 of {len(table) // len(languages) // 4} classifiers in each section and language, %:\n")
    print(worst_cues(table)[list(languages)].to_markdown(floatfmt=".1f"))


@commands.command()
@RESULTS
def costs(results: Path) -> None:
    """Print each rule's seconds and memory, and what it asked for."""
    from polyreward.running.costs import job_costs, too_little_asked

    folder = results / "benchmarks"
    print(job_costs(folder).to_markdown(index=False, floatfmt=".1f"))
    over = too_little_asked(folder)
    if over:
        print(f"\n{over}")


@commands.command("gpu-check", short_help="Try training, scoring and generation on this machine's GPU.")
@click.option("--device", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True, help="cpu: in miniature.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("results/gpu_check.json"), show_default=True, help="File to write."
)
def gpu_check(device: str, out: Path) -> None:
    """Train, score and generate with a small random model on the CUDA device, beside the CPU.

    It takes a few minutes, and shows whether a long job can be trusted to the device, and how fast it is. Ends with 1 where a
    check fails."""
    if device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # before torch is imported, which looks for devices then
    from polyreward.running.gpu_check import check_device

    check_device(device, out)


@commands.command("cluster-check", short_help="Try the SLURM profile on this cluster with a toy.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("results/cluster-check"),
    show_default=True,
    help="Where it works, on a disk that all nodes share.",
)
@click.argument("options", nargs=-1)
def cluster_check(folder: Path, options: tuple[str, ...]) -> None:
    """Check workflow/profiles/slurm/site.yaml against the cluster, and run toy jobs there.

    A job of seconds runs on a CPU and, where gpu_partition is set, one on a GPU; it prints what they found. Start it on a login
    node. OPTIONS are more of Snakemake's options, after --."""
    from polyreward.running.cluster_check import check_cluster

    check_cluster(folder.absolute(), list(options))


@commands.command(
    cls=Listing,
    short_help="Print what a scale takes before it runs: jobs, GPU hours, tokens, disk, money.",
    epilog="Example: polyreward plan --configfile workflow/scales/paper.yaml",
)
@click.argument("targets", nargs=-1)
@click.option("--configfile", multiple=True, metavar="FILE...", help="Overlays on config.yaml; none for scale mini.")
def plan(targets: tuple[str, ...], configfile: tuple[str, ...]) -> None:
    """Estimate from the settings, the catalogs and workflow/catalog/throughputs.yaml what a scale takes.

    The estimate is as if nothing were made yet. TARGETS are whose jobs are counted, by default all; the rest is of the whole
    scale."""
    from polyreward.planning.report import plan_text
    from polyreward.planning.sized_scale import read_scale

    print(plan_text(read_scale(configfile, ROOT), list(targets) or ["all"], list(configfile), ROOT))


@commands.command(
    "hub-check",
    cls=Listing,
    short_help="Ask the hub for all that a scale fetches: access, models' heads, datasets' columns.",
    epilog="Example: polyreward hub-check --configfile workflow/scales/paper.yaml --data",
)
@click.option("--configfile", multiple=True, metavar="FILE...", help="Overlays on config.yaml; none for scale mini.")
@click.option("--data", is_flag=True, help="Fetch the datasets and read their columns, too; they stay in the cache.")
def hub_check(configfile: tuple[str, ...], data: bool) -> None:
    """Find what the hub will refuse of a scale before anything is spent, and name all of it at once.

    Repositories that are gated or not there, revisions, reward models whose head nobody knows, and datasets whose columns are
    others than the catalog's. No weights are fetched."""
    from polyreward.planning.sized_scale import read_scale
    from polyreward.running.hub_check import check_hub

    print("\n".join(check_hub(read_scale(configfile, ROOT), data)) or "This scale fetches nothing from the hub")


@commands.command(
    cls=Listing,
    short_help="Print what each claim could decide at scales tiny, mini, night, gpu and paper.",
    epilog="Example: polyreward power --configfile workflow/scales/night.yaml --out docs/power.md",
)
@click.option(
    "--configfile", multiple=True, metavar="FILE...", help="Overlays on config.yaml of the scale that was run; none: mini."
)
@click.option("--out", type=click.Path(path_type=Path), help="Markdown file to write; else it is printed.")
def power(configfile: tuple[str, ...], out: Path | None) -> None:
    """Say from which true effect on each claim would hold, with a probability of 80%, at each scale.

    It goes by the intervals of a finished scale: transfer_claims.csv and carb_claims.csv (or claims.csv) of its results folder,
    and with several seeds table1.csv, which says how much trainings vary. Standard errors are scaled by the root of the number
    of templates, passages, instructions, topics or reward models; variance between trainings by the number of seeds."""
    from polyreward.analysis.power_page import power_page
    from polyreward.core.files import whole_file

    text = power_page(list(configfile), ROOT)
    if out is None:
        print(text, end="")
        return
    with whole_file(out) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")
    print(out)


@commands.command(
    cls=Listing,
    short_help="Write the page of a results folder: claims, tables, figures, and how to make each.",
    epilog="Example: polyreward report results/tiny",
)
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS_FOLDER")
@click.option("--out", type=click.Path(path_type=Path), help="File to write; report.html in the folder where none is named.")
@click.option(
    "--configfile",
    multiple=True,
    metavar="FILE...",
    help="Overlays on config.yaml that the results were made with; "
    "where none is given, those of the scale that has a folder of this name.",
)
def report(results: Path, out: Path | None, configfile: tuple[str, ...]) -> None:
    """Write one page that shows what is in a scale's results folder, and says of the rest how to make it.

    It makes no result, takes seconds, and needs no network to read."""
    from polyreward.report.page import write_page
    from polyreward.report.results import read_results

    path = out or results / "report.html"
    missing = write_page(read_results(results, configfile, ROOT), path, ROOT)
    for one in missing:
        print(f"not made yet: {one.number}; {one.command}")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


@commands.command(short_help="Record the hub's commits that a scale used.")
@RESULTS
def lock(results: Path) -> None:
    """Write the hub's commits that a scale used to workflow/catalog/revisions.lock.yaml."""
    from polyreward.sources.revisions import write_lock

    path = ROOT / "workflow/catalog/revisions.lock.yaml"
    content = write_lock(results / "work/1_sources/revisions", path)
    print(f"{path.relative_to(ROOT)}: {sum(map(len, content.values()))} repositories; commit it, so that others get the same")


@commands.command()
def settings() -> None:
    """Write docs/settings.md and the schema of config.yaml."""
    from polyreward.running.settings.reference import write_reference

    for path in write_reference(ROOT):
        print(path.relative_to(ROOT))


@commands.command()
def envs() -> None:
    """Write envs/*.yaml from requirements.lock."""
    from polyreward.running.environments import write_environments

    for path in write_environments(ROOT):
        print(path.relative_to(ROOT))


@commands.command(
    cls=Listing,
    short_help="Check results against their checksums, or against a rebuild from nothing.",
    epilog="Example: polyreward verify results/tiny table1.csv --rebuild",
)
@click.argument("results", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("artifacts", nargs=-1)
@click.option("--rebuild", is_flag=True, help="Also make the artifacts again, in a temporary folder (TMPDIR), and compare.")
@click.option(
    "--configfile",
    multiple=True,
    metavar="FILE...",
    help="Overlays on config.yaml that RESULTS was made with; by default the file of workflow/scales/ that makes that folder.",
)
@click.option("--cores", default="all", show_default=True, help="Of the rebuild.")
def verify(results: Path, artifacts: tuple[str, ...], rebuild: bool, configfile: tuple[str, ...], cores: str) -> None:
    """Check that all below RESULTS is as it was made; ends with 1 and the names of what is not.

    Tables and figures against RESULTS/SHA256SUMS; scores, hidden states and models against the checksums that they carry.
    ARTIFACTS are names of files in RESULTS, to look at them alone. Run it in the project's folder."""
    from polyreward.artifacts.sums import artifact_files
    from polyreward.running.verify import check_rebuild, check_sums, scale_of, told_sums

    told = told_sums(results) if (results / "SHA256SUMS").is_file() or not artifacts else {}
    names = artifact_files(results, artifacts) if artifacts else sorted(told)
    raise_all((f"{name}: no such file in {results}; make it first" for name in artifacts if name not in names), "verify")
    overlays = scale_of(results, Path.cwd(), configfile) if rebuild else []
    print(check_sums(results, {name: sha256 for name, sha256 in told.items() if name in names}))
    if rebuild:
        print(check_rebuild(results, names, Path.cwd(), overlays, cores))


@commands.command(short_help="Print what made a table or figure, back to raw data.")
@click.argument("artifact", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="As JSON, with whole hashes.")
def provenance(artifact: Path, as_json: bool) -> None:
    """Print what made ARTIFACT, such as results/table1.csv, and all that it was made of, back to raw data.

    Of each file its sha256, and the rule, code, settings, environment, seconds and inputs of the job that made it, as Snakemake
    recorded them; and what changed since. Run it in the project's folder."""
    import dataclasses
    import json

    from polyreward.running.provenance import Records, chain_text

    root = Path.cwd()
    path = artifact.relative_to(root) if artifact.is_absolute() and artifact.is_relative_to(root) else artifact
    chain = Records(root).chain(path.as_posix())
    print(json.dumps([dataclasses.asdict(one) for one in chain], indent=1) if as_json else chain_text(chain, root))


@commands.command(short_help="Pack tables, figures, scores, analysis and provenance into one file.")
@click.argument("results", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path), default=Path("bundle.zip"), show_default=True, help="File to write.")
def bundle(results: Path, out: Path) -> None:
    """Pack what a reader needs to check the numbers of RESULTS, without weights; run it in the project's folder.

    RESULTS needs its SHA256SUMS, which `make` writes."""
    from polyreward.running.bundle import pack
    from polyreward.running.provenance import Records
    from polyreward.running.verify import check_sums, told_sums

    root = Path.cwd()
    results = results.absolute().relative_to(root) if results.absolute().is_relative_to(root) else results
    told = told_sums(results)
    print(check_sums(results, told))
    print(f"{out}: sha256 of its manifest {pack(results, sorted(told), Records(root), out)}")


@commands.command(short_help="Write a run as a Provenance Run RO-Crate.")
@click.argument("results", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path), default=Path("crate"), show_default=True, help="Folder to write.")
def crate(results: Path, out: Path) -> None:
    """Write what is in RESULTS, the code and settings that made it, and each job as a Provenance Run Crate, without weights.

    Run it in the project's folder. RESULTS needs its SHA256SUMS, which `make` writes; `make crate` installs the library."""
    from polyreward.running.crate import write_crate
    from polyreward.running.provenance import Records
    from polyreward.running.verify import check_sums, told_sums

    root = Path.cwd()
    results = results.absolute().relative_to(root) if results.absolute().is_relative_to(root) else results
    told = told_sums(results)
    print(check_sums(results, told))
    print(f"{out}: a crate of {len(told)} files of artifacts and {write_crate(results, sorted(told), Records(root), out)} jobs")


@commands.command(
    cls=Listing,
    short_help="Check a bundle and unpack it; make its tables again from the scores.",
    epilog="Example: polyreward unbundle bundle.zip unpacked --rebuild",
)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--rebuild", is_flag=True, help="Also make the tables and figures again from the scores, and compare.")
@click.option(
    "--configfile",
    multiple=True,
    metavar="FILE...",
    help="Overlays on config.yaml that the results were made with; "
    "by default the file of workflow/scales/ that makes their folder.",
)
@click.option("--cores", default="all", show_default=True, help="Of the rebuild.")
def unbundle(file: Path, folder: Path, rebuild: bool, configfile: tuple[str, ...], cores: str) -> None:
    """Check that all in FILE is as it was packed and put it into FOLDER, which must not exist yet.

    Compare the sha256 of the manifest that it prints with the one that whoever packed it tells. With --rebuild, run it in the
    project's folder: no model is made or read, and no GPU is needed."""
    from polyreward.running.bundle import unpack
    from polyreward.running.rebuilt import rebuild as rebuilt

    print(f"{folder}: sha256 of its manifest {unpack(file, folder)}")
    if rebuild:
        print(rebuilt(folder, Path.cwd(), configfile, cores))
