"""Score a benchmark by one reward model, loaded once."""

from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run
from polyreward.scoring.classifier import with_memory
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.pairs import write_row_scores


def main(snakemake):
    params = snakemake.params
    with scores_or_reason(snakemake, snakemake.wildcards.scorer):
        reward_model = load_reward_model(params.entry, params.scoring, params.cache)
        if params.top_layers:  # as where several reward models of a base share its lower layers
            reward_model = with_memory(reward_model, params.top_layers, {})
        write_row_scores(reward_model, snakemake.input.rows, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
