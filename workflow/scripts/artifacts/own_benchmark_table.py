"""Make the table of a benchmark of the user's own."""

from polyreward.analysis.tables import OWN_COLUMNS, own_table
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores
from polyreward.ops.jobs import run


def main(snakemake):
    params, name = snakemake.params, f"benchmark_{snakemake.wildcards.own}"
    scores = dict(zip(params.scorers, map(read_scores, snakemake.input.scores), strict=True))
    table = own_table(
        read_jsonl(snakemake.input.rows), scores, params.baselines, params.confidence, params.halves
    )
    write_artifact(table, OWN_COLUMNS, params.caption, name, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
