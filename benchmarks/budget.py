"""Operations of a finished target by kind of job, the rate that was reached, and the share of the machine's
best."""

import multiprocessing
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import common
import pandas as pd
import torch
from counting import best_rate, operations_of
from jobs import Job, jobs_of, linked_project, with_costs
from transformers import AutoConfig

# {rules, a regular expression: kind of job}; the first that fits. Jobs of COUNTED kinds are run again; others
# multiply nothing.
KINDS = {
    r"base_model": "conversion of models",
    r"reward_model": "trainings",
    r"(\w+_)?reward_scores(_\d+)?": "scoring",
}
COUNTED = {"trainings", "scoring"}
REST = "the rest"
SQUARES = [(size, size, size) for size in (512, 1024, 2048)]
CAPTION = """{target}. Operations: of matrix products and attention, forward and backward, padding included, counted where
torch computes them while each job's own script runs again without computing the large ones. Processor seconds: of the finished
run, with start-up, tokenizer and saving. Share: of the most GFLOP per processor second that one thread reached, in this run of
the benchmark, in {dtype} products of the models' shapes and in square ones, multiplied as scoring does: {alone:.0f} with one
process alone, {beside:.0f} with two side by side, as jobs run."""


def kind_of(job: Job) -> str:
    """Return the kind of job that a row of the table is of."""
    return next((kind for rules, kind in KINDS.items() if re.fullmatch(rules, job.rule)), REST)


def counted(jobs: Sequence[Job], results: Path) -> dict[int, dict]:
    """Return {job's id: {operations, frozen}} of all jobs that multiply matrices; each is run again in a new
    process."""
    found = {}
    several = [job for job in jobs if kind_of(job) in COUNTED]
    with linked_project() as project:
        for number, job in enumerate(several, start=1):
            one = common.in_new_process(operations_of, job, project, results.resolve())
            found[job.id] = one
            print(
                f"{number}/{len(several)}: {job.name}, {one['seconds']:.0f} processor seconds to count",
                file=sys.stderr,
                flush=True,
            )
    return found


def shapes_of(configs: Sequence, tokens: int) -> list[tuple[int, int, int]]:
    """Return (rows, inner, columns) of square products and of the layers' largest on a batch of so many
    tokens."""
    found = {shape for one in configs for shape in _mlp(one.hidden_size, one.intermediate_size)}
    return SQUARES + [(tokens, inner, columns) for inner, columns in sorted(found)]


def _mlp(hidden: int, between: int) -> list[tuple[int, int]]:
    return [(hidden, between), (between, hidden)]


def machines_best(
    shapes: Sequence[tuple[int, int, int]], dtype: torch.dtype, seconds: float, processes: int
) -> float:
    """Return the GFLOP per processor second of the fastest product, one thread in each of some processes;
    their mean."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    with ProcessPoolExecutor(processes, context, _keep_barrier, (barrier,)) as pool:
        rates = [pool.submit(_best_beside, list(shapes), dtype, seconds) for _ in range(processes)]
        return sum(rate.result() for rate in rates) / processes / 1e9


def _keep_barrier(barrier) -> None:
    global _barrier
    _barrier = barrier


def _best_beside(shapes: list, dtype: torch.dtype, seconds: float) -> float:
    return best_rate(shapes, dtype, seconds, wait=_barrier.wait)


def budget_rows(table: pd.DataFrame, alone: float, beside: float) -> list[dict]:
    """Return the rows to print and their sum. table: what, jobs, operations, frozen, processor_s. alone,
    beside: GFLOP/s."""
    whole = pd.DataFrame([{"what": "all", **table[["jobs", "operations", "frozen", "processor_s"]].sum()}])
    return [
        {
            "jobs of": row.what,
            "jobs": int(row.jobs),
            "operations (1e12)": f"{row.operations / 1e12:.2f}",
            "of them in frozen layers": f"{row.frozen / 1e12:.2f}",
            "processor seconds": f"{row.processor_s:.0f}",
            "of all (%)": f"{100 * row.processor_s / whole['processor_s'][0]:.0f}",
            "GFLOP/s": f"{_rate(row):.1f}" if row.operations else "",
            "of the best, two side by side (%)": f"{100 * _rate(row) / beside:.0f}" if row.operations else "",
            "of the best, alone (%)": f"{100 * _rate(row) / alone:.0f}" if row.operations else "",
        }
        for row in pd.concat([table, whole]).itertuples()
    ]


def _rate(row) -> float:
    return row.operations / row.processor_s / 1e9


def main() -> None:
    """Count, measure and print one table."""
    parser = common.target_parser(__doc__)
    parser.add_argument(
        "--dtype", choices=["float32", "bfloat16"], default="float32", help="of the products to compare with"
    )
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="to look for the fastest product, each time"
    )
    parser.add_argument("--tokens", type=int, default=1024, help="rows of the products of the models' shapes")
    parser.add_argument(
        "--by-job",
        action="store_true",
        help="a row for each job that multiplies matrices, none for the others",
    )
    options = parser.parse_args()
    table = with_costs(jobs_of(options.target, options.configfiles), options.results)
    bases = [path for job in table["job"] if job.rule == "base_model" for path in job.asked["output"]]
    configs = [AutoConfig.from_pretrained(options.results.joinpath(*Path(path).parts[1:])) for path in bases]
    search = (shapes_of(configs, options.tokens), getattr(torch, options.dtype), options.seconds)
    alone, beside = (machines_best(*search, processes) for processes in (1, 2))
    operations = counted(table["job"], options.results)
    for column in ("operations", "frozen"):
        table[column] = [operations.get(job.id, {column: 0})[column] for job in table["job"]]
    if options.by_job:
        table = table[table["operations"] > 0]
    table["what"] = [job.name if options.by_job else kind_of(job) for job in table["job"]]
    sums = table.groupby("what", sort=False).agg(
        jobs=("job", "size"),
        operations=("operations", "sum"),
        frozen=("frozen", "sum"),
        processor_s=("processor_s", "sum"),
    )
    sums = sums.sort_index(key=lambda names: names == REST, kind="stable").reset_index()
    rows = budget_rows(sums, alone, beside)
    common.print_table(CAPTION.format(**vars(options), alone=alone, beside=beside), rows)


if __name__ == "__main__":
    common.run(main)
