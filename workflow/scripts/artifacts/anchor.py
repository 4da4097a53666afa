"""Put what published reward models get here next to their printed numbers, with a verdict for each."""

from collections.abc import Mapping, Sequence

import pandas as pd

from polyreward.analysis.accuracy import subset_summary
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.analysis.tables import VALUES
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.errors import PolyrewardError
from polyreward.core.sheet import half_right, read_sheet
from polyreward.core.tables import read_csv, read_scores, unavailable_reasons
from polyreward.ops.jobs import run

KEYS = ["reward_model", "benchmark", "language", "section"]
COLUMNS = [*KEYS, "accuracy_pct", "low", "high", "printed_pct", "difference", "verdict", "n_pairs"]
WITHIN = 0.5  # percentage points: the paper prints one decimal, and kernels turn a few of 2,985 pairs
# What the authors' own reward models are called in Table 3: (base, training language)
PRINTED_AS = {
    "Llama3.2-3B-MP-RM": ("Llama-3.2-3B-Instruct", "en"),
    "Qwen2.5-3B-MP-RM": ("Qwen2.5-3B-Instruct", "en"),
}
CAPTION = (
    "Accuracy (%) of published reward models on RewardBench, next to the numbers that the transfer paper"
    " prints of them, and on translations that people checked, of which it prints none. low, high: interval"
    " by bootstrap over pairs. Verdict: within half a point, or by how much not, and where to look."
)


def printed_numbers(
    tables3to7: pd.DataFrame, table2: pd.DataFrame, names: Sequence[str], source: str
) -> dict:
    """Return {(reward model, section or avg): its printed number} in the source language."""
    of_source = tables3to7[tables3to7["eval_language"] == source].fillna({"rm_language": ""})
    rows = of_source.set_index(["base_model", "rm_language"])
    found = {}
    for name in names:
        for row in table2.loc[table2["reward_model"] == name, source]:
            found[name, "avg"] = float(row)
        key = PRINTED_AS.get(name, (name, ""))
        if key in rows.index:
            found |= {(name, section): float(rows.loc[key, section]) for section in VALUES}
    return found


def verdict(difference: float, look_at: str) -> str:
    """Return what a difference in percentage points says; NaN where nothing is printed."""
    if pd.isna(difference):
        return "not printed"
    return "within half a point" if abs(difference) <= WITHIN else f"off by {difference:+.1f}: {look_at}"


def anchor_table(
    scores: pd.DataFrame,
    benchmarks: Mapping[str, Benchmark],
    printed: Mapping,
    source: str,
    interval: Interval,
    half_credit: Sequence[str] = (),
) -> pd.DataFrame:
    """Return a row (COLUMNS) for each reward model, benchmark, language, section and average.

    The first of the benchmarks is what is printed, in the source language. half_credit: as in Comparison."""
    records, first = [], next(iter(benchmarks))
    for (name, language), of_language in scores.groupby(["benchmark", "language"], sort=False):
        comparison = Comparison(of_language, benchmarks[name], interval, half_credit)
        for scorer in comparison.scorers:
            found = comparison.contrast({scorer: 1.0})
            known = printed if (name, language) == (first, source) else {}
            own = of_language[of_language["scorer"] == scorer]
            subsets = subset_summary(own, "half" if scorer in half_credit else "wrong").set_index("subset")
            off = {section: found[section] - known.get((scorer, section), float("nan")) for section in VALUES}
            for section in VALUES:
                look_at = where_to_look(section, off, subsets, benchmarks[name].sections)
                accuracy = [found[f"{section}{end}"] for end in ("", "_low", "_high")]
                said = [known.get((scorer, section)), off[section], verdict(off[section], look_at)]
                records.append((scorer, name, language, section, *accuracy, *said, found["n_pairs"]))
    table = pd.DataFrame(records, columns=COLUMNS)
    return table.astype({"printed_pct": float}).sort_values("reward_model", kind="stable", ignore_index=True)


def where_to_look(
    section: str, off: Mapping[str, float], subsets: pd.DataFrame, sections: Mapping[str, Sequence[str]]
) -> str:
    """Return a section's subset of the lowest accuracy; of the average, the section that is farthest off."""
    if section == "avg":
        known = {name: abs(off[name]) for name in sections if pd.notna(off[name])}
        return f"see {max(known, key=known.__getitem__)}" if known else "no section is printed"
    there = subsets.loc[subsets.index.isin(sections[section])]
    name = there["accuracy_pct"].idxmin()
    return f"{name} is lowest, {there.loc[name, 'accuracy_pct']:.1f}% of {there.loc[name, 'n_items']} pairs"


def main(snakemake):
    params, files = snakemake.params, snakemake.input.scores
    benchmarks = {facts["name"]: Benchmark(**facts) for facts in params.benchmarks}
    scores, missing = read_scores(files), unavailable_reasons(files)
    reasons = "; ".join(f"{name} ({why})" for name, why in missing.items())
    if scores.empty:
        raise PolyrewardError(f"anchor: no reward model could be scored: {reasons}")
    printed = printed_numbers(
        *map(read_csv, snakemake.input.printed), scores["scorer"].unique(), params.source
    )
    table = anchor_table(
        scores,
        benchmarks,
        printed,
        params.source,
        Interval(**params.interval),
        half_right(read_sheet(snakemake.input.sheet)),
    )
    caption = f"{CAPTION} Not to be had: {reasons}." if reasons else CAPTION
    write_artifact(table, COLUMNS, caption, "anchor", snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
