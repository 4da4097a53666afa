"""The anchor: published reward models' numbers here next to printed ones, that are met and that are not."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from made_up_sheet import sheet_file
from support import script
from tiny_models import ROOT

from polyreward.core.tables import write_scores
from polyreward.core.yaml_files import read_yaml

anchor = script("artifacts/anchor")
CATALOG = read_yaml(ROOT / "workflow/catalog/benchmarks.yaml")
FACTS = [
    {"name": name, "sections": CATALOG[name]["sections"], "weights": CATALOG[name]["weights"]}
    for name in ("rewardbench", "multilingual-rewardbench")
]
LLAMA, OFFSET = "Llama3.2-3B-MP-RM", "Llama-3-OffsetBias-RM-8B"
PRINTED = pd.read_csv(ROOT / "workflow/papers/transfer/printed/tables3to7.csv")
TABLE2 = pd.read_csv(ROOT / "workflow/papers/transfer/printed/table2.csv")


def scored(folder, name, benchmark, language, seed):
    """Write made-up scores of eight pairs of each subset, most of them right, one a tie; return the file."""
    generator, rows = np.random.default_rng(seed), []
    for members in CATALOG[benchmark]["sections"].values():
        for subset in members:
            for number in range(8):
                margin = generator.normal(1.0) if number else 0.0
                rows.append({"id": f"{subset}-{number}", "subset": subset, "score_chosen": margin, "score_rejected": 0.0})  # fmt: skip
    table = pd.DataFrame(rows).assign(
        template=lambda found: found["id"], category="x", truncated_share=0.0, within_noise=False
    )
    path = folder / "work/5_scores" / benchmark / name / f"{language}.parquet"
    path.parent.mkdir(parents=True)
    write_scores(table, path, scorer=name, benchmark=benchmark, language=language)
    return path


@pytest.fixture
def made(tmp_path):
    """Return a function from printed numbers to the anchor's table, of two reward models."""
    scores = [
        scored(tmp_path, name, benchmark, language, seed)
        for benchmark, language in (("rewardbench", "en"), ("multilingual-rewardbench", "ko"))
        for seed, name in enumerate([LLAMA, OFFSET])
    ]

    def run(tables3to7=PRINTED, table2=TABLE2, half=()):
        printed = [tmp_path / "tables3to7.csv", tmp_path / "table2.csv"]
        for table, path in zip((tables3to7, table2), printed, strict=True):
            table.to_csv(path, index=False)
        paths = {kind: str(tmp_path / f"anchor.{kind}") for kind in ("csv", "md", "tex", "html")}
        interval = {"samples": 50, "confidence": 0.95, "seed": 1}
        params = {"benchmarks": FACTS, "source": "en", "interval": interval}
        output = SimpleNamespace(**paths)
        sheet = sheet_file(tmp_path, [LLAMA, OFFSET], half)
        inputs = SimpleNamespace(scores=scores, sheet=sheet, printed=printed)
        anchor.main(SimpleNamespace(input=inputs, output=output, params=SimpleNamespace(**params)))
        return pd.read_csv(output.csv).set_index(["reward_model", "language", "section"])

    return run


def agreeing(table):
    """Return Table 3 with the numbers of this Llama printed to one decimal."""
    own = table.loc[LLAMA, "en"]["accuracy_pct"].round(1)
    printed = PRINTED.copy()
    is_llama = (printed["base_model"] == "Llama-3.2-3B-Instruct") & (printed["rm_language"] == "en")
    rows = is_llama & (printed["eval_language"] == "en")
    printed.loc[rows, own.index] = own.to_numpy()
    return printed, rows


def test_printed_numbers_that_are_met_are_within_half_a_point(made):
    printed, _ = agreeing(made())
    table = made(printed)
    assert set(table.loc[LLAMA, "en"]["verdict"]) == {"within half a point"}
    assert table.loc[LLAMA, "en"]["difference"].abs().max() < 0.06


def test_a_number_that_is_off_says_by_how_much_and_which_subset_to_look_at(made):
    printed, rows = agreeing(made())
    printed.loc[rows, "safety"] += 3
    found = made(printed).loc[LLAMA, "en"]["verdict"]
    subset = r"(refusals|xstest|donotanswer)[a-z-]*"
    said = rf"off by -3\.\d: {subset} is lowest, \d+\.\d% of 8 pairs"
    assert pd.Series(found["safety"]).str.fullmatch(said).all()
    assert set(found.drop(["safety"])) == {"within half a point"}
    printed.loc[rows, "avg"] -= 1
    assert made(printed).loc[(LLAMA, "en", "avg"), "verdict"] == "off by +1.0: see safety"


def test_what_the_paper_does_not_print_has_no_verdict(made):
    table = made()
    assert set(table.loc[LLAMA, "ko"]["verdict"]) == {"not printed"}
    offset = table.loc[OFFSET, "en"]["printed_pct"]
    assert offset["avg"] == 89.4 and offset.drop("avg").isna().all()  # Table 2 has no sections
    assert table.loc[(OFFSET, "en", "avg"), "verdict"].endswith(": no section is printed")


def test_ties_of_a_judge_that_names_answers_are_half_right(made):
    wrong, half = made()["accuracy_pct"], made(half=[LLAMA])["accuracy_pct"]
    assert (half - wrong)[LLAMA].round(6).eq(6.25).all()  # one tie of eight pairs of each subset
    assert (half - wrong)[OFFSET].eq(0).all()


def test_the_printed_rows_are_the_papers():
    names = [*anchor.PRINTED_AS, "ArmoRM-Llama3-8B-v0.1", OFFSET]
    found = anchor.printed_numbers(PRINTED, TABLE2, names, "en")
    averages = {name: value for (name, section), value in found.items() if section == "avg"}
    assert averages == {LLAMA: 90.0, "Qwen2.5-3B-MP-RM": 86.8, "ArmoRM-Llama3-8B-v0.1": 90.4, OFFSET: 89.4}
