"""Norms of token embeddings by language, their comparison, and Figure 2 drawn of them."""

import re

import numpy as np
import pandas as pd
import pytest
import tiny_models
from transformers import AutoModelForCausalLM

from polyreward.analysis.embedding_norms import (
    KS_COLUMNS,
    NORM_COLUMNS,
    base_norms,
    is_constant,
    ks_table,
    matched,
    norm_table,
    token_sets,
)
from polyreward.core.errors import PolyrewardError
from polyreward.transfer.figure2 import draw_figure2, norm_limits

SETS = {"en": [0, 1, 2, 3], "es": [4, 5], "ko": [6]}


def letters(texts, add_special_tokens):
    """A tokenizer whose tokens are letters: a is 0."""
    assert not add_special_tokens
    return {"input_ids": [[ord(letter) - ord("a") for letter in text] for text in texts]}


def synthetic(bases=("one",), languages=("ko", "zh", "es", "it"), spread=0.5):
    """Norm and KS tables of bases with 400 tokens a language, interleaved so that all ranks match."""
    generator, norms, tests = np.random.default_rng(3), [], []
    names = ("en", *languages)
    for base in bases:
        values = generator.normal(3, spread, 400 * len(names))
        sets = {name: list(range(place, len(values), len(names))) for place, name in enumerate(names)}
        table = norm_table(values, sets, "en")
        norms.append(table.assign(base_model=base)[NORM_COLUMNS])
        facts = {
            "constant_norms": is_constant(values), "vocabulary_norm_mean": 3.0, "vocabulary_norm_sd": spread,
        }  # fmt: skip
        tests.append(ks_table(table, "en").assign(base_model=base, **facts)[KS_COLUMNS])
    return pd.concat(norms), pd.concat(tests)


def axes_of(figure):
    """The panels in the order of reading."""
    return [axis for part in figure.subfigs for axis in part.axes]


def texts_of(figure):
    """What each panel's legend says."""
    return [[text.get_text() for text in axis.get_legend().get_texts()] for axis in axes_of(figure)]


UNLIKE = {"en": ["aaaaaaaaa", "b"], "es": ["f" * 19, "a"]}  # of a: en 9 of 10 tokens, es 1 of 20


@pytest.mark.parametrize(
    ("texts", "share", "sets"),
    [
        (
            {"en": ["abc", "ad"], "es": ["ce", "f"], "ko": ["g"]},
            1,
            {"en": [0, 1, 3], "es": [4, 5], "ko": [6]},
        ),
        (UNLIKE, 1, {"en": [1], "es": [5]}),
        (UNLIKE, 0.94, {"en": [0, 1], "es": [5]}),  # 0.9 / (0.9 + 0.05) is 0.947
        (UNLIKE, 0.95, {"en": [1], "es": [5]}),
        # As if languages had as much text: a is half of both
        ({"en": ["ab" * 3], "es": ["ac" * 2000]}, 0.6, {"en": [1], "es": [2]}),
    ],
)
def test_a_token_is_of_the_language_that_has_enough_of_its_uses(texts, share, sets):
    assert token_sets(letters, texts, share) == sets


@pytest.mark.parametrize("share", [0.5, 0, 1.01])
def test_a_share_by_which_a_token_could_be_of_two_languages_is_refused(share):
    with pytest.raises(ValueError, match="above 0.5 and at most 1"):
        token_sets(letters, {"en": ["a"], "es": ["b"]}, share)


def test_texts_are_tokenised_some_at_a_time(monkeypatch):
    sizes = []

    def counted(texts, add_special_tokens):
        sizes.append(len(texts))
        return letters(texts, add_special_tokens)

    monkeypatch.setattr("polyreward.analysis.embedding_norms.TEXTS_AT_A_TIME", 2)
    assert token_sets(counted, {"en": ["a", "b", "c"], "ko": ["g"]}) == {"en": [0, 1, 2], "ko": [6]}
    assert sizes == [2, 1, 1]


def test_every_language_without_tokens_of_its_own_is_named():
    said = r"(?s)2 problems.*`es` \(1 texts, 2 tokens\).*`ko` \(0 texts, 0 tokens\)"
    with pytest.raises(PolyrewardError, match=said):
        token_sets(letters, {"en": ["abc"], "es": ["ab"], "ko": []})


@pytest.mark.parametrize(
    ("tokens", "pool", "pairs"),
    [
        ([10, 20], [21, 11], [(10, 11), (20, 21)]),
        ([5], [3, 8], [(5, 3)]),  # ranks 6 to 4 and 9 to 6: a tie goes to the lower id
        ([100, 101], [102], [(101, 102)]),  # a small pool takes the nearest
        ([100, 102], [101, 140], [(100, 140), (102, 101)]),  # 102/103 is nearer to 1 than 101/102
        ([7, 8, 9], [], []),
        ([], [1], []),
    ],
)
def test_each_token_gets_the_nearest_rank_that_is_free(tokens, pool, pairs):
    assert matched(tokens, pool, max_ratio=2) == pairs
    assert matched(tokens[::-1], pool[::-1], max_ratio=2) == pairs


def test_matches_are_different_tokens():
    generator = np.random.default_rng(1)
    pairs = matched(*(generator.choice(1000, 300, replace=False).tolist() for _ in range(2)))
    assert all(len(set(side)) == len(pairs) for side in zip(*pairs, strict=True))
    assert max((max(pair) + 1) / (min(pair) + 1) for pair in pairs) <= 1.25


def test_the_source_stands_once_among_all_and_beside_each_language_where_matched():
    table = norm_table(np.arange(1.0, 8), SETS, "en")
    counts = table.groupby(["panel", "eval_language", "side"]).size().to_dict()
    assert counts == {
        ("all", "en", "source"): 4, ("all", "es", "language"): 2, ("all", "ko", "language"): 1,
        ("matched", "es", "language"): 1, ("matched", "es", "source"): 1,
    }  # fmt: skip
    assert table.loc[table["panel"] == "all", "norm"].tolist() == pytest.approx([1, 2, 3, 4, 5, 6, 7])
    # rank 5 meets rank 4, the nearest; rank 6 has no other within a quarter, and rank 7 none at all
    assert table.loc[table["panel"] == "matched", "token_id"].tolist() == [4, 3]


def test_known_samples_have_the_known_statistic():
    table = norm_table(np.array([1, 2, 3, 4, 2.5, 6, 7]), SETS, "en")
    tests = ks_table(table, "en").set_index(["panel", "eval_language"])
    all_es, all_ko, matched_ko = (tests.loc[key] for key in (("all", "es"), ("all", "ko"), ("matched", "ko")))
    # 2.5 and 6 next to 1 to 4: half are above all
    names = ["ks", "median_norm_language", "n_language", "n_source"]
    assert all_es[names].tolist() == pytest.approx([0.5, 4.25, 2, 4])
    # 2 of the 5 orders put the one at an end
    assert all_ko[["ks", "p_value"]].tolist() == pytest.approx([1, 0.4])
    assert matched_ko["n_language"] == 0 and np.isnan(matched_ko["ks"])


def test_an_embedding_that_is_not_finite_is_an_error():
    with pytest.raises(PolyrewardError, match="1 rows are not finite, as row 2"):
        norm_table(np.array([1, 2, np.nan, 4, 5, 6, 7]), SETS, "en")


@pytest.mark.parametrize(("spread", "constant"), [(0.0, True), (0.009, True), (0.011, False)])
def test_norms_within_one_percent_are_constant(spread, constant):
    assert is_constant(np.array([2 - 2 * spread, 2 + 2 * spread])) is constant


def test_a_base_model_gives_both_tables(base):
    texts = {"en": [row["chosen"] for row in tiny_models.ROWS], "ko": ["0 _ @ % * # + = ~"]}
    norms, tests = base_norms(base, texts, "en", 1.0)
    assert set(norms["base_model"]) == set(tests["base_model"]) == {base.name}
    embedding = AutoModelForCausalLM.from_pretrained(base).get_input_embeddings().weight.detach().double()
    known = np.linalg.norm(embedding.numpy(), axis=1)
    assert norms["norm"].to_numpy() == pytest.approx(known[norms["token_id"]])
    for column, value in (("mean", known.mean()), ("sd", known.std())):
        assert tests[f"vocabulary_norm_{column}"].to_numpy() == pytest.approx(value)
    assert len(axes_of(draw_figure2(norms[NORM_COLUMNS], tests[KS_COLUMNS], "en", [["ko"]]))) == 2


def test_each_panel_has_a_line_for_each_set_and_says_its_size():
    figure = draw_figure2(*synthetic(["one", "two", "three"]), "en", [["ko", "zh"], ["es", "it"]])
    assert [len(axis.lines) for axis in axes_of(figure)] == [3, 4] * 6
    first, second = texts_of(figure)[:2]
    assert first[0] == "English: n=400"
    assert re.fullmatch(r"Korean: n=400, KS 0\.\d\d", first[1])
    assert [text.split(":")[0] for text in second] == ["Korean", "Chinese", "English, matched"]
    assert all("constant" not in part.get_suptitle() for part in figure.subfigs)


def test_constant_norms_are_said_and_shown_as_a_narrow_peak():
    figure = draw_figure2(*synthetic(spread=0.001), "en", [["ko", "zh"]])
    assert "norms constant over the vocabulary: mean 3.00, sd 0.00100" in figure.subfigs[0].get_suptitle()
    assert axes_of(figure)[0].get_xlim() == pytest.approx((2.97, 3.03), abs=1e-3)


def test_limits_leave_out_what_lies_far_from_all_others():
    low, high = norm_limits([1.0] * 500 + [2.0] * 500 + [100.0])
    assert 0 <= low < 1
    assert 2 < high < 30


def test_few_tokens_are_drawn_one_by_one_and_none_matched_is_said():
    table = norm_table(np.array([1, 2, 3, 4, 2.5, 6, 7]), SETS, "en").assign(base_model="one")
    facts = {"constant_norms": False, "vocabulary_norm_mean": 3.0, "vocabulary_norm_sd": 2.0}
    figure = draw_figure2(table, ks_table(table, "en").assign(base_model="one", **facts), "en", [["ko"]])
    assert [len(axis.lines) for axis in axes_of(figure)] == [5, 0]  # four English tokens and a Korean one
    assert texts_of(figure)[1] == ["Korean: none matched"]


def test_a_group_without_norms_is_an_error():
    with pytest.raises(PolyrewardError, match="no norms of `it`; "):
        draw_figure2(*synthetic(languages=("ko",)), "en", [["ko", "it"]])
