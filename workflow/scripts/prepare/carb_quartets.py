"""Make place quartets, in each of their languages."""

from polyreward.carb.culture.quartets import few_topics, quartet_rows, scale_quartets
from polyreward.core.files import write_jsonl
from polyreward.core.logs import announce
from polyreward.ops.jobs import run


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    quartets = scale_quartets(params.choices, files.cultures, params.folder, files.schema, params.seed)
    for line in few_topics(quartets):
        announce(line)
    for language in params.choices["languages"]:
        rows = [row for quartet in quartets for row in quartet_rows(quartet, language)]
        write_jsonl(rows, snakemake.output[language])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
