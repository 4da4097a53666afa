"""Score reward models of one base on one benchmark; each is loaded once, and layers that they share run
once."""

import gc
from itertools import groupby
from pathlib import Path

from polyreward.core.tables import parse_score_path
from polyreward.ops.jobs import run
from polyreward.scoring.classifier import with_memory
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import write_row_scores


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    folders = {Path(folder).name: folder for folder in inputs.models}
    states: dict = {}  # of the layers that all these reward models share
    for scorer, outputs in groupby(snakemake.output, key=lambda path: parse_score_path(path)["scorer"]):
        classifier = load_classifier(folders[scorer], **params.scoring)
        write_row_scores(with_memory(classifier, params.top_layers, states), inputs.rows, outputs)
        del classifier
        gc.collect()  # its layers refer to each other, and a job asks for the memory of one reward model


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
