"""The `polyreward` command: scoring without a pipeline, and the upkeep of catalogs and environments."""

import argparse
import os
import sys
from pathlib import Path

from polyreward.errors import PolyrewardError

ROOT = Path(__file__).parents[3]


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns 0, or 1 after saying what is wrong."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except PolyrewardError as error:
        print(f"polyreward: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads this, `head` say, has enough; Python would complain once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="polyreward", description="Tools of the polyreward pipeline; `snakemake` runs it.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    score = commands.add_parser(
        "score",
        help="score one reward model on one file of preference pairs",
        description="Score a reward model on a JSON Lines file (id, subset, prompt, chosen, rejected) and print its accuracy. "
        "prompt is a text or a message list; rejected one answer or a list, all of which chosen must beat.",
        epilog="example: polyreward score results/work/4_models/gemma-3-270m_en "
        "results/work/3_translated/mini-rewardbench/es.jsonl --out scores.parquet",
    )
    score.add_argument("model", help="folder of a model, or a hub id")
    score.add_argument("data", help="JSON Lines file of pairs")
    score.add_argument("--out", required=True, help="parquet file to write: id, subset, category, score_chosen, score_rejected, "
                       "truncated_share, within_noise")  # fmt: skip
    score.add_argument(
        "--kind", choices=["classifier", "implicit", "generative"], default="classifier",
        help="classifier: its output is the reward; implicit: log-likelihood, or with --reference the log-ratio of a DPO "
        "policy; generative: a judge; default: %(default)s",
    )  # fmt: skip
    score.add_argument("--reference", help="folder or hub id of a policy's reference model (implicit)")
    score.add_argument("--beta", type=float, default=0.1, help="of the log-ratio (implicit); default: %(default)s")
    score.add_argument("--verdict", choices=["labels", "text"], default="labels", help="what of a judge's reply counts: the "
                       "probabilities of its labels, or what it writes (generative); default: %(default)s")  # fmt: skip
    score.add_argument("--revision", help="commit of a hub id")
    score.add_argument(
        "--dtype",
        choices=["float32", "bfloat16", "auto"],
        default="float32",
        help="default: %(default)s, exact; auto: bfloat16 where it is native",
    )
    score.add_argument("--max-length", type=int, default=2048, help="tokens, truncated on the left; default: %(default)s")
    score.add_argument("--token-budget", type=int, default=2048, help="tokens per batch; default: %(default)s")
    score.add_argument("--attention", default="sdpa", help="as transformers names it; default: %(default)s")
    score.set_defaults(run=_score)

    catalog = commands.add_parser("catalog", help="check or update the translation catalogs (.po files)")
    catalog.add_argument("action", choices=["check", "update"], help="check: list what is missing; update: add new texts")
    catalog.add_argument("languages", nargs="+", help="ISO 639-1 codes, such as es it ko zh")
    catalog.add_argument(
        "--data", type=Path, default=ROOT / "resources/mini", help="folder of pool/, pool_twins/, eval/, twins/ and catalogs/"
    )
    catalog.set_defaults(run=_catalog)

    costs = commands.add_parser("costs", help="print seconds and memory per rule of what has run, and what it asked for")
    costs.add_argument("--results", type=Path, default=Path("results"), help="a scale's results folder; default: %(default)s")
    costs.set_defaults(run=_costs)

    device = commands.add_parser(
        "gpu-check",
        help="try training, scoring and generation on this machine's GPU",
        description="Train, score and generate with a small random model on the CUDA device, beside the CPU: a few minutes "
        "that tell whether a long job can be trusted to it, and how fast it is. Ends with 1 where a check fails.",
    )
    device.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: in miniature; default: %(default)s")
    device.add_argument("--out", type=Path, default=Path("results/gpu_check.json"), help="file to write; default: %(default)s")
    device.set_defaults(run=_gpu_check)

    cluster = commands.add_parser(
        "cluster-check",
        help="try the SLURM profile on this cluster with a toy",
        description="Check workflow/profiles/slurm/site.yaml against the cluster, then run a job of seconds on a CPU and, where "
        "gpu_partition is set, one on a GPU, and say what they found. Start it on a login node.",
    )
    cluster.add_argument("--folder", type=Path, default=Path("results/cluster-check"),
                         help="where it works, on a disk that all nodes share; default: %(default)s")  # fmt: skip
    cluster.add_argument("options", nargs="*", help="more of Snakemake's options, after --")
    cluster.set_defaults(run=_cluster_check)

    plan = commands.add_parser(
        "plan",
        help="print what a scale takes before it runs: jobs, GPU hours, tokens, disk, money",
        description="Reckon from the configuration, the catalogs and workflow/catalog/throughputs.yaml what a scale takes, as if "
        "nothing were made yet.",
        epilog="example: polyreward plan --configfile workflow/scales/paper.yaml",
    )
    plan.add_argument(
        "targets", nargs="*", default=["all"], help="whose jobs are counted; the rest is of the whole scale; default: all"
    )
    plan.add_argument("--configfile", nargs="+", default=[], help="overlays on config.yaml; none for scale mini")
    plan.set_defaults(run=_plan)

    lock = commands.add_parser("lock", help="write the hub's commits that a scale used to workflow/catalog/revisions.lock.yaml")
    lock.add_argument("--results", type=Path, default=Path("results"), help="a scale's results folder; default: %(default)s")
    lock.set_defaults(run=_lock)

    environments = commands.add_parser("envs", help="write envs/*.yaml from requirements.lock")
    environments.set_defaults(run=_envs)
    return parser


def _score(options: argparse.Namespace) -> None:
    from polyreward.files import read_jsonl  # torch takes seconds to import; --help must not
    from polyreward.prepare import checked_rows
    from polyreward.scoring.families import load_reward_model
    from polyreward.scoring.pairs import chance, score_rows, subset_summary
    from polyreward.tables import write_scores

    if options.reference and options.kind != "implicit":
        raise PolyrewardError(f"--reference: a {options.kind} has none; add --kind implicit")
    rows = checked_rows(read_jsonl(options.data), options.data)
    entry = {"kind": options.kind, "source": options.model, "revision": options.revision, "verdict": options.verdict}
    if options.reference:
        entry.update(reference={"source": options.reference}, beta=options.beta)
    scoring = {name: getattr(options, name) for name in ("dtype", "max_length", "token_budget", "attention")}
    scores = score_rows(load_reward_model(entry, scoring, cache=None), rows, options.model)
    write_scores(scores, options.out)
    print(subset_summary(scores).to_markdown(index=False, floatfmt=".1f"))
    print(f"\nA scorer that does not read gets {chance(rows):.1f}. low and high are 95% Wilson intervals over items.")
    near = list(scores["id"][scores["within_noise"]])
    if near:
        print(f"Margins that batching may turn (n_within_noise): {', '.join(near[:10])}{' ...' if len(near) > 10 else ''}")


def _catalog(options: argparse.Namespace) -> None:
    import yaml

    from polyreward.templates import data_files, read_templates, template_texts
    from polyreward.translation.catalog import read_translations, update_catalog

    schema = yaml.safe_load((ROOT / "workflow/schemas/templates.schema.yaml").read_text(encoding="utf-8"))
    files = [file for name in ("pool", "pool_twins", "eval", "twins") for file in data_files(options.data / name)]
    templates = read_templates(files, schema)
    texts = [text for item in templates for _, text in template_texts(item)]
    paths = {language: options.data / "catalogs" / f"{language}.po" for language in options.languages}
    problems = []
    for language, path in paths.items():
        if options.action == "update":
            update_catalog(path, templates, language)
        try:
            print(f"{path}: {len(read_translations(path, language, texts))} texts, all translated")
        except PolyrewardError as error:
            problems.append(str(error))
    if problems:
        raise PolyrewardError("\n".join(problems))


def _costs(options: argparse.Namespace) -> None:
    from polyreward.costs import job_costs, too_little_asked

    folder = options.results / "benchmarks"
    print(job_costs(folder).to_markdown(index=False, floatfmt=".1f"))
    over = too_little_asked(folder)
    if over:
        print(f"\n{over}")


def _gpu_check(options: argparse.Namespace) -> None:
    if options.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # before torch is imported, which looks for devices then
    from polyreward.gpu_check import check_device

    check_device(options.device, options.out)


def _cluster_check(options: argparse.Namespace) -> None:
    from polyreward.cluster_check import check_cluster

    check_cluster(options.folder.absolute(), options.options)


def _plan(options: argparse.Namespace) -> None:
    from polyreward.planning.report import plan_text
    from polyreward.planning.scale import read_scale

    print(plan_text(read_scale(options.configfile, ROOT), options.targets, options.configfile, ROOT))


def _lock(options: argparse.Namespace) -> None:
    from polyreward.revisions import write_lock

    path = ROOT / "workflow/catalog/revisions.lock.yaml"
    content = write_lock(options.results / "work/1_sources/revisions", path)
    print(f"{path.relative_to(ROOT)}: {sum(map(len, content.values()))} repositories; commit it, so that others get the same")


def _envs(options: argparse.Namespace) -> None:
    from polyreward.environments import write_environments

    for path in write_environments(ROOT):
        print(path.relative_to(ROOT))
