"""Take the parallel passages apart by language."""

from polyreward.jobs import start_job

start_job(snakemake)

from pathlib import Path

import yaml
from polyreward.files import write_jsonl
from polyreward.passages import parallel_passages

where, languages = snakemake.input[0], snakemake.params.languages
passages = parallel_passages(yaml.safe_load(Path(where).read_text(encoding="utf-8")), languages, where)
for language, output in zip(languages, snakemake.output, strict=True):
    write_jsonl(passages[language], output)
