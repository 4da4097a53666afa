"""The transfer matrix: known answers by hand and by statsmodels, what is refused, and a model's run from end to end."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from hub_layout import cache, write_files  # noqa: F401 - cache is a fixture
from published_repositories import DATASETS, dataset_files
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from support import ROOT
from tiny_models import ROWS

from polyreward import cli
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.tables import read_csv
from polyreward.core.yaml_files import read_yaml
from polyreward.evaluation import matrix_run, score
from polyreward.evaluation.matrix import (
    LENGTH,
    MODEL,
    own_sections,
    printed_models,
    printed_on,
    same_items,
    transfer_matrix,
)
from polyreward.evaluation.matrix_run import find_pairs, hub_files
from polyreward.evaluation.matrix_shown import FILES, draw_matrix, printed_table, summary
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.pairs import score_rows
from polyreward.sheet.papers import Paper, read_papers
from polyreward.sources import hub_data

QUICK = Interval(samples=400, confidence=0.95, seed=1)
ALL = Benchmark("pairs", {"all items": ["all"]}, {})


def rows_of(*templates, prompt="q", subset="all", **more):
    """Rows with ids i0, i1, ..."""
    return [
        {
            "id": f"i{n}",
            "subset": subset,
            "category": None,
            "template": template,
            "prompt": f"{prompt}{n}",
            **more,
        }
        for n, template in enumerate(templates)
    ]


def scores_of(rows, right):
    """Scores of which so many are right; None is a tie."""
    chosen = [0.0 if one is None else float(one) * 2 - 1 for one in right]
    table = pd.DataFrame(rows)[["id", "subset", "template"]]
    return table.assign(score_chosen=chosen, score_rejected=0.0)


def matrix_of(rows, right, benchmark=ALL, **how):
    """The matrix of {(scorer, kind, language): how right it is on each row}."""
    scores = {key: scores_of(rows[key[2]], found) for key, found in right.items()}
    return transfer_matrix("rm", scores, rows, benchmark, interval=QUICK, **how)


def one(table, **values):
    """The only row with these values."""
    for name, value in values.items():
        table = table[table[name] == value]
    assert len(table) == 1, values
    return table.iloc[0]


# --- known answers


@pytest.fixture(scope="module")
def three():
    """60 items in English, Spanish and Korean: how right a model and length are."""
    generator = np.random.default_rng(3)
    rows = {
        language: rows_of(*(f"t{n}" for n in range(60)), prompt=language) for language in ("en", "es", "ko")
    }
    right = {
        ("rm", MODEL, name): generator.random(60) < p for name, p in (("en", 0.9), ("es", 0.7), ("ko", 0.5))
    }
    right |= {("length", LENGTH, name): [None, *[True] * 29, *[False] * 30] for name in rows}
    return rows, right, matrix_of(rows, right)


def test_accuracies_and_losses_are_those_of_the_paired_items(three):
    rows, right, found = three
    english = np.mean(right["rm", MODEL, "en"])
    for language in ("es", "ko"):
        row = one(found.table, scorer="rm", language=language)
        mean = np.mean(right["rm", MODEL, language])
        assert row["accuracy_pct"] == pytest.approx(100 * mean)
        assert row["loss_points"] == pytest.approx(100 * (english - mean))
        assert row["low"] < row["accuracy_pct"] < row["high"]
        both = pd.concat(
            scores_of(rows["en"], right["rm", MODEL, name]).assign(
                scorer=name, benchmark="pairs", language="all languages"
            )
            for name in ("en", language)
        )
        alone = Comparison(both, ALL, QUICK).contrast({"en": 1.0, language: -1.0})
        assert row["loss_low"] == pytest.approx(alone["avg_low"])
        assert row["loss_high"] == pytest.approx(alone["avg_high"])
    assert one(found.table, scorer="rm", language="en")[["loss_points", "p"]].isna().all()


def test_p_is_mcnemar_s_corrected_over_the_languages(three):
    _, right, found = three
    english, ps = right["rm", MODEL, "en"], []
    for language in ("es", "ko"):
        own = right["rm", MODEL, language]
        table = [
            [sum(a & b for a, b in zip(one_, two, strict=True)) for two in (own, ~own)]
            for one_ in (english, ~english)
        ]
        ps.append(mcnemar(table, exact=True).pvalue)
    rows = [one(found.table, scorer="rm", language=name) for name in ("es", "ko")]
    assert [row["p"] for row in rows] == pytest.approx(ps)
    assert [row["p_holm"] for row in rows] == pytest.approx(multipletests(ps, method="holm")[1])


def test_a_tie_is_half_right_for_length_and_wrong_for_a_model(three):
    rows, right, found = three
    assert one(found.table, scorer="length", language="es")["accuracy_pct"] == pytest.approx(100 * 29.5 / 60)
    tied = matrix_of(rows, {("rm", MODEL, name): right["length", LENGTH, name] for name in rows})
    assert one(tied.table, language="es")["accuracy_pct"] == pytest.approx(100 * 29 / 60)
    judged = matrix_of(
        rows, {("rm", MODEL, name): right["length", LENGTH, name] for name in rows}, half_credit=["rm"]
    )
    assert one(judged.table, language="es")["accuracy_pct"] == pytest.approx(100 * 29.5 / 60)


def test_items_of_one_template_or_one_english_prompt_are_a_cluster_in_all_languages():
    rows = {name: rows_of(*[f"t{n // 2}" for n in range(20)], prompt=name) for name in ("en", "es")}
    right = {("rm", MODEL, name): [n % 4 > 0 for n in range(20)] for name in rows}
    assert set(matrix_of(rows, right).table["n_clusters"]) == {10}
    bare = {name: rows_of(*[None] * 20) for name in ("en", "es")}
    for n, row in enumerate(bare["en"]):
        row["prompt"] = f"same {n // 4}"
    assert set(matrix_of(bare, right).table["n_clusters"]) == {5}


def test_the_average_is_the_mean_of_sections_with_the_benchmarks_weights():
    rows = {name: rows_of(*[f"t{n}" for n in range(12)]) for name in ("en", "es")}
    for own in rows.values():
        for n, row in enumerate(own):
            row["subset"] = "u" if n < 6 else "v" if n < 8 else "w"
    benchmark = Benchmark("b", {"chat": ["u", "v"], "safety": ["w"]}, {"v": 6})
    right = {("rm", MODEL, "en"): [1] * 12, ("rm", MODEL, "es"): [1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0]}
    found = matrix_of(rows, right, benchmark)
    chat = 100 * (6 * 4 / 6 + 6 * 1 / 2) / 12
    assert one(found.table, language="es", section="chat")["accuracy_pct"] == pytest.approx(chat)
    assert one(found.table, language="es", section="avg")["accuracy_pct"] == pytest.approx((chat + 50) / 2)
    assert one(found.table, language="es", section="avg")["loss_points"] == pytest.approx(
        100 - (chat + 50) / 2
    )
    assert found.sections == ["chat", "safety"] and found.score == "mean of sections"


def test_own_sections_are_categories_where_each_subset_has_one():
    rows = [
        {"subset": "a", "category": "x"},
        {"subset": "b", "category": "y"},
        {"subset": "c", "category": "x"},
    ]
    assert own_sections(rows).sections == {"x": ["a", "c"], "y": ["b"]}
    assert own_sections([*rows, {"subset": "a", "category": "y"}]).sections == {"all items": ["a", "b", "c"]}
    assert own_sections([*rows, {"subset": "d"}]).sections == {"all items": ["a", "b", "c", "d"]}


def test_a_single_cluster_has_no_interval_and_says_so():
    rows = {name: rows_of(*["t"] * 8) for name in ("en", "es")}
    found = matrix_of(rows, {("rm", MODEL, name): [True] * 6 + [False] * 2 for name in rows})
    assert found.table[["low", "high"]].isna().all().all()
    assert found.table["accuracy_pct"].tolist() == [75.0, 75.0]
    assert "Without an interval: a subset or all items are of one cluster" in summary(found)
    draw_matrix(found)


def test_printed_models_are_as_printed_with_their_losses():
    found = printed_models(["en", "es", "ko"], read_papers(ROOT).values())
    average = found[found["section"] == "avg"]
    row = one(average, model="ArmoRM-Llama3-8B-v0.1", language="es")
    assert (row["accuracy_pct"], row["loss_points"]) == (80.1, 10.3)
    trained = one(average, model="Llama-3.2-3B-Instruct", trained_in="en", language="en")
    assert trained["accuracy_pct"] == 90.0 and pd.isna(trained["loss_points"])
    assert one(average, model="gpt-4o", language="ko")["loss_points"] == pytest.approx(86.7 - 75.2)
    assert one(average, model="RM-R1-Qwen2.5-Instruct-7B", language="all")["accuracy_pct"] == 79.2
    assert set(found["language"]) == {"en", "es", "ko", "all"}
    chat = one(found, model="Llama-3.2-3B-Instruct", trained_in="es", language="en", section="chat")
    assert chat["accuracy_pct"] == 82.1


def test_a_third_papers_models_are_shown_by_its_folder(tmp_path):
    facts = read_yaml(ROOT / "workflow/papers/m_rewardbench/paper.yaml")
    facts["tables"]["table2"]["accuracies"] = {"benchmark": "M-RewardBench", "model": "reward_model"}
    paper = Paper(ROOT / "workflow/papers/m_rewardbench", facts, {})
    found = printed_models(["en", "es"], [paper])
    assert printed_on([paper]) == {"arXiv 2410.15522": "M-RewardBench"}
    row = one(found, model="GPT-4 Turbo", language="es")
    assert row["accuracy_pct"] == 84.7 and pd.isna(row["loss_points"])  # no English in its table
    assert set(found["paper"]) == {"arXiv 2410.15522"} and len(found) == 10


# --- what is refused


def test_items_that_differ_are_named_with_their_number_or_left_out():
    rows = {"en": rows_of(*"abcdef"), "es": rows_of(*"abcd"), "ko": rows_of(*"abcdef")}
    rows["ko"][5] = {**rows["ko"][5], "id": "other"}
    with pytest.raises(PolyrewardError) as refused:
        same_items(rows, shared=False)
    said = str(refused.value)
    assert "es: its items are not those of English: it lacks 2 (such as i4, i5)" in said
    assert (
        "ko: its items are not those of English: it lacks 1 (such as i5) and adds 1 (such as other)" in said
    )
    assert "--shared" in said
    assert same_items(rows, shared=True) == {"i0", "i1", "i2", "i3"}
    right = {("rm", MODEL, name): [True] * len(own) for name, own in rows.items()}
    found = matrix_of(rows, right, shared=True)
    assert set(found.table["n_items"]) == {4} and found.left_out == 3
    assert "Items left out, since a language lacks them: 3." in summary(found)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"es": rows_of("a")}, "no pairs in English, only in es"),
        ({"en": rows_of("a"), "es": rows_of("a", subset="b")}, "1 items are in other subsets .* `b` and `all`"),
        ({"en": rows_of("a"), "es": [{**rows_of("a")[0], "id": "x"}]}, "lacks 1 .* adds 1"),
    ],
)  # fmt: skip
def test_languages_that_cannot_be_paired_are_refused(rows, said):
    with pytest.raises(PolyrewardError, match=said):
        same_items(rows, shared=False)
    with pytest.raises(PolyrewardError, match="English|subsets|no item is in all of en, es"):
        same_items(rows, shared=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder `pairs` with the same rows in English, Spanish and Korean, made the working one's."""
    monkeypatch.chdir(tmp_path)
    for language, word in {"en": "", "es": "Hola. ", "ko": "안녕. "}.items():
        write_jsonl(
            [{**row, "prompt": word + row["prompt"]} for row in ROWS], tmp_path / f"pairs/{language}.jsonl"
        )
    return tmp_path


@pytest.mark.parametrize(
    ("pairs", "languages", "said"),
    [
        (["pairs"], ["ja"], "--languages: `ja` is unknown; --pairs has en, es, ko"),
        (
            ["pairs", "es=pairs/es.jsonl"],
            [],
            "`es` is given as pairs/es.jsonl and as pairs/es.jsonl; name one",
        ),
        (["en=pairs/en.jsonl", "train=pairs/es.jsonl"], [], r"`train` \(pairs/es.jsonl\) is no ISO 639 code"),
        (["nowhere"], [], "--pairs nowhere: no folder with files such as en.jsonl"),
    ],
)
def test_wrong_names_are_refused_before_anything_is_read(folder, pairs, languages, said):
    with pytest.raises(PolyrewardError, match=said):
        find_pairs(pairs, None, languages, folder / "out")


def test_pairs_are_found_in_folders_and_by_name_with_english_first(folder):
    found, named = find_pairs(["pairs"], None, ["ko"], folder / "out")
    assert list(found) == ["en", "ko"] and named is None
    found, _ = find_pairs(["ko=pairs/ko.jsonl", "en=pairs/en.jsonl"], None, [], folder / "out")
    assert list(found) == ["en", "ko"]
    of_mini = folder / matrix_run.OF_MINI
    shutil.copytree("pairs", of_mini)
    found, named = find_pairs([], None, [], folder / "out")
    assert named == "mini-rewardbench" and found["es"].resolve() == of_mini / "es.jsonl"


def test_m_rewardbench_is_fetched_in_the_languages_asked_for(tmp_path, monkeypatch):
    entry = DATASETS["multilingual-rewardbench"]
    there = write_files(tmp_path / "hub", dataset_files("multilingual-rewardbench", entry))
    monkeypatch.setattr(hub_data, "fetched", lambda *asked: there)
    files = hub_files("multilingual-rewardbench", ["en", "es"], tmp_path / "pairs")
    assert list(files) == ["en", "es"]
    english, spanish = (read_jsonl(path) for path in files.values())
    assert [row["id"] for row in english] == [row["id"] for row in spanish]
    assert any(one["prompt"] != other["prompt"] for one, other in zip(english, spanish, strict=True))
    assert not any("translations" in row for row in (*english, *spanish))
    with pytest.raises(PolyrewardError, match="--languages: `sw` is unknown; multilingual-rewardbench has"):
        hub_files("multilingual-rewardbench", ["en", "sw"], tmp_path)
    with pytest.raises(PolyrewardError, match="--benchmark: `rewardbench` is unknown"):
        hub_files("rewardbench", ["en"], tmp_path)


def test_one_programming_problem_in_two_languages_of_code_is_one_template(tmp_path, monkeypatch):
    rows = [
        {"id": subset, "subset": subset, "prompt": f"Write `{name}(a, b)`", "chosen": "a", "rejected": "b",
         "translations": {"es": {"prompt": "Escribe", "chosen": "a", "rejected": "b"}}}
        for subset, name in (("hep-python", "add_up"), ("hep-java", "addUp"), ("math-prm", "add_up"))
    ]  # fmt: skip
    monkeypatch.setattr(hub_data, "hub_rows", lambda entry, name: rows)
    for path in hub_files("multilingual-rewardbench", ["en", "es"], tmp_path).values():
        assert [row.get("template") for row in read_jsonl(path)] == ["problem-addup", "problem-addup", None]


# --- from end to end


def run(model, *more):
    files = ["matrix", "--model", str(model), "--pairs", "pairs", "--out", "out"]
    return cli.main([*files, "--max-length", "128", "--token-budget", "200", *map(str, more)])


def test_a_models_matrix_is_printed_written_and_kept(folder, trained, tiny_gemma, capsys, monkeypatch):
    model = trained["tiny-gemma"]
    assert run(model, "--base", tiny_gemma) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        f"{model.name} in 3 languages, on 6 items in 6 clusters. Accuracy: all items, in %."
    )
    assert "arXiv 2410.18027" in said and "Spanish" in said
    assert {path.name for path in (folder / "out").iterdir()} == {*FILES, "scores"}
    table = read_csv(folder / "out/matrix.csv")
    assert list(dict.fromkeys(table["kind"])) == [MODEL, LENGTH, "pmi"]
    rows = read_jsonl("pairs/ko.jsonl")
    scoring = {"dtype": "float32", "max_length": 128, "token_budget": 200, "attention": "sdpa"}
    for kind, entry in (
        (MODEL, {"kind": "classifier", "source": str(model), "revision": None}),
        ("pmi", {"kind": "implicit", "source": str(tiny_gemma), "revision": None, "pmi": True}),
    ):
        scores = score_rows(load_reward_model(entry, scoring, cache=None), rows, "")
        right = 100 * (scores["score_chosen"] > scores["score_rejected"]).mean()
        assert one(table, kind=kind, language="ko")["accuracy_pct"] == pytest.approx(right, abs=0.01)
    page = (folder / "out/matrix.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page and "://" not in page and str(folder) not in page
    before = {name: (folder / "out" / name).read_bytes() for name in FILES}
    monkeypatch.setattr(score, "load_reward_model", None)  # would fail if anything were scored again
    assert run(model, "--base", tiny_gemma) == 0
    assert {name: (folder / "out" / name).read_bytes() for name in FILES} == before
    capsys.readouterr()
    assert run(model, "--base", tiny_gemma, "--languages", "es") == 0
    assert "in 2 languages" in capsys.readouterr().out


def test_nothing_is_written_where_items_differ(folder, trained, capsys):
    write_jsonl(ROWS[:4], folder / "pairs/es.jsonl")
    assert run(trained["tiny-gemma"]) == 1
    assert "es: its items are not those of English: it lacks 2 (such as r4, r5)" in capsys.readouterr().err
    assert not any((folder / "out").rglob("*.*"))


def test_pairs_and_benchmark_exclude_each_other(folder, capsys):
    assert run("m", "--benchmark", "multilingual-rewardbench") == 2
    assert "keep one" in capsys.readouterr().err


def test_the_table_of_printed_models_has_a_row_for_each(three):
    table = printed_table(three[2])
    assert len(table) == len(table[["model", "trained in"]].drop_duplicates())
    assert table.columns[:3].tolist() == ["paper", "model", "trained in"]
    assert json.dumps(table.loc[table["model"] == "gpt-4o", "Spanish (lost)"].tolist()) == '["80.4 (+6.3)"]'
