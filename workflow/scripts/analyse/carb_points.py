"""Join the picks with the reward models' scores on both benchmarks."""

from collections.abc import Sequence

import pandas as pd
from scipy.stats import norm

from polyreward.analysis.tables import LANGUAGE_COLUMNS
from polyreward.carb.downstream.correlation import PICK_COLUMNS, POINT_COLUMNS
from polyreward.carb.leaderboard import leaderboard_columns
from polyreward.core.sheet import KNOCKOUT, read_sheet
from polyreward.core.tables import read_exact, read_table, write_table
from polyreward.ops.jobs import run


def with_benchmarks(
    picks: pd.DataFrame,
    carb: pd.DataFrame,
    rewardbench: Sequence[pd.DataFrame],
    sheet: pd.DataFrame,
    confidence: float,
) -> pd.DataFrame:
    """Put each scorer's score on the two benchmarks next to its picks; one without scores is left out.

    rewardbench: the language table of each language, whose mean is the score. sheet: of its scorers, of
    which a knock-out has its judge's score there. confidence: of both tables' intervals, whose width gives a
    standard error."""
    everywhere, of_model = pd.concat(rewardbench), {name: name.removesuffix(KNOCKOUT) for name in sheet.index}
    lacking = {*carb.dropna(subset="missing")["scorer"], *everywhere.dropna(subset="missing")["reward_model"]}
    picks = picks[~picks["scorer"].isin(lacking) & ~picks["scorer"].map(of_model).isin(lacking)]
    on_average = everywhere.groupby("reward_model")[["avg", "avg_low", "avg_high"]].mean()
    scorers, of_carb = picks["scorer"], carb.set_index("scorer")
    models, reach = scorers.map(of_model).fillna(scorers), 2 * norm.ppf(0.5 + confidence / 2)
    return picks.assign(
        base=scorers.map(sheet["base"]),
        carb=scorers.map(of_carb["carb"]),
        carb_se=scorers.map((of_carb["high"] - of_carb["low"]) / reach),
        rewardbench=models.map(on_average["avg"]),
        rewardbench_se=models.map((on_average["avg_high"] - on_average["avg_low"]) / reach),
    )[POINT_COLUMNS]


def main(snakemake):
    inputs, params = snakemake.input, snakemake.params
    rewardbench = [read_table(path, LANGUAGE_COLUMNS) for path in inputs.rewardbench]
    carb = read_exact(inputs.leaderboard, leaderboard_columns(params.cultures, params.domains))
    points = with_benchmarks(
        read_table(inputs.picks, PICK_COLUMNS), carb, rewardbench, read_sheet(inputs.sheet), params.confidence
    )
    write_table(points, snakemake.output[0], POINT_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
