"""Filter the preference pool and split it into train and dev."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import chain

import pandas as pd

from polyreward.core.draws import drawn
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import announce
from polyreward.core.seeds import job_seed
from polyreward.core.tables import read_table, write_table
from polyreward.ops.jobs import run
from polyreward.prepare.kinds import pairs_of_kinds, stock_of
from polyreward.prepare.pool import (
    COUNT_COLUMNS,
    Share,
    content_of,
    counts_by_source,
    drawn_rows,
    row_problems,
    template_of,
)


def prepared_pool(
    rows: Sequence[dict],
    evaluation: Sequence[dict],
    categories: dict[str, str],
    dev_share: float,
    max_pairs: dict[str, int],
    share: Share,
    root_seed: int,
    filters: Collection[str] = ("distinct", "unseen"),
    kinds: Callable[[list[dict]], list[dict]] = list,
) -> tuple[list[dict], list[dict], pd.DataFrame]:
    """Filter a preference pool and split it; return (train rows, dev rows, counts per source after each
    filter).

    Filters, in order: valid; distinct by id, and if in `filters`, by prompt and answers (the first stays);
    unseen (if in `filters`): neither template nor prompt is in `evaluation`; sampled: the share of all, then
    at most max_pairs[source] pairs, drawn by hash.

    Args:
        categories: {subset: category}, for subsets that have one.
        dev_share: share of the templates for tuning, drawn by hash; a row without a template is its own.
        kinds: makes pairs of the train requests.
    """
    problems = [list(row_problems(row)) for row in rows]
    valid = [row for row, found in zip(rows, problems, strict=True) if not found]
    for problem, count in Counter(chain(*problems)).most_common(10):
        announce(f"pool: {count} rows left out: {problem}")
    by_content = (
        list({content_of(row): row for row in reversed(valid)}.values())[::-1]
        if "distinct" in filters
        else valid
    )
    distinct = list({row["id"]: row for row in reversed(by_content)}.values())[::-1]
    seen_templates = {row["template"] for row in evaluation if row.get("template")}
    seen_prompts = {str(row["prompt"]) for row in evaluation}
    unseen = [
        row
        for row in distinct
        if "unseen" not in filters
        or (row.get("template") not in seen_templates and str(row["prompt"]) not in seen_prompts)
    ]
    shared, sampled = drawn_rows(unseen, categories, share, root_seed), []
    for source in dict.fromkeys(row["source"] for row in shared):
        of_source = [row for row in shared if row["source"] == source]
        sampled += drawn(of_source, [], max_pairs.get(source), root_seed, "sample")
    templates = sorted(
        {template_of(row) for row in sampled}, key=lambda name: job_seed(root_seed, "dev", name)
    )
    dev_templates = set(templates[: round(dev_share * len(templates))])
    sampled = [{**row, "category": categories.get(row["subset"])} for row in sampled]
    train = kinds([row for row in sampled if template_of(row) not in dev_templates])
    dev = [row for row in sampled if template_of(row) in dev_templates]
    steps = {"raw": rows, "valid": valid, "distinct": distinct, "unseen": unseen, "sampled": sampled}
    return train, dev, counts_by_source({**steps, "train": train, "dev": dev}, "training")


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    pool, evaluation = (
        [row for path in paths for row in read_jsonl(path)] for paths in (files.pool, files.evaluation)
    )
    stock = stock_of(files.stock, "training")
    train, dev, counts = prepared_pool(
        pool,
        evaluation,
        params.categories,
        params.dev_share,
        params.max_pairs,
        Share(**params.share),
        params.seed,
        params.filters,
        lambda drawn: pairs_of_kinds(drawn, params.kinds, stock, params.kinds_per_request, params.seed),
    )
    write_jsonl(train, snakemake.output.train)
    write_jsonl(dev, snakemake.output.dev)
    printed = read_table(files.printed, ["source", "pairs"]).set_index("source")["pairs"]
    counts["printed"] = counts["source"].map(printed).astype("Int64")
    write_table(counts, snakemake.output.counts, COUNT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
