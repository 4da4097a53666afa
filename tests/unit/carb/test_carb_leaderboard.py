"""The leaderboard: what is right, ties, means over unlike cells, intervals, ranks and their intervals."""

import numpy as np
import pandas as pd
import pytest
from carb_data import score_table
from support import refused, script

from polyreward.analysis.bootstrap import Interval, bootstrap_weights
from polyreward.carb.leaderboard import (
    Leaderboard,
    by_scorer,
    chance_of,
    display_leaderboard,
    leaderboard_columns,
    rank_intervals,
    rightness,
)
from polyreward.core.tables import write_scores, write_unavailable

comparison = script("analyse/carb_comparison")

INTERVAL = Interval(samples=400, confidence=0.95, seed=1)
CULTURES, DOMAINS = ["de", "ja"], ["values", "safety"]
LANGUAGES = {
    "de": {"resource_class": 5, "family": "Indo-European", "script": "Latn"},
    "ja": {"resource_class": 5, "family": "Japonic", "script": "Jpan"},
    "th": {"resource_class": 3, "family": "Tai-Kadai", "script": "Thai"},
}


def scores(values: dict[str, list[float]], **how) -> pd.DataFrame:
    """Return a score table; values: {culture/domain/number: four scores}."""
    return score_table({(name, name, *name.split("/")[:2]): four for name, four in values.items()}, **how)


def of_rights(rights: dict[str, list[int]], four=lambda right: [right, 0.5, 0.1, 0.2], **how) -> pd.DataFrame:
    """Return a score table; rights: {culture/domain: [1, 0, ...]}; four: scores by whether an item is right."""
    values = {f"{cell}/{n}": four(right) for cell, found in rights.items() for n, right in enumerate(found)}
    return scores(values, **how)


def all_alike(right: int, rights=None) -> pd.DataFrame:
    return of_rights({cell: [right] * len(found) for cell, found in (rights or RIGHTS).items()})


RIGHTS = {"de/values": [1, 1, 1, 0], "de/safety": [1, 0], "ja/values": [0, 0], "ja/safety": [1, 0]}
KINDS = {"l": "baseline", "g": "generative"}  # by a name's first letter; others are classifiers


def board(missing=None, groups=None, **tables) -> Leaderboard:
    kinds = {name: KINDS.get(name[0], "classifier") for name in {**tables, **(missing or {})}}
    return Leaderboard(tables, kinds, CULTURES, DOMAINS, INTERVAL, groups, missing or {})


def display(table: pd.DataFrame) -> pd.DataFrame:
    return display_leaderboard(table, [*CULTURES, *DOMAINS], "95%").set_index("scorer")


def test_a_kind_that_nobody_knows_is_an_error_and_no_baseline():
    tables = {"a": all_alike(1), "b": all_alike(0)}
    said = refused(Leaderboard, tables, {"a": "classifier", "b": "clasifier"}, CULTURES, DOMAINS, INTERVAL)
    assert "`clasifier` is unknown; core/kinds.py has baseline, classifier, generative, implicit" in said


@pytest.mark.parametrize(("ties", "right"), [("wrong", [1, 0, 0, 0]), ("shared", [1, 0.5, 0, 0.25])])
def test_right_is_strictly_highest_and_a_baseline_shares_ties(ties, right):
    fours = [3, 2, 1, 0], [2, 2, 1, 0], [1, 2, 2, 0], [1, 1, 1, 1]
    found = rightness(scores({f"de/values/{n}": four for n, four in enumerate(fours)}), ties)
    assert list(found["right"]) == right
    assert list(found["tied"]) == [False, True, False, True] and list(found["chance"]) == [0.25] * 4


def test_bad_scores_an_empty_cell_and_other_items_are_named():
    assert "not a number" in refused(rightness, scores({"de/values/1": [3, np.nan, 1, 0]}), "wrong")
    said = "item de/values/1: it needs exactly one chosen"
    assert said in refused(rightness, scores({"de/values/1": [3, 2, 1, 0]}, chosen=9), "wrong")
    incomplete = of_rights({cell: rights for cell, rights in RIGHTS.items() if cell != "ja/safety"})
    assert "ja has no item of safety" in refused(board, a=incomplete)
    assert "b: its items are not those of a" in refused(board, a=of_rights(RIGHTS), b=incomplete)
    odd = of_rights({**RIGHTS, "th/values": [1]})
    assert "items of th, values: config.yaml has no such" in refused(board, a=odd)


def test_means_weigh_items():
    found = board(a=of_rights(RIGHTS)).table().set_index("scorer").loc["a"]
    assert found["carb"] == pytest.approx(50)  # 5 of 10, not the mean of four cells
    assert found["de"] == pytest.approx(400 / 6) and found["ja"] == pytest.approx(25)
    assert found["values"] == pytest.approx(50) and found["safety"] == pytest.approx(50)
    assert found["low"] < 50 < found["high"] and found["n"] == 10


def test_the_interval_is_that_of_a_stratified_mean():
    """One cell, 200 topics, 100 right: the interval is that of a mean of 200 tosses with 199 degrees of
    freedom."""
    interval = Interval(samples=20000, confidence=0.95, seed=1)
    table = of_rights({"de/values": [0, 1] * 100})
    one = Leaderboard({"a": table}, {"a": "classifier"}, ["de"], ["values"], interval)
    low, high = one.ends(["a"], "carb")
    assert (high - low) / 2 == pytest.approx(100 * 1.972 * 0.5 / np.sqrt(199), rel=0.06)


def test_a_score_without_safety_and_over_the_base_s_pmi_is_in_the_table():
    """Known: right on all of Safety and nothing else; PMI the reverse."""
    on_safety = {cell: [int("safety" in cell)] * 4 for cell in RIGHTS}
    elsewhere = {cell: [int("safety" not in cell)] * 4 for cell in RIGHTS}
    tables = {"rm": of_rights(on_safety), "pmi-base": of_rights(elsewhere), "other": of_rights(on_safety)}
    kinds, bases = (
        {"rm": "classifier", "pmi-base": "baseline", "other": "classifier"},
        {"rm": "base", "other": "none"},
    )
    made = Leaderboard(tables, kinds, CULTURES, DOMAINS, INTERVAL, bases=bases).table().set_index("scorer")
    assert made.loc["rm", ["carb", "without_safety", "over_pmi"]].tolist() == pytest.approx([50, 0, 0])
    assert made.loc["pmi-base", ["carb", "without_safety"]].tolist() == pytest.approx([50, 100])
    assert made.loc["rm", "over_pmi_low"] <= made.loc["rm", "over_pmi"] <= made.loc["rm", "over_pmi_high"]
    assert made.loc[["other", "pmi-base", "chance"], "over_pmi"].isna().all()
    assert made.loc["chance", "without_safety"] == 25
    assert "without Safety [95%]" in display(made.reset_index()).columns


def test_ranks_and_their_intervals():
    some = {cell: rights * 4 for cell, rights in RIGHTS.items()}
    best, worst = (all_alike(right, some) for right in (1, 0))
    table = board(w=worst, a=of_rights(some), b=best, same=of_rights(some), length=best).table()
    ranks = table.set_index("scorer")[["rank", "rank_low", "rank_high"]]
    assert list(table["scorer"]) == ["b", "a", "same", "w", "length", "chance"]
    assert list(ranks.loc["b"]) == [1, 1, 1] and list(ranks.loc["w"]) == [4, 4, 4]
    assert list(ranks.loc["a"]) == list(ranks.loc["same"]) == [2, 2, 3]  # equals share all ranks
    assert ranks.loc["length"].isna().all() and ranks.loc["chance"].isna().all()


def resampled_scores(right, samples=400):
    """Return the scores (1 + samples, scorers) of scorers on topics. right: (topics, scorers)."""
    return bootstrap_weights(len(right), Interval(samples, 0.95, 1), "ranks") @ right


def ranks(values, freedom=99):
    return np.stack(rank_intervals(values, 0.95, freedom), axis=1).tolist()


def test_equals_share_all_ranks_and_without_degrees_of_freedom_all_ranks_may_be():
    right = np.random.default_rng(1).integers(0, 2, (100, 3)).astype(float)
    assert ranks(resampled_scores(right)) == [[1, 3]] * 3  # but for luck
    assert ranks(resampled_scores(np.repeat(right[:, :1], 3, axis=1))) == [[1, 3]] * 3  # the same answers
    right = np.random.default_rng(1).random((100, 2)) < [0.1, 0.9]
    assert ranks(resampled_scores(right.astype(float)), freedom=0) == [[1, 2]] * 2
    one_topic = resampled_scores(np.array([[0.0, 1.0]]))  # no draw varies
    assert ranks(one_topic, freedom=0) == [[1, 2]] * 2


def test_intervals_of_all_ranks_hold_at_once():
    """Six equal scorers: no rank interval may leave out any rank, in 95% of samples."""
    normal = np.random.default_rng(1).normal
    found = [ranks(resampled_scores(normal(size=(60, 6)), 300), 59) == [[1, 6]] * 6 for _ in range(400)]
    assert 0.92 < np.mean(found) < 0.98


def test_a_reward_model_that_scores_all_alike_is_wrong_everywhere_and_what_is_within_noise_is_counted():
    flat = of_rights(RIGHTS, lambda right: [1, 1, 1, 1], noisy=["de/values/0", "ja/safety/1"])
    table = board(flat=flat, length=flat).table().set_index("scorer")
    assert table.loc["flat", ["carb", "n_tied", "n_within_noise"]].tolist() == [0, 10, 2]
    assert table.loc["length", "carb"] == table.loc["chance", "carb"] == 25
    assert chance_of(table.reset_index()) == 25


def test_score_files_are_known_by_their_columns_and_not_by_their_places(tmp_path):
    table = of_rights(RIGHTS)
    paths = []
    for scorer in "ab":
        for culture in CULTURES:
            paths.append(tmp_path / f"{scorer}_{culture}.parquet")
            write_scores(table[table["language"] == culture], paths[-1], benchmark="carb", scorer=scorer)
    paths.append(tmp_path / "gone.parquet")
    write_unavailable("no such repository", paths[-1], benchmark="carb", scorer="c")
    found = by_scorer(paths, "abc", "carb", CULTURES)
    for turned in (paths[::-1], [paths[1], paths[0], *paths[2:]]):
        for name, rows in by_scorer(turned, "abc", "carb", CULTURES).items():
            pd.testing.assert_frame_equal(rows, found[name])
    assert len(found["a"]) == len(found["b"]) == 40 and "c" not in found
    error = refused(by_scorer, paths, "abd", "x")
    assert all(part in error for part in ("benchmark `carb`, not `x`", "of `c`, which", "no scores of `d`"))


def test_the_table_for_reading_has_an_empty_row_with_its_reason_for_who_has_no_scores():
    table = board(a=of_rights(RIGHTS), length=of_rights(RIGHTS)).table()
    assert list(table.columns) == leaderboard_columns(CULTURES, DOMAINS)
    shown = display(table)
    assert shown.loc["a", "CARB [95%]"].startswith("50.0 [") and shown.loc["a", "rank [95%]"] == "1 [1, 1]"
    assert shown.loc["chance", "CARB [95%]"] == "25.0" and shown.loc["length", "rank [95%]"] == ""
    assert shown.map(lambda cell: isinstance(cell, str)).all().all()
    longer = board({"b": "gone"}, a=of_rights(RIGHTS), length=of_rights(RIGHTS)).table()
    assert list(longer["scorer"]) == ["a", "b", "length", "chance"]
    row = longer.set_index("scorer").loc["b"]
    assert row[row.notna()].to_dict() == {"missing": "gone", "kind": "classifier"}
    assert list(display(longer).loc["b", ["CARB [95%]", "rank [95%]", "de"]]) == ["missing", "", ""]
    without = longer.drop(index=1).reset_index(drop=True)
    pd.testing.assert_frame_equal(table, without, check_dtype=False)


def test_groups_of_languages_and_their_scores():
    groups = comparison.language_groups(LANGUAGES, ["de", "th", "ja"])
    assert groups["resource_class"] == {"5": ["de", "ja"], "3": ["th"]}
    assert list(groups["script"]) == ["Jpan", "Latn", "Thai"]
    groups, other = comparison.language_groups(LANGUAGES, CULTURES), all_alike(1)
    scored = board(groups=comparison.sections_of(groups), a=of_rights(RIGHTS), g=other, length=other)
    found = comparison.group_table(scored, groups)
    row = found[(found["panel"] == "family") & (found["group"] == "Japonic")].set_index("scorer")
    assert row.loc[["a", "mean"], "score_pct"].tolist() == [25, 62.5] and row.loc["mean", "n_items"] == 4
    assert "length" not in set(found["scorer"])
    whole = found[(found["panel"] == "resource_class")].set_index("scorer")
    assert whole.loc["a", "score_pct"] == 50 and whole.loc["a", "cultures"] == "de ja"


def test_the_best_of_each_kind_by_domain():
    worse = all_alike(0)
    scored = board(worse=worse, a=of_rights(RIGHTS), g1=worse)
    found = comparison.domain_table(scored, ["classifier", "generative"], 1)
    assert list(found["scorer"].unique()) == ["a", "g1"]
    assert list(found.loc[found["scorer"] == "a", "score_pct"]) == [50, 50]
