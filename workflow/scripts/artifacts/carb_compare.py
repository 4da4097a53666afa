"""Put a table of ours next to CARB's printed numbers."""

import pandas as pd

from polyreward.artifacts.printed_tables import COLUMNS, long_cells, paired
from polyreward.carb.downstream.correlation import POOLED, R2, P
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.core.naming import BEST_OF_N
from polyreward.core.tables import DIGITS, p_digits, read_csv, write_csv
from polyreward.ops.jobs import run

TRAINED = "Think-as-Locals-"  # before the name of a printed base
ROWS = {"base": "untrained", "full": "trained"}  # {our judge: the row that it is}
# {our judge of the rewrites: its printed row}
JUDGES = {
    "locals-base": "base",
    "locals-without-criteria": "think_as_locals_without_criteria",
    "locals-with-criteria": "think_as_locals_with_criteria",
}
OursAndPrinted = tuple[pd.DataFrame, pd.DataFrame]  # the cells of our table, and of the printed one
PRINTED_BENCHMARKS = {"carb": "CARB", "rewardbench": "M-RewardBench"}


def compared(artifact: str, ours: pd.DataFrame, printed: pd.DataFrame, base: str) -> pd.DataFrame:
    """Pair a table of ours with the printed one; no rows if nothing is in both.

    base: the model that becomes a judge."""
    return paired(*SHAPES[artifact](ours, printed, base))


def _leaderboard(ours: pd.DataFrame, printed: pd.DataFrame, _: str) -> OursAndPrinted:
    wide = printed.rename(columns={"carb_avg": "carb"})
    return (
        long_cells(ours, ours["scorer"], ours["kind"], ["carb"]),
        long_cells(wide, wide["reward_model"], wide["kind"], ["carb"]),
    )


def _correlation(ours: pd.DataFrame, printed: pd.DataFrame, _: str) -> OursAndPrinted:
    """Pair a question set that the paper prints with itself, by its own rating, and any other with all."""
    pooled = ours[(ours["policy"] == POOLED) & (ours["selection"] == BEST_OF_N)]
    there = pooled["downstream"].isin(printed["downstream"].str.lower())
    own = pooled.groupby("downstream")["rating"].transform("first")
    pooled = pooled[~there | (pooled["rating"] == own)]
    sets = pooled["downstream"]
    other = pooled["rating"] if sets.nunique() == 1 else sets + ", " + pooled["rating"]
    benchmarks = pooled["benchmark"].map(PRINTED_BENCHMARKS)
    pooled = pooled.assign(model=sets.where(there, other), benchmark=benchmarks)
    tables = pooled.rename(columns={"r2": R2, "p": P}), printed.rename(columns={"downstream": "model"})
    long = (table.melt(["model", "benchmark"], [R2, P], var_name="row").dropna() for table in tables)
    return tuple(table.rename(columns={"benchmark": "column"}) for table in long)


def _perturbation(ours: pd.DataFrame, printed: pd.DataFrame, _: str) -> OursAndPrinted:
    """Compare absolute values, since the paper prints no signs."""
    judges = ours[ours["scorer"].isin(JUDGES)]
    wide = judges.pivot(index="scorer", columns="perturbation", values="percent_size")
    wide = wide.reindex(columns=list(PERTURBATIONS)).reset_index()
    theirs = printed.rename(columns={f"{name.lower()}_percent": name for name in PERTURBATIONS})
    return (
        long_cells(wide, wide["scorer"], wide["scorer"].map(JUDGES), list(PERTURBATIONS)),
        long_cells(theirs, theirs["model"], theirs["model"], list(PERTURBATIONS)),
    )


def _think_as_locals(ours: pd.DataFrame, printed: pd.DataFrame, base: str) -> OursAndPrinted:
    wide = ours.rename(columns={"rewardbench": "m_rewardbench", "mean": "avg"})
    columns, bases = ["m_rewardbench", "carb", "avg"], printed["model"].str.removeprefix(TRAINED)
    trained = printed["model"].str.startswith(TRAINED)
    rows = trained.map({True: ROWS["full"], False: ROWS["base"]})
    known = bases.isin(bases[trained])  # RM-R1's judge is another method
    return (
        long_cells(wide, pd.Series(base, wide.index), wide["judge"].map(ROWS), columns),
        long_cells(printed[known], bases[known], rows[known], columns),
    )


SHAPES = {
    "carb_leaderboard": _leaderboard,
    "carb_correlation": _correlation,
    "carb_perturbation": _perturbation,
    "carb_think_as_locals": _think_as_locals,
}


def main(snakemake):
    params = snakemake.params
    ours, printed = map(read_csv, (snakemake.input.ours, snakemake.input.printed))
    table = compared(snakemake.wildcards.printed, ours, printed, params.base)
    cells = {
        side: [
            p_digits(v) if row == P else f"{v:.{DIGITS}f}"
            for v, row in zip(table[side], table["row"], strict=True)
        ]
        for side in ("ours", "printed")
    }
    table = table[COLUMNS].assign(**cells)
    write_csv(table, snakemake.output.csv, f"%.{DIGITS}f")  # without a row where no item brings rewrites


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
