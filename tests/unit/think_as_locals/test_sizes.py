"""Judges of several bases in one table, and those that were trained elsewhere: known answers, and what is
refused."""

import pandas as pd
import pytest
from support import ROOT, script

from polyreward.carb.inputs import Carb
from polyreward.config.model_files import ModelFiles
from polyreward.config.scale import read_scale
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import read_table, write_table
from polyreward.think_as_locals.comparison import COLUMNS as OF_ONE
from polyreward.think_as_locals.comparison import MEASURES, WHOLE
from polyreward.think_as_locals.inputs import OURS, ThinkAsLocals

locals_sizes = script("artifacts/carb_locals_sizes")


PAPER = "workflow/scales/paper.yaml"
RM_R1 = "RM-R1-Qwen2.5-Instruct-7B"


def row(judge, value, half, **changes):
    """Return a judge's row: the same value of all measures, with an interval of two halves."""
    ends = {
        f"{measure}{end}": value + shift
        for measure in MEASURES
        for end, shift in (("", 0), ("_low", -half), ("_high", half))
    }
    sizes = {"n_pairs": 22, "n_languages": 5, "n_items": 48, "n_cultures": 3, "n_replies": 0}
    return {"judge": judge, **ends, **sizes, **changes}


def comparison(base, full, *more, **changes):
    """Return the table of one scale, of a base and its trained judge."""
    rows = [row("base", base, 4), row("no-criteria", 1, 1), row("full", full, 3, n_replies=9, in_form_pct=90.0), *more,
            row("full - base", full - base, 2), row("full - no-criteria", full - 1, 2)]  # fmt: skip
    return pd.DataFrame([{**one, **changes} for one in rows], columns=OF_ONE).astype(
        dict.fromkeys(WHOLE, "Int64")
    )


@pytest.fixture
def tables(tmp_path):
    """Files of three scales, as their artifacts are written; the first has a judge from elsewhere."""
    made = {
        "7b": comparison(60, 70, row(RM_R1, 65, 5)),
        "14b": comparison(62, 74),
        "32b": comparison(71, 80, row(RM_R1, 1, 1)),
    }
    for name, table in made.items():
        write_table(table, tmp_path / f"{name}.csv", OF_ONE)
    return {name: str(tmp_path / f"{name}.csv") for name in made}


def test_the_rows_of_all_bases_stand_together_with_their_differences(tables):
    table = locals_sizes.sizes_table(locals_sizes.read_tables(tables), OURS)
    assert list(table.columns) == locals_sizes.COLUMNS
    assert list(table[["base", "judge"]].itertuples(index=False, name=None)) == [
        *((base, judge) for base in ("7b", "14b", "32b") for judge in ("base", "full", "full - base")),
        (RM_R1, RM_R1),  # once, as the first table has it
    ]
    of = table.set_index(["base", "judge"])
    assert of["mean"].tolist() == [60, 70, 10, 62, 74, 12, 71, 80, 9, 65]
    assert of.loc[
        ("14b", "full - base"), ["rewardbench", "rewardbench_low", "rewardbench_high"]
    ].tolist() == [12, 10, 14]
    assert of.loc[("14b", "full - base"), ["carb_low", "carb_high", "mean_low", "mean_high"]].tolist() == [
        10,
        14,
        10,
        14,
    ]
    assert set(table["n_pairs"]) == {22} and table["n_replies"].tolist() == [0, 9, 0] * 3 + [0]


def test_it_is_written_and_laid_out_as_the_paper_has_it(tables, tmp_path):
    table = locals_sizes.sizes_table(locals_sizes.read_tables(tables), OURS)
    write_table(table, tmp_path / "sizes.csv", locals_sizes.COLUMNS)
    assert (read_table(tmp_path / "sizes.csv", locals_sizes.COLUMNS)["base"] == table["base"]).all()
    shown = locals_sizes.display(table, {"base": "base, verdict at once", "full": "Think-as-Locals"}, "95%")
    assert shown["base"].tolist() == [base for base in ("7b", "14b", "32b") for _ in range(3)] + [""]
    assert shown["judge"].tolist()[:3] == [
        "base, verdict at once",
        "Think-as-Locals",
        "Think-as-Locals - base, verdict at once",
    ]
    assert shown["judge"].tolist()[-1] == RM_R1
    assert shown["CARB [95%]"].tolist()[:3] == [
        "60.0 [56.0, 64.0]",
        "70.0 [67.0, 73.0]",
        "+10.0 [+8.0, +12.0]",
    ]
    assert shown["replies in form, %"].tolist()[:3] == ["", "90", ""]


def test_without_others_it_is_of_this_scale_s_base_alone(tables):
    table = locals_sizes.sizes_table(locals_sizes.read_tables({"14b": tables["14b"]}), OURS)
    assert table["judge"].tolist() == ["base", "full", "full - base"] and set(table["base"]) == {"14b"}


def test_a_judge_that_could_not_be_had_is_an_empty_row(tables, tmp_path):
    gone = {"judge": RM_R1, "missing": "the hub knows no such repository"}
    write_table(pd.concat([comparison(60, 70), pd.DataFrame([gone])]), tmp_path / "7b.csv", OF_ONE)
    table = locals_sizes.sizes_table(locals_sizes.read_tables({"7b": tables["7b"]}), OURS)
    assert table["missing"].tolist()[-1] == gone["missing"] and table["n_pairs"].isna().tolist() == [
        False
    ] * 3 + [True]
    shown = locals_sizes.display(table, {"base": "base", "full": "trained"}, "95%")
    assert shown.loc[3, ["CARB [95%]", "pairs x languages", "items"]].tolist() == ["missing", "", ""]


def test_every_table_that_cannot_stand_beside_ours_is_named_with_the_command_that_makes_it(tables, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    rowless = comparison(1, 2)
    write_table(rowless[rowless["judge"] != "full - base"], tmp_path / "rowless.csv", OF_ONE)
    write_table(comparison(60, 70, n_pairs=99, n_items=12), tmp_path / "larger.csv", OF_ONE)
    others = {"gone": tmp_path / "gone/carb_think_as_locals.csv", "other": other, "rowless": tmp_path / "rowless.csv",
              "larger": tmp_path / "larger.csv"}  # fmt: skip
    with pytest.raises(PolyrewardError) as caught:
        locals_sizes.read_tables({**others, "32b": tables["32b"]})
    head, gone, columns, rows, sizes = str(caught.value).splitlines()
    assert head == "think_as_locals.beside: 4 problems"
    assert (
        gone == f"  - gone: {others['gone']}: no such file; make it with `snakemake --cores all"
        f" {others['gone']} --configfile ...`, with the configuration files whose `results` is"
        f" {tmp_path / 'gone'}"
    )
    assert columns.startswith(f"  - other: {other}: 1 rows, missing columns ['carb', ")
    assert f"snakemake --cores all {other}" in columns
    assert rows.startswith(
        f"  - rowless: {others['rowless']}: has no row full - base; make it with `snakemake"
    )
    assert sizes.startswith(
        f"  - larger: {others['larger']}: is about 99 pairs, not the 22, 12 items, not the 48 of"
        f" {tables['32b']};"
    )
    assert f"then make it with `snakemake --cores all {others['larger']}" in sizes


def locals_of(*overlays) -> ThinkAsLocals:
    """Return Think-as-Locals of a scale."""
    scale = read_scale(list(overlays), ROOT)
    return ThinkAsLocals(Carb(scale, ModelFiles(scale)))


def test_scale_paper_scores_rm_r1_beside_its_own_judges_and_the_last_base_has_all_three():
    paper = locals_of(PAPER)
    assert list(paper.others) == [RM_R1] and paper.compared[-1] == paper.name(RM_R1) == RM_R1
    assert paper.judges[RM_R1]["hub"] == "gaotang/RM-R1-Qwen2.5-Instruct-7B"
    assert (
        paper.model_of(RM_R1)["parameters_b"] == 7.62
        and paper.model_of("full")["model"] == "qwen2.5-7b-instruct"
    )
    assert (
        paper.comparison(paper.compared)["half_ties"] == [RM_R1]
        and paper.comparison(paper.writing)["half_ties"] == []
    )
    loaded = paper.carb.models.loadable(paper.judges[RM_R1])
    assert RM_R1 in loaded["source"] and loaded["question"]["verdicts"] == ["A", "B"]
    assert (
        paper.tables == {"qwen2.5-7b-instruct": "results/paper/carb_think_as_locals.csv"}
        and paper.tables_there == []
    )
    last = locals_of(PAPER, "workflow/scales/paper_locals_32b.yaml")
    assert last.tables == {
        "qwen2.5-7b-instruct": "results/paper/carb_think_as_locals.csv",
        "qwen2.5-14b-instruct": "results/paper_locals_14b/carb_think_as_locals.csv",
        "qwen2.5-32b-instruct": "results/paper_locals_32b/carb_think_as_locals.csv",
    }
    assert last.others == {}  # scale paper has them


def test_a_table_beside_ours_is_an_input_once_it_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    last = locals_of(PAPER, "workflow/scales/paper_locals_32b.yaml")
    there = tmp_path / "results/paper/carb_think_as_locals.csv"
    there.parent.mkdir(parents=True)
    there.touch()
    assert last.tables_there == ["results/paper/carb_think_as_locals.csv"]
