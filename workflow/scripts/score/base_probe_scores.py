"""Score all benchmarks and languages by a linear probe on a base that no preference was shown to."""

from pathlib import Path

from polyreward.core.draws import drawn
from polyreward.core.files import read_jsonl
from polyreward.core.tables import parse_score_path, write_scores
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import frozen_features, probe_scores
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.pairs import score_table


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    lm, label = load_causal_lm(inputs.base, **params.scoring), Path(inputs.base).name
    features = {}
    for path in inputs.train:
        rows = drawn(read_jsonl(path), [], params.pairs, params.seed, "probe")
        features[Path(path).stem] = frozen_features(lm, rows, f"{label}, training set {Path(path).stem}")
    files = {(Path(path).parent.name, Path(path).stem): path for path in inputs.rows}
    for output in snakemake.output:
        named = parse_score_path(output)
        rows, language = read_jsonl(files[named["benchmark"], named["language"]]), named["language"]
        found = frozen_features(lm, rows, f"{label}, {named['benchmark']}, {language}")
        write_scores(
            score_table(rows, *probe_scores(features[language], found, params.seed)), output, **named
        )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
