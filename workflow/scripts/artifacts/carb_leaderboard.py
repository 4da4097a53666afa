"""Rank all scorers on CARB."""

from polyreward.artifacts.renderings import write_artifact
from polyreward.carb.leaderboard import display_leaderboard, leaderboard_columns
from polyreward.core.tables import read_exact
from polyreward.core.unavailable import with_reasons
from polyreward.ops.jobs import run


def main(snakemake):
    params = snakemake.params
    columns = leaderboard_columns(params.cultures, params.domains)
    table = read_exact(snakemake.input[0], columns)
    shown = display_leaderboard(table, [*params.cultures, *params.domains], params.confidence)
    caption = with_reasons(params.caption, table, "scorer")
    write_artifact(table, columns, caption, "carb_leaderboard", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
