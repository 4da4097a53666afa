"""Split the parallel passages by language."""

from polyreward.core.draws import drawn
from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_items
from polyreward.ops.jobs import run
from polyreward.prepare.passages import parallel_passages


def main(snakemake):
    path, params = snakemake.input[0], snakemake.params
    passages = parallel_passages(read_items(path), params.languages, path)
    for language, output in zip(params.languages, snakemake.output, strict=True):
        write_jsonl(drawn(passages[language], [], params.max_passages, params.seed, "passages"), output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
