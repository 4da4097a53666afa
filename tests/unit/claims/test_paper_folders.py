"""A paper as a folder: what is wrong in it is named at once, and printed tables test its claims."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml
from pages import write_example_paper
from scipy.stats import norm
from support import ROOT

from polyreward import cli
from polyreward.analysis.verdicts import FAILS, HOLDS, UNDECIDED, UNTESTED
from polyreward.claims.folders import folder_problems, printed_verdicts
from polyreward.claims.table import rule_hash
from polyreward.core.errors import PolyrewardError

M_REWARDBENCH = ROOT / "workflow/papers/m_rewardbench"
FACTS = {
    "name": "made_up",
    "short": "Made up",
    "title": "Made up",
    "sources": {"paper": {"what": "a paper", "read": "all of it"}},
    "tables": {
        "scores": {"where": "Table 1", "source": "paper", "keys": ["model", "kind"], "pairs": 400},
        "parts": {"where": "Table 2", "source": "paper", "keys": ["model"], "pairs": {"easy": 100, "hard": 400}},
        "words": {"where": "Table 3", "source": "paper", "keys": ["language"]},
    },
}  # fmt: skip
SCORES = pd.DataFrame(
    {"model": ["a", "b", "c"], "kind": ["x", "y", "y"], "id": [90.0, 60, 58], "it": [80.0, 50, 52]}
)
PARTS = pd.DataFrame({"model": ["a", "b"], "easy": [90.0, 60], "hard": [50.0, 58]})
WORDS = pd.DataFrame({"language": ["id", "it"], "class": [3, 4]})
LEAD = {"name": "printed_lead", "table": "scores", "of": {"model": "a"}, "minus": {}}


def claim(quantity, side="above", unit="points"):
    return {
        "claim": 1, "where": "Table 1", "written": "known", "says": "It is so.", "quantity": quantity, "measures": "it",
        "unit": unit, "rule": {"side": side, "threshold": 0, "margin": 0}, "null_model": {"by": "symmetry", "beyond": True},
    }  # fmt: skip


@pytest.fixture
def write(tmp_path):
    """Write a folder with these claims, and changes of paper.yaml; return it."""

    def written(claims, locked=True, **facts):
        folder = tmp_path / "made_up"
        (folder / "printed").mkdir(parents=True, exist_ok=True)
        for name, table in {"scores": SCORES, "parts": PARTS, "words": WORDS}.items():
            table.to_csv(folder / f"printed/{name}.csv", index=False)
        lock = (
            {name: {"sha256": rule_hash(one), "why": "new"} for name, one in claims.items()} if locked else {}
        )
        files = {"paper": {**FACTS, **facts}, "claims": claims, "claims.lock": lock}
        for name, data in files.items():
            (folder / f"{name}.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
        return folder

    return written


def verdict(folder):
    return printed_verdicts(folder, 0.95).iloc[0]


def error(*shares, n):
    return [100 * np.sqrt(share * (1 - share) / n) for share in shares]


def test_a_mean_over_cells_of_the_same_pairs_errs_as_if_all_err_alike(write):
    row = verdict(write({"so": claim({"name": "printed_mean", "table": "scores", "where": {"model": "a"}})}))
    expected = np.mean(error(0.9, 0.8, n=400)) * norm.ppf(0.975)
    assert (row["estimate"], row["n"], row["n_of"]) == (85, 400, "pairs")
    assert row["high"] - row["estimate"] == pytest.approx(expected)
    assert row["printed_estimate"] == row["estimate"]


def test_cells_with_pairs_of_their_own_err_independently(write):
    quantity = {"name": "printed_mean", "table": "parts", "where": {"model": "a"}}
    row = verdict(write({"so": claim(quantity)}))
    expected = np.hypot(error(0.9, n=100)[0], error(0.5, n=400)[0]) / 2 * norm.ppf(0.975)
    assert row["n"] == 500 and row["high"] - row["estimate"] == pytest.approx(expected)


def test_a_difference_without_levels_has_the_widest_error(write):
    tables = {**FACTS["tables"], "scores": {**FACTS["tables"]["scores"], "holds": "difference"}}
    quantity = {"name": "printed_mean", "table": "scores", "where": {"model": "a", "column": "it"}}
    row = verdict(write({"so": claim(quantity)}, tables=tables))
    assert row["high"] - row["estimate"] == pytest.approx(100 * np.sqrt(0.5 / 400) * norm.ppf(0.975))


def test_a_lead_is_unpaired_and_of_each_other_row(write):
    row = verdict(write({"so": claim({**LEAD, "each": "model"})}))
    assert (row["verdict"], row["estimate"]) == (HOLDS, 30)  # over c: 85 minus 55; over b it is as large
    one, other = np.mean(error(0.9, 0.8, n=400)), np.mean(error(0.6, 0.5, n=400))
    assert row["low"] == pytest.approx(30 - np.hypot(one, other) * norm.ppf(0.975), abs=0.02)
    assert row["test"].endswith("the least of 2, by intersection-union")


@pytest.mark.parametrize(("quantity", "estimate", "expected"), [
    (LEAD, 30, HOLDS),
    ({**LEAD, "of": {"kind": "y"}, "minus": {"kind": "x"}}, -30, FAILS),
    ({**LEAD, "of": {"model": "b"}, "minus": {"model": "c"}}, 0, UNDECIDED),
    # column by column: b leads c by 2 points in `id`, and c leads b in `it`
    ({**LEAD, "of": {"model": "b"}, "minus": {"model": "c"}, "each": "column"}, -2, UNDECIDED),
    ({**LEAD, "table": "parts", "of": {"column": "easy"}, "minus": {"column": "hard"}}, 21, HOLDS),
    ({**LEAD, "table": "parts", "of": {"column": "easy"}, "minus": {"column": "hard"}, "each": "model"}, 2, UNDECIDED),
])  # fmt: skip
def test_verdicts_on_known_leads(write, quantity, estimate, expected):
    row = verdict(write({"so": claim(quantity)}))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(estimate), expected)


def test_a_correlation_is_over_the_values_that_both_tables_have():
    row = printed_verdicts(M_REWARDBENCH, 0.95).set_index("claim").loc["high_resource_languages_are_easier"]
    table, facts = (pd.read_csv(M_REWARDBENCH / f"printed/{name}.csv") for name in ("table2", "table6"))
    means = table[facts["language"]].mean().to_numpy()
    assert row["estimate"] == pytest.approx(np.corrcoef(means, facts["resource_class"])[0, 1])
    assert (row["n"], row["n_of"]) == (22, "values of language")


def test_a_claim_of_a_run_is_not_tested_without_one():
    rows = printed_verdicts(ROOT / "workflow/papers/transfer", 0.95).set_index("claim")
    assert set(rows["verdict"]) == {UNTESTED}
    row = rows.loc["english_beats_target_everywhere"]
    assert row["note"] == "Cannot be tested here: it takes the scores of a run."
    assert row["printed_estimate"] == pytest.approx(2.6)


@pytest.mark.parametrize(("changed", "named"), [
    ({"name": "printed_leed"}, "claims.yaml:8: so.quantity.name: `printed_leed` is unknown"),
    ({**LEAD, "off": {}}, "so.quantity.off: unknown key; did you mean `of`?"),
    ({**LEAD, "minus": None}, "so.quantity.minus: "),
    ({**LEAD, "table": "score"}, "so: cannot be tested: printed/score.csv is not there"),
    ({**LEAD, "of": {"model": "z"}}, "so: cannot be tested: printed/scores.csv has no `model` z"),
    ({**LEAD, "of": {"modle": "a"}}, "so: cannot be tested: printed/scores.csv has no column `modle`"),
    ({**LEAD, "minus": {"model": "a"}}, "`minus` chooses no cells but those of `of`"),
    ({**LEAD, "table": "words", "of": {"language": "id"}}, "paper.yaml has no `pairs` of table words"),
])  # fmt: skip
def test_a_wrong_quantity_is_named(write, changed, named):
    (problem,) = folder_problems(write({"so": claim(changed)}))
    assert named in problem


def test_all_that_is_missing_or_wrong_is_named_at_once(write, capsys):
    entry = {**claim({**LEAD}, unit="share"), "null_model": {"by": "length", "beyond": True}}
    facts = {"tables": {
        "scores": {**FACTS["tables"]["scores"], "source": "papre", "averages": {"avg": ["id", "it"]}},
        "parts": {**FACTS["tables"]["parts"], "pairs": {"easy": 100}, "keys": ["model"]},
        "gone": {"where": "Table 9", "source": "paper", "keys": ["model"]},
    }}  # fmt: skip
    folder = write({"so": entry}, locked=False, name="other", **facts)
    (folder / "claims.lock.yaml").write_text("old: {sha256: '0123456789ab', why: new}\n", encoding="utf-8")
    pd.concat([PARTS, PARTS]).to_csv(folder / "printed/parts.csv", index=False)
    assert cli.main(["claims", "check", str(folder)]) == 1
    said = capsys.readouterr().err
    for named in (
        "`other` is not the folder's name", "printed/words.csv: it has no source",
        "source `papre` is not among `sources`", "scores.csv: no column `avg`", "no count for `hard`",
        "parts.csv: two rows of a; keep one", "printed/gone.csv: no such file",
        "so.unit: printed_lead is in `points`, not `share`", "so.null_model.by: printed_lead has no null but `symmetry`",
        "so is missing; add `so: {sha256:", "old is no claim of claims.yaml",
    ):  # fmt: skip
        assert named in said
    assert "11 problems" in said


def test_what_checks_and_accuracies_name_has_to_be_there(write):
    tables = {name: dict(entry) for name, entry in FACTS["tables"].items()}
    tables["scores"]["accuracies"] = {"benchmark": "b", "model": "modell"}
    rank = {"table": "score", "called": "it", "column": "id", "items": 5, "note": "n"}
    folder = write({}, tables=tables, checks={"rank": rank, "average": {"tables": ["words"]}})
    said = "\n".join(folder_problems(folder))
    assert "checks: no `score` among `tables`" in said and "average: `words` has no `averages`" in said
    assert "scores.csv: no column `modell`" in said
    folder = write({}, checks={"rank": rank | {"table": "scores", "column": "idd"}})
    (problem,) = folder_problems(folder)
    lines = (folder / "paper.yaml").read_text(encoding="utf-8").splitlines()
    line = 1 + next(number for number, text in enumerate(lines) if text.startswith("checks:"))
    assert (
        f"scores.csv: no column `idd`, which {folder}/paper.yaml:{line} asks for; correct either" in problem
    )


def test_a_rule_without_a_threshold_and_a_folder_without_files_are_named(write, tmp_path):
    entry = claim(LEAD)
    folder = write({"so": entry})
    del entry["rule"]["threshold"]
    (folder / "claims.yaml").write_text(yaml.safe_dump({"so": entry}), encoding="utf-8")
    (problem,) = folder_problems(folder)
    assert "claims.yaml:" in problem and "so.rule.threshold: Field required" in problem
    (tmp_path / "empty").mkdir()
    said = folder_problems(tmp_path / "empty")
    assert [f"empty/{name}: no such file" in one for name, one in zip(
        ("paper.yaml", "claims.yaml", "claims.lock.yaml"), said, strict=True
    )] == [True] * 3  # fmt: skip


def test_a_printed_text_is_named_with_its_line(write):
    folder = write({"so": claim(LEAD)})
    PARTS.astype({"easy": object}).assign(easy=["1.0", *["x"] * (len(PARTS) - 1)]).to_csv(
        folder / "printed/parts.csv", index=False
    )
    (problem,) = folder_problems(folder)
    assert "printed/parts.csv:3: `easy` is `x`, no number" in problem


def test_a_rule_that_changed_is_named_with_its_new_hash(write):
    changed = claim(LEAD, side="below")
    folder = write({"so": claim(LEAD)})
    (folder / "claims.yaml").write_text(yaml.safe_dump({"so": changed}), encoding="utf-8")
    (problem,) = folder_problems(folder)
    assert f"so: its rule now has the hash {rule_hash(changed)}, not {rule_hash(claim(LEAD))}" in problem


def test_a_copy_of_the_third_paper_is_tested_anywhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(M_REWARDBENCH, "m_rewardbench")
    assert cli.main(["claims", "check", "m_rewardbench"]) == 0
    assert "11 claims, 5 printed tables; nothing is missing" in capsys.readouterr().out
    assert cli.main(["claims", "verdicts", "m_rewardbench", "--out", "verdicts.csv"]) == 0
    shown = capsys.readouterr().out
    assert "| M-RewardBench 4 easy translations are easier " in shown and "| holds " in shown
    in_docs = ROOT / "docs/data/m_rewardbench/verdicts.csv"
    assert (tmp_path / "verdicts.csv").read_bytes() == in_docs.read_bytes()  # renew it as its page says


def test_an_average_that_its_parts_do_not_give_is_a_note(write, capsys):
    tables = {**FACTS["tables"], "scores": {**FACTS["tables"]["scores"], "averages": {"it": ["id"]}}}
    assert cli.main(["claims", "check", str(write({"so": claim(LEAD)}, tables=tables))]) == 0
    assert "note: scores: it of a is 10.00 from the mean of its parts" in capsys.readouterr().out


def test_a_wrong_use_of_the_command_says_what_it_takes(capsys):
    assert cli.main(["claims", "check"]) == 2
    assert "`check` takes a paper's folder" in capsys.readouterr().err
    assert cli.main(["claims", "quantities"]) == 0
    assert (
        "printed_lead: points; from printed tables; options: table of minus each" in capsys.readouterr().out
    )


def test_claims_with_a_wrong_quantity_end_the_table_with_all_of_them(write):
    folder = write({"so": claim({"name": "printed_leed"}), "or_so": claim({**LEAD, "off": {}})})
    with pytest.raises(PolyrewardError, match="2 problems"):
        printed_verdicts(folder, 0.95)


def test_the_folder_of_the_page_is_as_it_says(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs/howto/paper.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    write_example_paper(tmp_path / "example")
    assert cli.main(["claims", "check", "example"]) == 1
    lines = re.findall(r"add `(.*)`", capsys.readouterr().err)
    assert len(lines) == 2
    (tmp_path / "example/claims.lock.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert cli.main(["claims", "check", "example"]) == 0
    capsys.readouterr()
    assert cli.main(["claims", "verdicts", "example"]) == 0
    assert capsys.readouterr().out in page
