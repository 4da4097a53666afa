"""Score everything by one reward model of the configuration, loaded once."""

from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.pairs import write_row_scores


def main(snakemake):
    params = snakemake.params
    with scores_or_reason(snakemake, snakemake.wildcards.scorer):
        reward_model = load_reward_model(params.entry, params.scoring, params.cache)
        write_row_scores(reward_model, snakemake.input.rows, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
