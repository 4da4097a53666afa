"""Score one benchmark in every language by a base's log-likelihood, and keep what the probe needs of the same
pass."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.scoring.baselines import loglik_scores
from polyreward.core.files import read_jsonl
from polyreward.core.seals import METADATA, sealed_file
from polyreward.scoring.pairs import score_table
from polyreward.core.tables import write_scores
from safetensors.numpy import save_file

benchmark, kept = list(map(read_jsonl, snakemake.input.rows)), {}
statistics = loglik_scores(snakemake.input.base, benchmark, snakemake.params.scoring)
for number, (rows, found, output) in enumerate(
    zip(benchmark, statistics, snakemake.output.scores, strict=True)
):
    write_scores(score_table(rows, found["loglik"][:, 0], found["loglik"][:, 1]), output)
    kept |= {f"{kind}_{number}": values for kind, values in found.items()}
with sealed_file(snakemake.output.statistics) as temporary:
    save_file(kept, temporary, METADATA)
