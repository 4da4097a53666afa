"""Score CARB's items by what shows on the surface of a text."""

from polyreward.carb.scores import write_item_scores
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import TextScorer, length_baseline, script_baseline, shared_baseline


def text_scorers() -> dict[str, TextScorer]:
    """Return the baselines that see a text's surface only, by name; each scores as a reward model does."""
    return {"length": length_baseline(), "script": script_baseline(), "shared": shared_baseline()}


def main(snakemake):
    name = snakemake.wildcards.scorer
    write_item_scores({name: text_scorers()[name]}, snakemake.input.item_files, snakemake.output, name)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
