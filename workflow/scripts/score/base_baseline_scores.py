"""Score all benchmarks and languages by a base that no preference was shown to: probe and PMI."""

from pathlib import Path

from safetensors.numpy import load_file

from polyreward.core.draws import drawn
from polyreward.core.files import read_jsonl
from polyreward.core.seals import intact
from polyreward.core.tables import score_file, write_scores
from polyreward.ops.jobs import run
from polyreward.scoring.baselines import frozen_features, probe_scores, unprompted_loglik
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.pairs import score_table


def main(snakemake):
    params, inputs = snakemake.params, snakemake.input
    lm, label = load_causal_lm(inputs.base, **params.scoring), Path(inputs.base).name
    features = {
        Path(path).stem: frozen_features(
            lm,
            drawn(read_jsonl(path), [], params.pairs, params.seed, "probe"),
            f"{label}, training set {Path(path).stem}",
        )
        for path in inputs.train
    }
    statistics = {Path(path).parent.name: load_file(intact(path)) for path in inputs.statistics}
    files = {(Path(path).parent.name, Path(path).stem): path for path in inputs.rows}
    for output in snakemake.output:
        named = score_file(output)
        benchmark, language = named["benchmark"], named["language"]
        rows, found = read_jsonl(files[benchmark, language]), statistics[benchmark]
        if named["scorer"].startswith("probe-"):
            scores = probe_scores(features[language], found[f"feature_{language}"], params.seed)
        else:
            unprompted = unprompted_loglik(lm, rows, f"{label}, {language} without prompts")
            scores = (found[f"loglik_{language}"] - unprompted).T
        write_scores(score_table(rows, *scores), output, **named)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
