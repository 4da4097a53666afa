"""Split the parallel passages by language."""

from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_items
from polyreward.ops.jobs import run
from polyreward.prepare.passages import parallel_passages


def main(snakemake):
    path, languages = snakemake.input[0], snakemake.params.languages
    passages = parallel_passages(read_items(path), languages, path)
    for language, output in zip(languages, snakemake.output, strict=True):
        write_jsonl(passages[language], output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
