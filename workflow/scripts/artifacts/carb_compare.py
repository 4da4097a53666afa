"""Put a table of ours next to CARB's printed numbers."""

import pandas as pd

from polyreward.artifacts.printed_tables import COLUMNS, long_cells, paired
from polyreward.carb.downstream.correlation import POOLED, R2, P
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.core.naming import BEST_OF_N
from polyreward.core.tables import write_csv
from polyreward.ops.jobs import run

TRAINED = "Think-as-Locals-"  # before the name of a printed base
ROWS = {"base": "untrained", "full": "trained"}  # {our judge: the row that it is}
# {our judge of the rewrites: its printed row}
JUDGES = {
    "locals-base": "base",
    "locals-without-criteria": "think_as_locals_without_criteria",
    "locals-with-criteria": "think_as_locals_with_criteria",
}
PRINTED_BENCHMARKS = {"carb": "CARB", "rewardbench": "M-RewardBench"}


def compared(artifact: str, ours: pd.DataFrame, printed: pd.DataFrame, base: str) -> pd.DataFrame:
    """Pair a table of ours with the printed one; no rows if nothing is in both.

    A reward model is paired with those of its kind, and a judge with the one at the same stage of training. A
    rating over all policies is paired with each printed one. base: the model that becomes a judge."""
    shape = {
        "carb_leaderboard": _leaderboard,
        "carb_correlation": _correlation,
        "carb_perturbation": _perturbation,
        "carb_think_as_locals": _think_as_locals,
    }[artifact]
    return paired(*shape(ours, printed, base))


def _leaderboard(ours: pd.DataFrame, printed: pd.DataFrame, _: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    wide = printed.rename(columns={"carb_avg": "carb"})
    return (
        long_cells(ours, ours["scorer"], ours["kind"], ["carb"]),
        long_cells(wide, wide["reward_model"], wide["kind"], ["carb"]),
    )


def _correlation(ours: pd.DataFrame, printed: pd.DataFrame, _: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pair a question set that the paper prints with itself, by its own rating; pair any other with all, by
    each.
    """
    pooled = ours[(ours["policy"] == POOLED) & (ours["selection"] == BEST_OF_N)].rename(
        columns={"r2": R2, "p": P}
    )
    there = pooled["downstream"].isin(printed["downstream"].str.lower())
    own = pooled.groupby("downstream")["rating"].transform("first")
    pooled = pooled[~there | (pooled["rating"] == own)]
    other = (
        pooled["rating"]
        if pooled["downstream"].nunique() == 1
        else pooled["downstream"] + ", " + pooled["rating"]
    )
    pooled = pooled.assign(model=pooled["downstream"].where(there, other))
    pooled = pooled.assign(benchmark=pooled["benchmark"].map(PRINTED_BENCHMARKS))
    tables = pooled, printed.rename(columns={"downstream": "model"})
    return tuple(
        table.melt(["model", "benchmark"], [R2, P], var_name="row")
        .rename(columns={"benchmark": "column"})
        .dropna()
        for table in tables
    )


def _perturbation(ours: pd.DataFrame, printed: pd.DataFrame, _: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare absolute values, since the paper prints no signs."""
    judges = ours[ours["scorer"].isin(JUDGES)]
    wide = judges.pivot(index="scorer", columns="perturbation", values="percent_size").reindex(
        columns=list(PERTURBATIONS)
    )
    wide = wide.reset_index()
    theirs = printed.rename(columns={f"{name.lower()}_percent": name for name in PERTURBATIONS})
    return (
        long_cells(wide, wide["scorer"], wide["scorer"].map(JUDGES), list(PERTURBATIONS)),
        long_cells(theirs, theirs["model"], theirs["model"], list(PERTURBATIONS)),
    )


def _think_as_locals(
    ours: pd.DataFrame, printed: pd.DataFrame, base: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    wide = ours.rename(columns={"rewardbench": "m_rewardbench", "mean": "avg"})
    columns, bases = ["m_rewardbench", "carb", "avg"], printed["model"].str.removeprefix(TRAINED)
    trained = printed["model"].str.startswith(TRAINED)
    rows = trained.map({True: ROWS["full"], False: ROWS["base"]})
    known = bases.isin(bases[trained])  # RM-R1's judge is another method
    return (
        long_cells(wide, pd.Series(base, wide.index), wide["judge"].map(ROWS), columns),
        long_cells(printed[known], bases[known], rows[known], columns),
    )


def main(snakemake):
    params = snakemake.params
    ours, printed = map(pd.read_csv, (snakemake.input.ours, snakemake.input.printed))
    table = compared(snakemake.wildcards.printed, ours, printed, params.base)
    write_csv(table[COLUMNS], snakemake.output.csv, "%.6f")  # without a row where no item brings rewrites


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
