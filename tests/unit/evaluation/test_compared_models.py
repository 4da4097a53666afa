"""Known answers of `polyreward compare`: small tables by hand, statsmodels, and simulations."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from support import ROOT

from polyreward import cli
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Estimate
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import read_csv
from polyreward.evaluation.compare import EACH_SUBSET, compare, items_needed, sections_of
from polyreward.evaluation.shown import FILES, summary, write_comparison

QUICK = Interval(samples=300, confidence=0.95, seed=1)


def scores(subset="all", template=None, **right):
    """Scores of models as read_score_files gives them: of each model how right it is on each item."""
    count = len(next(iter(right.values())))
    subset = [subset] * count if isinstance(subset, str) else subset
    template = [f"t{n}" for n in range(count)] if template is None else template
    tables = [
        pd.DataFrame(
            {
                "scorer": model,
                "id": [f"i{n}" for n in range(count)],
                "subset": subset,
                "template": template,
                "right": np.asarray(shares, dtype=float),
                "tied": False,
            }
        )
        for model, shares in right.items()
    ]
    return pd.concat(tables, ignore_index=True)


def one(table, **values):
    """The only row with these values."""
    for name, value in values.items():
        table = table[table[name] == value]
    assert len(table) == 1, values
    return table.iloc[0]


# --- by hand


def test_accuracies_of_subsets_sections_and_their_mean():
    """a: 4 of 6 in u, 1 of 2 in v, which weighs 6, and 2 of 4 in w."""
    subset = ["u"] * 6 + ["v"] * 2 + ["w"] * 4
    given = scores(subset, a=[1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0], b=[1] * 6 + [0] * 6)
    benchmark = Benchmark("b", {"chat": ["u", "v"], "safety": ["w"]}, {"v": 6})
    found = compare(given, benchmark, level="subset", interval=QUICK)
    of_a = found.parts[found.parts["model"] == "a"].set_index(["level", "part"])["accuracy_pct"]
    chat = 100 * (6 * 4 / 6 + 6 * 1 / 2) / 12
    assert of_a.to_dict() == pytest.approx(
        {
            ("overall", "mean of sections"): (chat + 50) / 2, ("section", "chat"): chat, ("section", "safety"): 50,
            ("subset", "u"): 400 / 6, ("subset", "v"): 50, ("subset", "w"): 50,
        }
    )  # fmt: skip
    assert found.models[["model", "rank", "n_items", "n_clusters"]].to_numpy().tolist() == [
        ["a", 1, 12, 12],
        ["b", 2, 12, 12],
    ]
    pair = one(found.pairs, level="section", part="chat")
    assert (pair["model"], pair["against"], pair["wins"], pair["losses"]) == ("a", "b", 1, 2)
    assert pair["difference"] == pytest.approx(chat - 50)
    every_item = compare(given, interval=QUICK)
    assert one(every_item.models, model="a")["accuracy_pct"] == pytest.approx(700 / 12)
    assert every_item.score == "all items" and len(every_item.pairs) == 1
    by_subset = compare(given, EACH_SUBSET, interval=QUICK)
    assert one(by_subset.models, model="a")["accuracy_pct"] == pytest.approx((400 / 6 + 100) / 3)
    assert by_subset.score == "mean of subsets"


def test_p_is_that_of_statsmodels_and_is_corrected_over_all_comparisons_made():
    generator = np.random.default_rng(3)
    subset = np.repeat(["u", "v"], 60)
    right = {name: generator.random(120) < chance for name, chance in (("a", 0.9), ("b", 0.8), ("c", 0.7))}
    found = compare(scores(subset, **right), level="subset", interval=QUICK).pairs
    assert len(found) == 3 * 3
    for row in found.to_dict("records"):
        inside = slice(None) if row["level"] == "overall" else subset == row["part"]
        a, b = right[row["model"]][inside], right[row["against"]][inside]
        expected = mcnemar([[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]], exact=True)
        assert row["p"] == pytest.approx(expected.pvalue)
        assert (row["wins"], row["losses"]) == ((a & ~b).sum(), (~a & b).sum())
    assert found["p_holm"].tolist() == pytest.approx(multipletests(found["p"], method="holm")[1])
    alone = compare(scores(subset, **right), level="overall", interval=QUICK).pairs
    assert (alone["p_holm"].to_numpy() <= found["p_holm"][:3].to_numpy()).all()


def test_models_that_share_a_letter_are_not_apart():
    """a is far above c; b is between, and near both."""
    right = {"a": [1] * 100, "b": [1] * 96 + [0] * 4, "c": [1] * 90 + [0] * 10}
    found = compare(scores(**right), interval=QUICK)
    assert found.models[["model", "group"]].to_numpy().tolist() == [["a", "a"], ["b", "a b"], ["c", "b"]]
    assert found.models[["rank_low", "rank_high"]].to_numpy().tolist()[0][0] == 1
    same = compare(scores(a=right["b"], b=right["b"]), interval=QUICK)
    assert same.models["rank"].tolist() == [1, 1] and same.models["rank_high"].tolist() == [2, 2]
    assert one(same.pairs, model="a")[["p", "apart"]].tolist() == [1.0, False]
    assert same.pairs["items_needed"].isna().all()


def test_as_many_items_as_needed_decide_four_times_in_five():
    """Differences of 10 points: 30% of items only one model has right, and 20% only the other."""
    estimate = Estimate(0.1, 0, 0, (0.5 - 0.1**2) / 100, 0.0, 99)
    needed = items_needed(estimate, 100, 0.95)
    assert needed == np.ceil((1.959964 + 0.841621) ** 2 * 0.49 / 0.1**2)
    generator = np.random.default_rng(1)
    decided = 0
    for _ in range(400):
        wins, losses, _ = generator.multinomial(int(needed), [0.3, 0.2, 0.5])
        mean, square = (wins - losses) / needed, (wins + losses) / needed
        decided += abs(mean) > 1.96 * np.sqrt((square - mean**2) / needed)
    assert decided / 400 == pytest.approx(0.8, abs=0.05)
    assert np.isnan(items_needed(Estimate(0.1, 0, 0, 0.01, 0.0099, 4), 100, 0.95))  # trainings vary too much
    assert np.isnan(items_needed(Estimate(0.0, 0, 0, 0.01, 0.0, 99), 100, 0.95))


# --- trainings


def test_trainings_of_one_model_widen_its_interval_and_show_their_spread():
    generator = np.random.default_rng(5)
    seeds = {f"mine_seed{n}": generator.random(400) < chance for n, chance in enumerate((0.6, 0.7, 0.8), 1)}
    given = scores(**seeds, other=generator.random(400) < 0.7)
    found = compare(given, trainings={"mine": "mine_seed*"}, interval=QUICK)
    mine = one(found.models, model="mine")
    accuracies = [100 * right.mean() for right in seeds.values()]
    assert mine["n_trainings"] == 3 and mine["accuracy_pct"] == pytest.approx(np.mean(accuracies))
    assert mine["sd_trainings"] == pytest.approx(np.std(accuracies, ddof=1))
    assert mine["se_trainings"] > mine["se_items"] > 0
    single = one(found.models, model="other")
    assert single["n_trainings"] == 1 and np.isnan(single["sd_trainings"])
    assert mine["high"] - mine["low"] > 3 * (single["high"] - single["low"])
    (pair,) = found.pairs.to_dict("records")
    assert pair["test"] == "t" and pd.isna(pair["wins"]) and not pair["apart"]
    assert found.models["rank_high"].tolist() == [2, 2]
    assert "SD of trainings" in summary(found, "wrong")


def test_wrong_patterns_of_trainings_are_all_named():
    given = scores(a1=[1, 0], a2=[1, 1], b=[0, 0])
    with pytest.raises(PolyrewardError) as error:
        compare(given, trainings={"a": "a*,c1", "b": "a1"}, interval=QUICK)
    said = str(error.value)
    assert "`c1` is unknown" in said and "`a1` is a training of a and of b" in said
    assert "b is also the name of another model" in said


# --- simulations


def test_intervals_by_cluster_hold_the_truth_as_often_as_they_say():
    """Clusters of four items that are right together 80% of the time; a true difference of 6 points."""
    generator, held, widths, truths = np.random.default_rng(7), [], [], {"level": 70.0, "difference": 6.0}
    templates = np.repeat([f"t{n}" for n in range(60)], 4)
    for _ in range(150):
        hard = np.repeat(generator.random(60), 4)
        own = generator.random((2, 240))
        clustered = generator.random(240) < 0.8
        level = np.where(clustered, hard, own[0]), np.where(clustered, hard, own[1])
        found = compare(scores(template=templates, a=level[0] < 0.7, b=level[1] < 0.64), interval=QUICK)
        of_a, (pair,) = one(found.models, model="a"), found.pairs.to_dict("records")
        sign = 1 if pair["model"] == "a" else -1
        ends = sorted((sign * pair["low"], sign * pair["high"]))
        held.append(
            (of_a["low"] <= truths["level"] <= of_a["high"], ends[0] <= truths["difference"] <= ends[1])
        )
        widths.append(of_a["high"] - of_a["low"])
    coverage = np.mean(held, axis=0)
    assert ((coverage > 0.9) & (coverage < 0.99)).all(), coverage
    # Each item by itself would be 1.96 * 2 * sqrt(0.7 * 0.3 / 240), which is too narrow
    assert np.mean(widths) > 1.5 * 100 * 3.92 * np.sqrt(0.21 / 240)


def test_leads_in_categories_do_not_survive_their_own_samples():
    """reward-bench #269: the numbers of items that only one of two models has right, by category."""
    categories = {
        "chat": (358, 4, 3),
        "chat_hard": (456, 30, 23),
        "safety": (740, 29, 27),
        "reasoning": (1431, 39, 26),
    }
    subset, one_right, other = [], [], []
    for name, (count, wins, losses) in categories.items():
        subset += [name] * count
        one_right += [1] * (count - losses) + [0] * losses
        other += [0] * wins + [1] * (count - wins)
    found = compare(scores(subset, a=one_right, b=other), EACH_SUBSET, level="subset", interval=QUICK).pairs
    p = found[found["level"] == "subset"].set_index("part")["p"].to_dict()
    printed = {"chat": 1.0, "chat_hard": 0.410, "safety": 0.894, "reasoning": 0.137}
    assert p == pytest.approx(printed, abs=0.001)
    assert not found["apart"].any() and (found["p_holm"] >= found["p"]).all()


@pytest.mark.parametrize(
    ("wins", "losses", "p", "survives"), [(49, 25, 0.007, False), (60, 25, 0.0002, True)]
)
def test_the_best_of_23_subsets_is_corrected_for_all(wins, losses, p, survives):
    """reward-bench #270: two models are equal but in one subset, whose lead is the best of 23."""
    sizes = (
        read_csv(ROOT / "workflow/papers/transfer/printed/rewardbench_sizes.csv")
        .set_index("subset")["pairs"]
        .to_dict()
    )
    subset, a, b = [], [], []
    for name, count in sizes.items():
        ahead, behind = (wins, losses) if name == "math-prm" else (3, 3)
        subset += [name] * count
        a += [1] * ahead + [0] * (count - ahead)
        b += [0] * ahead + [1] * behind + [0] * (count - ahead - behind)
    pairs = compare(scores(subset, a=a, b=b), EACH_SUBSET, level="subset", interval=QUICK).pairs
    row = one(pairs, part="math-prm")
    assert len(pairs) == 24 and row["p"] == pytest.approx(p, rel=0.1)
    assert row["low"] > 0  # by itself it would be a lead
    assert row["p_holm"] == pytest.approx(24 * row["p"])
    assert pairs["apart"].sum() == survives == row["apart"]


# --- benchmarks, files and figure


def test_sections_are_those_of_the_catalog_and_subsets_have_to_fit():
    benchmark = sections_of("rewardbench", ROOT)
    assert benchmark.weights == {"math-prm": 984} and len(benchmark.sections) == 4
    assert sections_of(None, ROOT) is None and sections_of(EACH_SUBSET, ROOT) == EACH_SUBSET
    with pytest.raises(PolyrewardError, match="`rewardbench-3` is unknown.*did you mean `rewardbench`"):
        sections_of("rewardbench-3", ROOT)
    given = scores(["math-prm", "hep-cp", "mt-bench-easy", "mt-bench-hard"], a=[1, 0, 1, 1], b=[0, 0, 1, 1])
    with pytest.raises(PolyrewardError) as error:
        compare(given, benchmark, interval=QUICK)
    said = str(error.value)
    assert "subset `hep-cp` is unknown" in said and "did you mean `hep-cpp`?" in said
    assert "no item of safety (refusals-dangerous, " in said
    only = [name for name in sum(benchmark.sections.values(), []) if name != "hep-go"] * 3
    found = compare(scores(only, a=[1, 0, 1] * 22, b=[0] * 66), benchmark, interval=QUICK)
    assert found.missing == ["hep-go"] and "without items: hep-go" in summary(found, "wrong")
    unweighted = [name for name in only if name != "math-prm"]
    with pytest.raises(PolyrewardError, match=r"no item of math-prm \(math-prm\)"):
        compare(scores(unweighted, a=[1] * 63), benchmark, interval=QUICK)


def test_a_subset_of_one_cluster_has_no_interval_and_is_named():
    given = scores(["u"] * 4 + ["v"] * 2, ["1", "2", "3", "4", "5", "5"], a=[1, 0, 1, 0, 1, 1], b=[0] * 6)
    found = compare(given, level="subset", interval=QUICK)
    assert one(found.parts, part="v", model="a")[["low", "high"]].isna().all()
    assert one(found.parts, part="u", model="a")[["low", "high"]].notna().all()
    assert "No interval can be had, since a subset has one cluster: v." in summary(found, "wrong")


def test_a_comparison_is_written_as_tables_and_a_figure(tmp_path):
    generator = np.random.default_rng(2)
    right = {f"model {n}": generator.random(200) < 0.5 + 0.04 * n for n in range(11)}
    found = compare(scores(np.repeat(["u", "v"], 100), **right), interval=QUICK)
    write_comparison(found, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    assert len(read_csv(tmp_path / "out/models.csv")) == 11
    assert len(read_csv(tmp_path / "out/parts.csv")) == 11 * 3
    assert len(read_csv(tmp_path / "out/pairs.csv")) == 55
    said = summary(found, "shared")
    assert "The table has the first 50 comparisons. With --out, pairs.csv has all 55." in said
    assert "A tie counts as one over the number of answers at the top. Tied items, in %: none." in said
    alone = compare(scores(a=[1, 0, 1]), interval=QUICK)
    write_comparison(alone, tmp_path / "one")
    assert not (tmp_path / "one/pairs.csv").exists() and "Difference" not in summary(alone, "wrong")


def test_the_page_shows_what_the_command_prints(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs/howto/compare.md").read_text("utf-8")
    assert cli.main(["compare", "resources/example/scores.csv"]) == 0
    assert f"```text\n{capsys.readouterr().out}```" in page
    head = (ROOT / "resources/example/scores.csv").read_text("utf-8").splitlines(keepends=True)[:4]
    assert f"```csv\n{''.join(head)}```" in page


def test_models_of_several_trainings_that_are_apart_have_ranks_of_their_own():
    generator = np.random.default_rng(3)
    skills = {"mine": (0.70, 0.74, 0.69), "other": (0.58, 0.61, 0.60)}
    right = {
        f"{name}_{n}": generator.random(400) < skill
        for name, of in skills.items()
        for n, skill in enumerate(of)
    }
    found = compare(scores(**right), trainings={name: f"{name}_*" for name in skills}, interval=QUICK)
    assert found.models[["model", "rank_low", "rank_high", "group"]].to_numpy().tolist() == [
        ["mine", 1, 1, "a"], ["other", 2, 2, "b"],
    ]  # fmt: skip
    (pair,) = found.pairs.to_dict("records")
    assert pair["apart"] and pair["test"] == "t" and 0.001 < pair["p"] == pair["p_holm"] < 0.05
