"""Deal pairs of the held-out topics out: questions with replies for the warm-up, questions for GRPO, and some to show."""

from polyreward.core.jobs import start_job

start_job(snakemake)

from polyreward.core.yaml_files import read_yaml
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.think_as_locals.criteria import read_criteria, warmup_rows
from polyreward.think_as_locals.pairs import both_orders, dataset_pairs, hands, one_order_each, training_pairs

files, params, output = snakemake.input, snakemake.params, snakemake.output
own = training_pairs([item for path in files.item_files for item in read_jsonl(path)])
others = dataset_pairs([row for path in files.datasets for row in read_jsonl(path)])
dealt = hands(own, others, **params.sizes, seed=params.seed, shares=params.shares)
places = {culture: entry["places"] for culture, entry in read_yaml(files.cultures)["cultures"].items()}
templates = read_criteria(files.criteria, params.cultures, params.domains)
write_jsonl(warmup_rows(dealt["warmup"], templates, places, params.language, params.seed), output.warmup)
write_jsonl(both_orders(dealt["grpo"]), output.grpo)
write_jsonl(one_order_each(dealt["samples"]), output.samples)
