"""Compare judges on both benchmarks."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.carb.leaderboard import by_scorer, in_all
from polyreward.core.sheet import half_right, read_sheet
from polyreward.core.tables import read_table, scorers_of, unavailable_reasons, write_exact
from polyreward.core.unavailable import sizes_of
from polyreward.ops.jobs import run
from polyreward.think_as_locals.comparison import COLUMNS, WHOLE, judge_draws
from polyreward.think_as_locals.replies import REPLY_COLUMNS


def comparison_table(
    rewardbench: Mapping[str, pd.DataFrame],
    carb: Mapping[str, pd.DataFrame],
    replies: pd.DataFrame,
    contrasts: Sequence[tuple[str, str]],
    benchmark: Benchmark,
    cultures: Sequence[str],
    domains: Sequence[str],
    interval: Interval,
    half_credit: Sequence[str],
    missing: Mapping[str, str],
) -> pd.DataFrame:
    """Return a row for each judge and for each contrast of two, in percent and points, with paired intervals.

    rewardbench: the mean over languages of the sections' average, by bootstrap over templates. carb: the mean
    over items, by bootstrap over topics within domains. mean: of the two, drawn independently. half_credit:
    judges whose ties are half right on rewardbench. missing: {judge: why its row is empty}."""
    rewardbench, carb = in_all(rewardbench, carb)
    draws = judge_draws(rewardbench, carb, benchmark, cultures, domains, interval, half_credit)
    anyones, items = next(iter(rewardbench.values())), next(iter(carb.values()))
    sizes = {
        "n_pairs": anyones["id"].nunique(),
        "n_languages": anyones["language"].nunique(),
        "n_items": items["id"].nunique(),
        "n_cultures": len(cultures),
    }
    records = []
    for name in rewardbench:
        count, in_form = replies.loc[name, ["replies", "in_form"]]
        form = {"n_replies": count, "in_form_pct": 100 * in_form / count if count else np.nan}
        records.append({"judge": name, **draws.estimates(name, None, interval), **sizes, **form})
    records += [{"judge": name, "missing": reason} for name, reason in missing.items()]
    records += [
        {"judge": f"{one} - {other}", **draws.estimates(one, other, interval), **sizes}
        for one, other in contrasts
        if not {one, other} & missing.keys()
    ]
    return sizes_of(pd.DataFrame(records, columns=COLUMNS), WHOLE)


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    replies = pd.concat([read_table(path, REPLY_COLUMNS) for path in files.replies]).set_index("scorer")
    judges = scorers_of(files.carb)
    rewardbench = by_scorer(files.rewardbench, judges, params.benchmark["name"])
    carb = by_scorer(files.carb, judges, "carb")
    reasons = unavailable_reasons(files.rewardbench) | unavailable_reasons(files.carb)
    table = comparison_table(
        rewardbench,
        carb,
        replies,
        [("full", name) for name in judges if name != "full"],
        Benchmark(**params.benchmark),
        params.cultures,
        params.domains,
        Interval(**params.interval),
        half_right(read_sheet(files.sheet)),
        {name: reasons[name] for name in judges if name in reasons},
    )
    write_exact(table, snakemake.output[0], COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
