"""Fetch the published words of a question to judges."""

import yaml

from polyreward.core.files import write_text
from polyreward.ops.jobs import run
from polyreward.sources.judge_wordings import published_question


def main(snakemake):
    question = published_question(snakemake.params.wording)
    write_text(yaml.safe_dump(question, sort_keys=False, allow_unicode=True), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
