"""Score all benchmarks and languages by a base model that no preference was shown: probe and PMI."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.scoring.baselines import probe_and_pmi_scores
from polyreward.core.draws import drawn
from polyreward.core.files import read_jsonl
from polyreward.core.seals import intact
from polyreward.scoring.pairs import score_table
from polyreward.core.tables import write_scores
from safetensors.numpy import load_file

params, inputs = snakemake.params, snakemake.input
train = [drawn(read_jsonl(path), [], params.pairs, params.seed, "probe") for path in inputs.train]
benchmarks = [list(map(read_jsonl, inputs[benchmark])) for benchmark in params.benchmarks]
statistics = [load_file(intact(path)) for path in inputs.statistics]
scores = probe_and_pmi_scores(inputs.base, train, benchmarks, statistics, params.scoring, params.seed)
for (rows, chosen, rejected), output in zip(scores, snakemake.output, strict=True):
    write_scores(score_table(rows, chosen, rejected), output)
