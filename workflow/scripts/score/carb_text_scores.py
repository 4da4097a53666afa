"""Score CARB's items by what shows on an answer's surface."""

from polyreward.carb.scores import scores_by_file
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_scores
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import TextScorer, length_baseline, script_baseline


def text_scorers() -> dict[str, TextScorer]:
    """Return the baselines that see an answer's surface only, by name; each scores as a reward model does."""
    return {"length": length_baseline(), "script": script_baseline()}


def main(snakemake):
    scorers = [text_scorers()[name] for name in snakemake.params.scorers]
    tables = scores_by_file(scorers, list(map(read_jsonl, snakemake.input.item_files)), "text baselines")
    for table, output in zip(tables, snakemake.output, strict=True):
        write_scores(table, output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
