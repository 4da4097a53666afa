"""The tables made of comparisons."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from comparisons import BENCHMARK, INDEPENDENT, INTERVAL, ROWS, families, independent, scores, together
from made_up_sheet import sheet, sheet_file
from support import script

from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import (
    LANGUAGE_COLUMNS,
    READY_MADE_COLUMNS,
    TRANSFER_COLUMNS,
    hard_pairs,
    transfer_table,
)
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import write_scores, write_table
from polyreward.transfer.tables import display_language_table, display_ready_made

language_table = script("analyse/language_comparison").language_table
ready_made_table = script("analyse/ready_made_comparison").ready_made_table
scorers, twins = script("analyse/scorer_comparison"), script("analyse/twin_comparison")
gate = script("artifacts/gate")
own = script("artifacts/own_benchmark_table")
BOTH = sheet({"length": "baseline", "rm": "classifier"})
TRAINED = sheet(
    [f"base_{training}{seed}" for training in ("en", "es", "it", "ko") for seed in ("", "_seed2")]
)
FOUR = Benchmark("bench", {"chat": ["u"], "chat_hard": ["w"], "safety": ["v"], "reasoning": ["v"]}, {})


def test_the_scorer_table_has_each_scorer_on_each_slice_and_the_subset_table_all_pairs():
    tables = {"length": scores([1, 0, 1, 0, None]), "rm": scores([1, 1, 1, 1, None])}
    benchmark = Benchmark("bench", BENCHMARK.sections, {})
    table, subsets = scorers.scorer_tables(together(tables), ROWS, BOTH, benchmark, INTERVAL)
    safety = table.set_index(["slice", "scorer"])["safety"].to_dict()
    assert safety["all", "length"] == pytest.approx(25)  # wrong on 4, half right on the tie of 5
    assert safety["all", "rm"] == pytest.approx(50)  # right on 4, wrong on the tie of 5
    assert safety["chosen_shorter", "length"] == 0
    assert np.isnan(safety["chosen_longer", "length"])  # no such pair in that section
    assert table.columns.tolist() == scorers.SCORER_COLUMNS
    assert set(subsets.columns) == set(scorers.SUBSET_COLUMNS)
    of_each = subsets.groupby(["scorer", "kind"])["n_pairs"].sum().to_dict()
    assert of_each == {("length", "baseline"): 5, ("rm", "reward model"): 5}


def test_the_kind_table_has_each_kind_of_rejected_answer_of_each_scorer():
    """Rows without a kind are `written`; a kind's pairs may be of any subset."""
    kinds = ["drift", "vague", "drift", None, None]
    rows = [{**row, **({"kind": kind} if kind else {})} for row, kind in zip(ROWS, kinds, strict=True)]
    tables = {"length": scores([1, 0, 0, 0, None]), "rm": scores([1, 1, 0, 1, None])}
    table = scorers.kind_table(together(tables), rows, BOTH, BENCHMARK, INTERVAL)
    assert table.columns.tolist() == scorers.KIND_COLUMNS
    found = table.set_index(["scorer", "rejected"])
    accuracies = found["accuracy_pct"].unstack()[["drift", "vague", "written"]]
    assert accuracies.loc[["rm", "length"]].to_numpy().tolist() == [[50, 100, 50], [50, 0, 25]]
    assert found.loc["rm", "n_pairs"].to_dict() == {"drift": 2, "vague": 1, "written": 2}
    assert set(found["kind"]) == {"baseline", "reward model"} and set(found["benchmark"]) == {BENCHMARK.name}


def transfer_scores(languages=("es", "ko"), rows=ROWS):
    """Scores of a base: the English reward model is right on every pair, each target one on none."""
    tables = {
        language: {"base_en": scores([1] * 5, rows), f"base_{language}": scores([0] * 5, rows)}
        for language in languages
    }
    return pd.concat(together(found, rows, language=language) for language, found in tables.items())


def test_the_transfer_table_is_english_minus_target_on_each_language_s_own_rows():
    spanish = [{**row, "id": f"es{row['id']}"} for row in ROWS]
    both = pd.concat([transfer_scores(["es"], spanish), transfer_scores(["it"])])
    table = transfer_table(both, TRAINED, "en", FOUR, INTERVAL)
    assert table["avg"].tolist() == [0, 100, 100] * 2
    assert table["eval_language"].tolist() == ["es"] * 3 + ["it"] * 3
    assert set(table.columns) == set(TRANSFER_COLUMNS)


def test_the_accuracy_on_hard_pairs_is_a_column_and_no_part_of_the_average():
    kinds = [
        {"id": row["id"], "kind": "written" if number < 2 else "drift"} for number, row in enumerate(ROWS)
    ]
    hard = hard_pairs([*kinds, {"id": "published"}])
    assert hard == [row["id"] for row in ROWS[:2]]
    found = together({"base_en": scores([1, 0, 1, 1, 1]), "base_es": scores([0] * 5)}, language="es")
    table = transfer_table(found, TRAINED, "en", FOUR, INTERVAL, hard).set_index("rm_training")
    assert table["hard"].tolist() == [0, 50, 50] and table["n_hard"].tolist() == [2, 2, 2]
    without = transfer_table(found, TRAINED, "en", FOUR, INTERVAL).set_index("rm_training")
    assert without["hard"].isna().all() and without["avg"].tolist() == table["avg"].tolist()


def test_the_transfer_table_refuses_a_base_without_one_of_its_two_reward_models():
    with pytest.raises(PolyrewardError, match="base in ko: scored are no models of ko, and base_en of en"):
        transfer_table(transfer_scores().query("scorer != 'base_ko'"), TRAINED, "en", FOUR, INTERVAL)


def test_trainings_of_several_seeds_are_matched_by_their_names():
    wrong, right = scores([0] * 5), scores([1] * 5)
    tables = {"base_en_seed2": scores([1, 1, 1, 1, 0]), "base_es": wrong, "base_en": right}
    found = together({**tables, "base_es_seed2": wrong}, language="es")
    table = transfer_table(found, TRAINED, "en", FOUR, INTERVAL).set_index("rm_training")
    assert table["n_seeds"].tolist() == [2, 2, 2] and table.loc["target", "avg"] == 0
    assert table.loc["english", "avg"] == pytest.approx((100 + 75) / 2)


def test_the_language_table_has_means_over_seeds_and_tells_trained_reward_models_from_others():
    rights = {"gemma-3_ko": 0, "gemma-3_en": 1, "gemma-3_ko_seed2": 1, "my-rm": 1}
    tables = {name: scores([right] * 5) for name, right in rights.items()}
    table = language_table(together(tables, language="es"), {}, sheet(list(tables)), FOUR, INTERVAL)
    assert set(table.columns) == set(LANGUAGE_COLUMNS)
    known = table[["reward_model", "base_model", "rm_training", "avg", "n_seeds"]].astype(object).fillna("")
    assert known.to_numpy().tolist() == [
        ["gemma-3_ko", "gemma-3", "ko", 50, 2], ["gemma-3_en", "gemma-3", "en", 100, 1], ["my-rm", "", "", 100, 1],
    ]  # fmt: skip
    assert table["avg_sd"][0] == pytest.approx(100 / 2**0.5)


def artifact(name, folder, inputs, params, **wildcards):
    """Run the script of an artifact and return its table."""
    output = SimpleNamespace(**{kind: folder / f"{name}.{kind}" for kind in ("csv", "md", "tex", "html")})
    parts = (SimpleNamespace(**of) for of in (inputs, params, wildcards))
    job = dict(zip(("input", "params", "wildcards"), parts, strict=True))
    script(f"artifacts/{name}").main(SimpleNamespace(output=output, **job))
    return pd.read_csv(output.csv)


def test_a_language_s_table_shows_the_rows_that_the_sheet_gives_it_and_no_others(tmp_path):
    names = ["gemma_ko", "gemma_en", "my-rm", "unshown"]
    found = together({name: scores([1] * 5) for name in names}, language="ko")
    of_all = language_table(found, {}, sheet(names), FOUR, INTERVAL)
    write_table(of_all, tmp_path / "ko.csv", LANGUAGE_COLUMNS)
    every = [("language_comparison", "bench", name, "ko") for name in names]
    shown = [("language_tables", "bench", name, "ko") for name in ("gemma_ko", "my-rm")]
    inputs = {"table": tmp_path / "ko.csv", "sheet": sheet_file(tmp_path, names, cells=[*every, *shown])}
    params = {"caption": "c", "confidence": "95%"}
    table = artifact("language_table", tmp_path, inputs, params, language_table="table5")
    assert table["reward_model"].tolist() == ["gemma_ko", "my-rm"] and table["avg"].tolist() == [100, 100]


def test_the_ready_made_table_halves_a_baselines_ties():
    tied = scores([0] * 5).assign(score_chosen=0.0, score_rejected=0.0)
    found = pd.concat(together({"judge": tied, "loglik-gemma": tied}, language=name) for name in ("en", "es"))
    kinds = {"judge": "generative", "loglik-gemma": "baseline"}
    table = ready_made_table(found, {}, list(kinds), sheet(kinds), FOUR, INTERVAL)
    assert table.set_index(["reward_model", "eval_language"])["avg"].to_dict() == {
        ("judge", "en"): 0, ("judge", "es"): 0, ("loglik-gemma", "en"): 50, ("loglik-gemma", "es"): 50,
    }  # fmt: skip
    assert set(table.columns) == set(READY_MADE_COLUMNS)


def test_an_unavailable_reward_model_has_an_empty_row_with_its_reason():
    found = together({"rm": scores([1] * 5)}, language="es")
    of_both = sheet(["gone-rm", "rm"])
    table = language_table(found, {"gone-rm": "gone"}, of_both, FOUR, INTERVAL)
    assert table["missing"].fillna("").tolist() == ["", "gone"]
    assert table["avg"][0] == 100 and np.isnan(table["avg"][1])
    assert table["n_templates"].dtype == "Int64"
    shown = display_language_table(table, "95%")
    assert shown["Base"].tolist() == ["rm", "gone-rm"]
    assert shown.iloc[1, 2:].tolist() == ["", "", "", "", "missing"]
    both = pd.concat([found, found.assign(language="ko")])
    ready = ready_made_table(both, {"gone-rm": "gone"}, ["gone-rm", "rm"], of_both, FOUR, INTERVAL)
    assert ready.set_index(["reward_model", "eval_language"])["missing"].dropna().to_dict() == {
        ("gone-rm", "es"): "gone", ("gone-rm", "ko"): "gone",
    }  # fmt: skip
    assert display_ready_made(ready, "95%").iloc[0, 2:].tolist() == ["missing", "missing"]


def test_a_judge_s_ties_are_half_right_where_it_writes_its_verdict():
    tied = scores([0] * 5).assign(score_chosen=0.5, score_rejected=0.5)
    tables = {"judge": tied, "rm": tied}
    of_both = sheet({"judge": "generative", "rm": "classifier"}, half=["judge"])
    of_language = language_table(together(tables, language="es"), {}, of_both, FOUR, INTERVAL)
    assert of_language.set_index("reward_model")["avg"].to_dict() == {"judge": 50, "rm": 0}
    of_shelf = ready_made_table(together(tables), {}, ["judge", "rm"], of_both, FOUR, INTERVAL)
    assert of_shelf.set_index("reward_model")["avg"].to_dict() == {"judge": 50, "rm": 0}
    of_scorers, _ = scorers.scorer_tables(together(tables), ROWS, of_both, FOUR, INTERVAL)
    every = of_scorers[of_scorers["slice"] == "all"].set_index("scorer")
    assert every["avg"].to_dict() == {"judge": 50, "rm": 0}
    assert set(every["kind"]) == {"reward model"}
    pairs = families(2)
    of_twins = together(dict.fromkeys(tables, scores([None] * len(pairs), pairs)), pairs)
    found = twins.twin_table(of_twins, of_both, {}, INTERVAL).set_index("scorer")
    assert found["pair_accuracy_pct"].to_dict() == found["sum_right_pct"].to_dict() == {"judge": 50, "rm": 0}
    assert set(found["kind"]) == {"reward model"}


def test_the_table_of_an_own_benchmark_has_chance_per_subset():
    rows = [{"id": "1", "subset": "a", "prompt": "p", "chosen": "x", "rejected": ["y", "z", "w"]},
            {"id": "2", "subset": "b", "prompt": "p", "chosen": "x", "rejected": "y"}]  # fmt: skip
    known = {"truncated_share": 0.0, "within_noise": False, "category": None}
    tied = pd.DataFrame([{**row, **known, "score_chosen": 1.0, "score_rejected": 1.0} for row in rows])
    found = together({"length": tied, "rm": tied.assign(score_chosen=2.0)}, rows)
    table = own.own_table(found, rows, BOTH, 0.95)
    by_key = table.set_index(["scorer", "subset"])
    assert by_key["chance_pct"].to_dict() == {
        (scorer, subset): chance for scorer in ("length", "rm")
        for subset, chance in (("a", 25), ("b", 50), ("all items", 37.5))
    }  # fmt: skip
    assert by_key.loc[("length", "all items"), "accuracy_pct"] == 50  # a baseline's ties are half right
    assert by_key.loc[("rm", "all items"), "accuracy_pct"] == 100
    assert set(table.columns) == set(own.OWN_COLUMNS)
    # Wilson's interval of 1 of 1 begins at 1 / (1 + z^2), with 1.96 and 1.645
    narrow = own.own_table(found, rows, BOTH, 0.9).set_index(["scorer", "subset"])
    found = [of.loc[("rm", "a"), "low"] for of in (by_key, narrow)]
    assert found == pytest.approx([100 / (1 + 1.95996**2), 100 / (1 + 1.64485**2)], abs=1e-3)
    found = together({"length": tied, "rm": tied}, rows)
    half = sheet({"length": "baseline", "rm": "generative"}, half=["rm"])
    judged = own.own_table(found, rows, half, 0.95).set_index(["scorer", "subset"])
    assert judged.loc[("rm", "all items"), ["kind", "accuracy_pct"]].tolist() == ["reward model", 50]


def test_an_own_benchmark_whose_items_share_templates_has_intervals_over_templates():
    """Three items of each of 20 templates, all right or all wrong, say as much as one."""
    names = {"prompt": "p", "chosen": "x", "rejected": "y", "category": None, "truncated_share": 0.0}
    rows = [
        {**names, "id": f"{place}-{kind}", "subset": kind, "template": str(place), "within_noise": False}
        for place in range(20)
        for kind in "abc"
    ]
    right = [1.0 if int(row["template"]) % 2 else 0.0 for row in rows]
    scored = pd.DataFrame(rows).assign(score_chosen=right, score_rejected=0.5)
    table = own.own_table(together({"rm": scored}, rows), rows, BOTH, 0.95).set_index("subset")
    assert table.loc["all items", ["accuracy_pct", "n_items"]].tolist() == [50, 60]
    for subset in ("a", "all items"):  # Wilson's interval of 10 of 20; that of 30 of 60 is 38 to 62
        assert table.loc[subset, ["low", "high"]].tolist() == pytest.approx([29.93, 70.07], abs=0.01)


def test_the_twin_table_has_all_families_and_each_section():
    rows = [{**row, "subset": "v" if row["template"] == "0" else "u"} for row in families(3)]
    found = together({"rm": scores([1, 1, 0, 0, 0, 0], rows)}, rows)
    table = twins.twin_table(found, BOTH, {"safety": ["v"], "chat": ["u"]}, INTERVAL)
    by_section = table.set_index("section")
    assert by_section["n_families"].to_dict() == {"all": 3, "safety": 1, "chat": 2}
    assert by_section["both_right_pct"].to_dict() == {"all": pytest.approx(100 / 3), "safety": 100, "chat": 0}
    assert set(table.columns) == set(twins.TWIN_COLUMNS)


def gate_row(models, length):
    """Return the gate's row from whether models and length are right on independent pairs."""
    rows = independent(len(length))
    tables = {name: scores(right, rows) for name, right in {**models, "length": length}.items()}
    (row,) = gate.gate_table(together(tables, rows), list(models), ["length"], INDEPENDENT, INTERVAL).to_dict(
        "records"
    )
    return row


TEN, NINE = [1, 0] * 10, [0, 1] * 9 + [0, 0]  # right, of 20


@pytest.mark.parametrize(
    ("model", "length", "verdict", "average"),
    [
        ([1] * 19 + [0], [0] * 20, "above", 95),
        ([0] * 20, [1] * 19 + [0], "below", -95),
        ([1] * 20, [1] * 20, "not decided", 0),
        (TEN, NINE, "not decided", 5),
        (NINE, TEN, "not decided", -5),
    ],
)
def test_the_gate_s_verdict_follows_the_interval(model, length, verdict, average):
    row = gate_row({"rm": model}, length)
    assert (row["verdict"], row["avg"]) == (verdict, pytest.approx(average))
    assert (row["avg_low"] < 0 < row["avg_high"]) == (verdict == "not decided")


def test_a_gate_without_variance_is_not_decided():
    row = gate_row({"rm": [1] * 20}, [0] * 20)
    assert (row["avg"], row["verdict"]) == (100, "not decided") and row["avg_low"] > 0


def test_the_gate_takes_the_mean_of_the_models():
    row = gate_row({"m1": [1, 1, 1, 1], "m2": [1, 1, 0, 0]}, [None] * 4)
    assert row["avg"] == pytest.approx(25)  # (100 + 50) / 2 - 50, for a baseline's ties are half right
    assert row["models"] == "m1 m2"


def test_the_gate_compares_the_scorers_that_are_no_baselines_with_those_that_are(tmp_path):
    rows, paths = independent(20), []
    rights = {"gemma_en": [1] * 19 + [0], "gemma_en_seed2": [1] * 17 + [0] * 3, "length": [None] * 20, "tfidf-answer": [0] * 20}  # fmt: skip
    for name, right in rights.items():
        paths.append(tmp_path / f"bench/{name}/en.parquet")
        paths[-1].parent.mkdir(parents=True)
        of_one = together({name: scores(right, rows)}, rows)
        write_scores(of_one, paths[-1], benchmark="bench", scorer=name, language="en")
    kinds = {
        name: "classifier" if "_" in name else "baseline" for name in [*rights, "other_en", "probe-gemma"]
    }
    facts = {"name": "bench", "sections": INDEPENDENT.sections, "weights": {}}
    params = {"benchmark": facts, "interval": vars(INTERVAL), "caption": "c"}
    inputs = {"scores": paths, "sheet": sheet_file(tmp_path, kinds)}
    table = artifact("gate", tmp_path, inputs, params).set_index("baseline")
    assert table["avg"].to_dict() == pytest.approx({"length": 90 - 50, "tfidf-answer": 90})
    assert set(table["models"]) == {"gemma_en gemma_en_seed2"}


def test_models_that_differ_between_trainings_widen_the_gate():
    apart = {"m1": [1, 0] * 10, "m2": [1] * 20}
    mixed = {"m1": [1, 0, 1, 1] * 5, "m2": [1, 1, 1, 0] * 5}
    of_apart, of_mixed = (gate_row(models, [0] * 20) for models in (apart, mixed))
    assert of_apart["avg"] == of_mixed["avg"] == pytest.approx(75)
    widths = [row["avg_high"] - row["avg_low"] for row in (of_apart, of_mixed)]
    assert widths[0] > 2 * widths[1]
