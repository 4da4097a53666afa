"""Label sampled responses with the target reward model and the English one."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.alignment.preferences import COUNT_COLUMNS, counts_table, labelled_pairs
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.scoring.load import load_classifier
from polyreward.core.tables import write_table

params, language, found = snakemake.params, snakemake.wildcards.language, {}
responses = read_jsonl(snakemake.input.responses)
for labeller, model, output in zip(
    params.labellers, snakemake.input.models, snakemake.output.pairs, strict=True
):
    found[labeller] = labelled_pairs(
        responses, load_classifier(model, **params.scoring), f"{labeller} labels, {language}"
    )
    write_jsonl(found[labeller][0], output)
write_table(counts_table(found, language), snakemake.output.counts, COUNT_COLUMNS)
