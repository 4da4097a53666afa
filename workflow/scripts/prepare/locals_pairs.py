"""Deal pairs out: questions with replies for the warm-up, and questions for GRPO, to measure on and to
show."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.yaml_files import read_yaml
from polyreward.think_as_locals.criteria import read_criteria, warmup_rows
from polyreward.think_as_locals.pairs import both_orders, dataset_pairs, hands, one_order_each, training_pairs

files, params, output = snakemake.input, snakemake.params, snakemake.output
own = training_pairs([item for path in files.item_files for item in read_jsonl(path)])
others, easy = (
    dataset_pairs([row for path in paths for row in read_jsonl(path)])
    for paths in (files.datasets, files.easy)
)
dealt = hands(
    own, others, easy, **params.sizes, seed=params.seed, shares=params.shares, easy_shares=params.easy_shares
)
places = {culture: entry["places"] for culture, entry in read_yaml(files.cultures)["cultures"].items()}
templates = read_criteria(files.criteria, params.languages, params.domains)
how = {"language": params.language, "elsewhere": params.elsewhere, "quote": params.quote, "seed": params.seed}
write_jsonl(warmup_rows(dealt["warmup"], templates, places, **how), output.warmup)
write_jsonl(both_orders(dealt["grpo"]), output.grpo)
write_jsonl(both_orders(dealt["held_out"]), output.held_out)
write_jsonl(one_order_each(dealt["samples"]), output.samples)
