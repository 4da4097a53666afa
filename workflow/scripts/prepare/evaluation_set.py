"""Check one evaluation set and add its categories."""

from collections import Counter
from collections.abc import Callable, Sequence

import pandas as pd

from polyreward.core.errors import raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import announce
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.prepare.kinds import pairs_by
from polyreward.prepare.pool import (
    COUNT_COLUMNS,
    Share,
    content_of,
    counts_by_source,
    drawn_rows,
    row_problems,
    with_problem,
)


def prepared_benchmark(
    rows: Sequence[dict],
    categories: dict[str, str],
    share: Share,
    root_seed: int,
    where: str,
    published: bool = False,
    code: Sequence[str] = (),
    kinds: Callable[[list[dict]], list[dict]] = list,
) -> tuple[list[dict], pd.DataFrame]:
    """Check an evaluation set; return the rows to use, each with its category, and their counts per source.

    Args:
        categories: {subset: category}.
        published: keep a pair that appears twice, as the publisher counts it twice.
        code: subsets of programming problems, of which those of one name are one template.
        kinds: makes pairs of the drawn requests.

    Raises:
        PolyrewardError: lists every bad row, since an evaluation set must be corrected instead of thinned.
    """
    problems = [
        f"{where}:{n}: {text}" for n, row in enumerate(rows, 1) for text in row_problems(row, set(categories))
    ]
    ids = Counter(str(row["id"]) for row in rows if row.get("id"))
    problems += [f"{where}: id `{key}` appears {n} times; ids are unique" for key, n in ids.items() if n > 1]
    repeated = [
        f"{where}: {count} rows say \u201c{str(key[0])[:50]}\u201d with the same answers; keep one"
        for key, count in Counter(map(content_of, rows)).items()
        if count > 1
    ]
    if not published:
        problems += repeated
    elif repeated:
        announce(
            f"evaluation set {where}: {len(repeated)} pairs appear in it more than once, and count each time"
        )
    problems += [
        f"{where}: the benchmark's subset `{subset}` has no row; add rows, or take it out"
        for subset in sorted(categories.keys() - {row.get("subset") for row in rows})
    ]
    raise_all(problems, f"evaluation set {where}")
    rows = [with_problem(row) if row["subset"] in code else row for row in rows]
    kept = drawn_rows(rows, categories, share, root_seed)
    prepared = kinds([{**row, "category": categories[row["subset"]]} for row in kept])
    steps = {**dict.fromkeys(("raw", "valid", "distinct"), rows), "evaluation": prepared}
    return prepared, counts_by_source(steps, "evaluation")


def main(snakemake):
    path, params = snakemake.input.rows, snakemake.params
    rows, counts = prepared_benchmark(
        read_jsonl(path),
        params.categories,
        Share(**params.share),
        params.seed,
        path,
        params.published,
        params.code_subsets,
        pairs_by(params, snakemake.input.stock, "evaluation"),
    )
    write_jsonl(rows, snakemake.output.rows)
    write_table(counts, snakemake.output.counts, COUNT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
