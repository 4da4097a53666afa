"""Measure how consistent each reward model is over languages, and over each pair of them."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.perturbation import consistency
from polyreward.carb.leaderboard import by_scorer
from polyreward.core.unavailable import present
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores, write_exact

params, files, output = snakemake.params, snakemake.input, snakemake.output
scores, benchmark = present(
    *(by_scorer(list(params.kinds), map(read_scores, part)) for part in (files.scores, files.benchmark))
)
languages = consistency.item_languages(map(read_jsonl, files.item_files))
order, k, interval = params.languages, params.k, Interval(**params.interval)
pairs, table = consistency.agreement_tables(scores, benchmark, params.kinds, languages, order, k, interval)
write_exact(pairs, output.pairs, consistency.PAIR_COLUMNS)
write_exact(table, output.table, consistency.CONSISTENCY_COLUMNS)
