"""Read a dataset's raw rows: preference pairs, parallel passages or instructions."""

from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.jobs import run
from polyreward.sources.revisions import at_commit
from polyreward.sources.templates import template_rows


def dataset_rows(entry: dict, name: str, schema: dict) -> list[dict]:
    """Return the rows of a catalog entry of kind `templates` (template_rows) or `hub` (hub_data.hub_rows)."""
    if entry["kind"] == "templates":
        return template_rows(entry, name, schema)
    from polyreward.sources.hub_data import hub_rows  # the hub's libraries take seconds to import

    return hub_rows(entry, name)


def main(snakemake):
    entry = at_commit(snakemake.params.entry, snakemake.input.get("revision", []))
    schema = read_yaml(snakemake.input.schema)
    write_jsonl(dataset_rows(entry, snakemake.wildcards.dataset, schema), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
