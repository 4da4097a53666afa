"""The benchmark of worked solutions at scale tiny, from a miniature of its package and without a network."""

import pandas as pd
import pytest
from flow import SCALE
from solved_problems import offline
from support import snakemake

pytestmark = pytest.mark.slow
OVERLAY = """
own_benchmarks:
  gsm-symbolic-en: {dataset: gsm-symbolic, language: en}
  gsm-symbolic-zh: {dataset: gsm-symbolic, language: zh}
"""
KINDS = ["wrong-number", "wrong-step", "other-problem"]


def test_its_tables_have_reward_models_bases_and_texts_in_the_same_problems(
    table1, copied, tmp_path, monkeypatch
):
    here = copied(table1, tmp_path / "polyreward")
    for name, value in offline(here, tmp_path / "wheels").items():
        monkeypatch.setenv(name, value)
    (here / "solved.yaml").write_text(OVERLAY, encoding="utf-8")
    wanted = [f"results/tiny/benchmark_gsm-symbolic-{language}.csv" for language in ("en", "zh")]
    ran = snakemake(*wanted, "--configfile", *SCALE, "solved.yaml", "--cores", "2", cwd=here, many_jobs=True)
    assert ran.returncode == 0, ran.stdout
    assert "zh, wrong-number: 6 pairs; left out: none" in ran.stdout
    # Those trained in English or in the benchmark's own language; none is trained in Chinese here
    trained = ["tiny-gemma_en", "tiny-llama_en"]
    bases = [f"{kind}-{base}" for base in ("tiny-gemma", "tiny-llama") for kind in ("loglik", "pmi")]
    texts = {"en": ["length", "tfidf-answer", "tfidf-prompt-answer"], "zh": []}
    for path, (language, more) in zip(wanted, texts.items(), strict=True):
        table = pd.read_csv(here / path).set_index(["scorer", "subset"])
        assert list(dict.fromkeys(table.index.get_level_values(0))) == [*trained, *more, *bases], language
        assert table.xs("all items", level="subset")["n_items"].eq(18).all()
        assert {*table.index.get_level_values(1)} == {*KINDS, "all items"}
    english = pd.read_csv(here / wanted[0]).set_index(["scorer", "subset"])
    assert english.loc["length", "accuracy_pct"].eq(50).all()
