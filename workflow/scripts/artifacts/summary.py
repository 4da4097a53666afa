"""Count what the tables of a run show: intervals above and below chance, and verdicts."""

from pathlib import Path

import pandas as pd

from polyreward.analysis.verdicts import VERDICTS
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.kinds import REWARD_KINDS
from polyreward.core.tables import read_csv
from polyreward.ops.jobs import run

COLUMNS = ["name", "count", "of", "says"]


def counted(
    name: str, table: pd.DataFrame, ends: tuple[str, str], bound: float, of: str, zero: str
) -> list[dict]:
    """Return how many rows (`of`, in words) have an interval above a bound (`zero`, in words), and how many
    below."""
    low, high = (table[end].dropna() for end in ends)
    return [
        {
            "name": f"{name}_{side}",
            "count": int(inside.sum()),
            "of": len(low),
            "says": f"{of} whose whole interval is {side} {zero}",
        }
        for side, inside in (("above", low > bound), ("below", high < bound))
    ]


def summary_table(tables: dict[str, pd.DataFrame], main: str) -> pd.DataFrame:
    """Return the counts of a run from its tables, {name: table}."""
    table1, leaderboard = tables["table1"], tables["carb_leaderboard"]
    gaps = tables["transfer_gap"].dropna(subset="source_pct")  # not the rows that compare two bases
    deltas = table1["rm_training"] == "delta"
    scorers = tables["baselines"].query("benchmark == @main and slice == 'all'")
    trained = scorers["kind"] == "reward model"
    on_board = leaderboard[leaderboard["kind"].isin(REWARD_KINDS)]
    indices = tables["carb_perturbation"].drop_duplicates("scorer")
    ends, chance, zero = ("avg_low", "avg_high"), "50%", "zero"
    rows = [
        *counted("table1_averages", table1[~deltas], ends, 50, "averages of Table 1", chance),
        *counted("table1_differences", table1[deltas], ends, 0, "differences of Table 1", zero),
        *counted("reward_models", scorers[trained], ends, 50, "averages of reward models", chance),
        *counted("baselines", scorers[~trained], ends, 50, "averages of baselines", chance),
        *counted("transfer_gaps", gaps, ("low", "high"), 0, "transfer gaps of one base", zero),
        *counted("carb", on_board, ("low", "high"), 25, "CARB scores of reward models", "25%"),
        *counted(
            "carb_index", indices, ("index_low", "index_high"), 0, "scorers' indices of perturbations", zero
        ),
    ]
    for paper, claims in tables["claims"].groupby("paper", sort=False):
        for verdict in VERDICTS:
            name = f"{paper}_claims_{verdict.replace(' ', '_')}"
            count = int((claims["verdict"] == verdict).sum())
            says = f"claims of the {paper} paper with the verdict: {verdict}"
            rows.append({"name": name, "count": count, "of": len(claims), "says": says})
    return pd.DataFrame(rows, columns=COLUMNS)


def main(snakemake):
    tables = {Path(path).stem: read_csv(path) for path in snakemake.input}
    table = summary_table(tables, snakemake.params.main)
    write_artifact(table, COLUMNS, snakemake.params.caption, "summary", snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
