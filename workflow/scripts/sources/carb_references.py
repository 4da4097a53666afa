"""Read and check what is true of which culture."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.items.construct import reference_rows
from polyreward.carb.items.cultures import read_cultures
from polyreward.core.yaml_files import read_yaml
from polyreward.carb.items.references import read_topics
from polyreward.core.draws import drawn
from polyreward.core.files import write_jsonl

files, params = snakemake.input, snakemake.params
cultures = read_cultures(files.cultures, params.cultures)
topics = read_topics(
    params.folder, files.get("tables", []), cultures, params.domains, read_yaml(files.schema)
)
topics = drawn(topics, ["domain"], params.topics_per_domain, params.seed, "carb", "topic")
write_jsonl(reference_rows(topics, cultures, params.cultures), snakemake.output[0])
