"""Our tables next to printed ones: which cells meet, and the scatter of them."""

from itertools import product

import pandas as pd
import pytest
from support import ROOT, script

from polyreward.artifacts.printed_tables import COLUMNS, OTHER, SAME
from polyreward.core.errors import PolyrewardError

compared = script("artifacts/compare").compared

SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]


def published(name):
    return pd.read_csv(ROOT / f"workflow/papers/transfer/printed/{name}.csv")


def table1(bases=("one", "two"), languages=("es", "ko")):
    keys = list(product(bases, languages, ("target", "english", "delta")))
    table = pd.DataFrame(keys, columns=["base_model", "eval_language", "rm_training"])
    return table.assign(
        **{section: 50.0 + place for place, section in enumerate([*SECTIONS, "avg"])}, n_pairs=208
    )


def language_table(models):
    """models: [(reward model, base or None, training language or None)]"""
    table = pd.DataFrame(models, columns=["reward_model", "base_model", "rm_training"])
    return table.assign(eval_language="ko", **dict.fromkeys([*SECTIONS, "avg"], 60.0))


def table2(models=("judge",), languages=("en", "es", "it", "ko", "zh")):
    keys = [(model, language) for model in models for language in languages]
    return pd.DataFrame(keys, columns=["reward_model", "eval_language"]).assign(
        kind="generative", avg=[55.0 + n for n in range(len(keys))]
    )


def test_table_1_meets_its_printed_cells_and_differences():
    table = compared("table1", table1(), published("table1"), None)
    assert list(table.columns) == COLUMNS
    assert len(table) == 2 * 2 * 2 * 3 * 5  # bases of ours and theirs, languages, rows, columns
    assert set(table["row"]) == set(map(" ".join, product(("es", "ko"), ("target", "english", "delta"))))
    of_llama = table[table["printed_model"] == "Llama-3.2-3B-Instruct"].set_index(["row", "column"])
    cell = of_llama.loc[("ko delta", "reasoning"), ["ours", "printed", "difference"]].iloc[0]
    assert cell.tolist() == pytest.approx([53, 12.9, 53 - 12.9])
    assert set(table["pairing"]) == {OTHER}


def test_a_model_that_the_paper_has_stands_beside_itself_alone():
    table = compared("table1", table1(("llama-3.2-3b-instruct", "gemma")), published("table1"), None)
    pairs = set(table[["ours_model", "printed_model", "pairing"]].itertuples(index=False, name=None))
    assert pairs == {
        ("llama-3.2-3b-instruct", "Llama-3.2-3B-Instruct", SAME),
        ("gemma", "Qwen2.5-3B-Instruct", OTHER),
    }


def test_a_language_table_meets_the_printed_one_of_its_language_by_training_language():
    ours = language_table([("gemma_ko", "gemma", "ko"), ("gemma_fr", "gemma", "fr"), ("my-rm", None, None)])
    table = compared("table6", ours, published("tables3to7"), "ko")
    assert set(table["row"]) == {"ko", "off the shelf"}  # nobody printed a French one
    trained, shelf = (table[table["row"] == row] for row in ("ko", "off the shelf"))
    assert len(trained) == 3 * 5
    assert trained.set_index(["printed_model", "column"])["printed"]["Qwen2.5-7B-Instruct", "avg"] == 72.7
    models = shelf[["ours_model", "printed_model"]].drop_duplicates().to_numpy().tolist()
    assert models == [["my-rm", "ArmoRM-Llama3-8B-v0.1"]]


def test_table_2_meets_the_printed_averages_by_language():
    table = compared("table2", table2(languages=("en", "ko")), published("table2"), None)
    assert len(table) == 4 * 2
    cell = table.set_index(["printed_model", "column"]).loc[("gpt-4o", "ko")]
    assert (cell["ours"], cell["printed"], cell["difference"]) == pytest.approx((56, 75.2, 56 - 75.2))


def test_tables_with_no_cell_in_both_are_refused():
    with pytest.raises(PolyrewardError, match="table6: no cell is both in our table and in the printed one"):
        compared("table6", language_table([("gemma_fr", "gemma", "fr")]), published("tables3to7"), "ko")


def test_a_table_of_other_languages_than_the_paper_s_has_no_rows():
    ours = table1().assign(eval_language="fr")
    for name, own, printed in (("table1", ours, "table1"), ("table2", table2(languages=("fr",)), "table2")):
        table = compared(name, own, published(printed), None)
        assert table.empty and list(table.columns) == COLUMNS
