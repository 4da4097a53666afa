"""Take the parallel passages apart by language."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_items
from polyreward.prepare.passages import parallel_passages

where, languages = snakemake.input[0], snakemake.params.languages
passages = parallel_passages(read_items(where), languages, where)
for language, output in zip(languages, snakemake.output, strict=True):
    write_jsonl(passages[language], output)
