"""Score a benchmark by one reward model, loaded once."""

from polyreward.core.tables import parse_score_path
from polyreward.core.unavailable import scores_or_reason
from polyreward.ops.jobs import run
from polyreward.scoring.classifier import with_memory
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.finished import forget, kept_files
from polyreward.scoring.pairs import write_row_scores

NOT_SCORES = ("cache", "may_be_missing")  # params on which no score depends


def main(snakemake):
    params, rows, name = snakemake.params, snakemake.input.rows, snakemake.wildcards.scorer
    files = {path: parse_score_path(path) for path in snakemake.output}
    deciding = {key: value for key, value in params.items() if key not in NOT_SCORES}
    kept = kept_files(files, params.cache, deciding, snakemake.input)
    with scores_or_reason(files, name, params.may_be_missing):
        reward_model = load_reward_model(params.entry, params.scoring, params.cache)
        if params.top_layers:  # as where several reward models of a base share its lower layers
            reward_model = with_memory(reward_model, params.top_layers, {})
        write_row_scores(reward_model, rows, files, kept)
        forget(kept)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
