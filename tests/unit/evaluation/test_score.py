"""Several tiny models on several files: what is written, what is kept, what is refused."""

import contextlib
import io
import re
import shutil
import sys
from dataclasses import replace

import pandas as pd
import pytest
from support import ROOT
from tiny_models import ROWS

from polyreward import cli
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_jsonl
from polyreward.evaluation import kept, score
from polyreward.evaluation.score import score_models
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows

SETTINGS = {"max_length": 128, "token_budget": 200}


def set_up(folder, trained):
    """Put the models rm-a and rm-b, pairs.jsonl and more.csv into a folder."""
    for name, model in zip(("rm-a", "rm-b"), trained.values(), strict=True):
        (folder / name).symlink_to(model)
    write_jsonl(ROWS, folder / "pairs.jsonl")
    pd.DataFrame(ROWS[:4]).assign(id=[1, 2, 3, 4]).to_csv(folder / "more.csv", index=False)


@pytest.fixture
def here(trained, tmp_path, monkeypatch):
    """A folder as set_up makes it, made the working one."""
    monkeypatch.chdir(tmp_path)
    set_up(tmp_path, trained)
    return tmp_path


@pytest.fixture(scope="module")
def scored(trained, tmp_path_factory):
    """A folder of scores of both models on both files."""
    folder = tmp_path_factory.mktemp("scored")
    set_up(folder, trained)
    with contextlib.chdir(folder):
        both()
    return folder / "scores"


@pytest.fixture
def loaded(monkeypatch):
    """The sources of the reward models that were loaded."""
    sources = []
    load = score.load_reward_model

    def noted(entry, *rest, **more):
        sources.append(entry["source"])
        return load(entry, *rest, **more)

    monkeypatch.setattr(score, "load_reward_model", noted)
    return sources


def both(out="scores", **options):
    return score_models(["rm-a", "rm-b"], ["pairs.jsonl", "more.csv"], out, **{**SETTINGS, **options})


def test_scores_are_those_of_each_model_alone(here):
    found = both(None, against="rm-b")
    assert list(found.scores) == [("pairs", "rm-a"), ("more", "rm-a"), ("pairs", "rm-b"), ("more", "rm-b")]
    separate = score_rows(load_classifier("rm-b", "float32", 128, 200), ROWS, "")
    pd.testing.assert_frame_equal(found.scores["pairs", "rm-b"], separate)
    assert found.scores["more", "rm-a"]["id"].tolist() == ["1", "2", "3", "4"]
    assert sorted(found.table["model"]) == ["rm-a", "rm-a", "rm-b", "rm-b"]
    assert found.table["data"].tolist() == ["pairs", "pairs", "more", "more"]
    assert found.table["difference"].notna().tolist() == (found.table["model"] == "rm-a").tolist()
    small = score.summary(replace(found, table=found.table.assign(p_mcnemar=3e-9)), None)
    assert small.count("| <0.001 ") == len(found.table)
    assert found.table["n_items"].tolist() == [6, 6, 4, 4]


def test_a_folder_keeps_what_is_scored(here, loaded, capsys):
    first = both()
    assert loaded == ["rm-a", "rm-b"] and first.kept == []
    assert pd.read_csv("scores/accuracy.csv")["model"].tolist() == first.table["model"].tolist()
    assert set(pd.read_csv("scores/subsets.csv")["subset"]) == {"advice", "maths", "writing"}
    again = both()
    assert loaded == ["rm-a", "rm-b"] and len(again.kept) == 4
    said = "rm-a on more: not scored again, scores/more/rm-a.parquet has the scores"
    assert said in capsys.readouterr().err
    pd.testing.assert_frame_equal(first.table, again.table)
    for key in first.scores:
        pd.testing.assert_frame_equal(first.scores[key], again.scores[key], check_dtype=False)


def change_pairs(here):
    write_jsonl(ROWS[::-1], here / "pairs.jsonl")
    return {}


def change_model(here):
    (here / "rm-a").unlink()
    (here / "rm-a").symlink_to((here / "rm-b").resolve())
    return {}


def spoil(here):
    with open(here / "scores/pairs/rm-a.parquet", "ab") as stream:
        stream.write(b"more")
    return {}


CHANGES = [  # (what changes, models that are loaded again, what is said)
    (change_pairs, ["rm-a", "rm-b"], "rm-a on pairs: scored again, as scores/pairs/rm-a.parquet was made of"),
    (change_model, ["rm-a"], "rm-a on more: scored again"),
    (spoil, ["rm-a"], "rm-a on pairs: scored again"),
    (lambda _: {"max_length": 64}, ["rm-a", "rm-b"], "rm-b on more: scored again"),
    (lambda _: {"limit": 5}, ["rm-a", "rm-b"], "rm-a on pairs: scored again"),
    (lambda _: {"limit": 6}, [], "rm-a on pairs: not scored again"),
]


@pytest.mark.parametrize(("change", "expected", "message"), CHANGES)
def test_what_changed_is_scored_again(here, scored, loaded, capsys, change, expected, message):
    shutil.copytree(scored, "scores")
    both(**change(here))
    assert loaded == expected
    assert message in capsys.readouterr().err


def test_a_model_whose_commit_the_hub_does_not_name_is_scored_again(
    here, scored, loaded, capsys, monkeypatch
):
    shutil.copytree(scored, "scores")
    monkeypatch.setattr(kept, "_content", lambda *_: None)
    both()
    assert loaded == ["rm-a", "rm-b"]
    why = "the hub did not name its model's commit (give --revision)"
    assert f"rm-a on pairs: scored again, as {why}" in capsys.readouterr().err


@pytest.mark.parametrize("library", kept.LIBRARIES)
def test_other_versions_of_libraries_score_again(here, scored, loaded, monkeypatch, library):
    shutil.copytree(scored, "scores")
    known = kept.version
    monkeypatch.setattr(kept, "version", lambda name: "99" if name == library else known(name))
    both()
    assert loaded == ["rm-a", "rm-b"]


def test_a_second_run_into_a_folder_keeps_the_lines_of_the_first(here, capsys):
    score_models(["rm-a"], ["pairs.jsonl"], "scores", **SETTINGS)
    score_models(["rm-b"], ["pairs.jsonl", "more.csv"], "scores", **SETTINGS)
    table, subsets = pd.read_csv("scores/accuracy.csv"), pd.read_csv("scores/subsets.csv")
    assert sorted(zip(table["data"], table["model"], strict=True)) == [
        ("more", "rm-b"), ("pairs", "rm-a"), ("pairs", "rm-b"),
    ]  # fmt: skip
    pairs = table[table["data"] == "pairs"]
    assert pairs["accuracy_pct"].is_monotonic_decreasing and set(subsets["model"]) == {"rm-a", "rm-b"}
    assert "scores/accuracy.csv: also has 1 lines of earlier runs" in capsys.readouterr().err


def a_file(here):
    (here / "scores").touch()
    return "scores", "is a file without a known suffix; name a folder or another file"


def below_a_file(here):
    (here / "file").touch()
    return "file/a.csv", "cannot be written (a part of its path is a file"


def a_folder_below_a_file(here):
    (here / "file").touch()
    return "file/scores", "cannot be written (a part of its path is a file"


def data_is_a_file(here):
    (here / "scores").mkdir()
    (here / "scores/pairs").touch()
    return "scores", "--out: scores/pairs/a: cannot be written (a part of its path is a file"


@pytest.mark.parametrize("place", [a_file, below_a_file, a_folder_below_a_file, data_is_a_file])
def test_a_place_that_cannot_be_written_is_named_before_any_model_is_loaded(here, loaded, place):
    out, words = place(here)
    with pytest.raises(PolyrewardError, match=re.escape(words)):
        score_models(["rm-a"], ["pairs.jsonl"], out, **SETTINGS)
    assert loaded == []


def test_a_full_disk_is_named_before_any_model_is_loaded(here, loaded, small_disk):
    with contextlib.suppress(OSError):
        (small_disk / "rest").write_bytes(bytes(300_000))
    with pytest.raises(PolyrewardError, match="cannot be written .No space left"):
        score_models(["rm-a"], ["pairs.jsonl"], small_disk / "scores.csv", **SETTINGS)
    assert loaded == []


def test_a_limit_counts_rows_and_says_how_many_pairs_they_hold(here, capsys):
    row = {"id": "x", "domain": "chat", "prompt": ROWS[0]["prompt"]}
    answers = {role: [f"{ROWS[0][role]} {n}" for n in range(3)] for role in ("chosen", "rejected")}
    write_jsonl([{**row, **answers, "id": str(n)} for n in range(3)], here / "styles.jsonl")
    assert run("rm-a", "styles.jsonl", "--out", "a.csv", "--limit", "2") == 0
    assert "the first 2 rows of each file (--limit) were read. Pairs in them: 18." in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_is_not_utf_8_loses_nothing(here, monkeypatch, encoding):
    names = ["\ud55c\uad6d\uc5b4", "espa\u00f1ol"]
    rows = [{**row, "subset": names[n % 2]} for n, row in enumerate(ROWS)]
    write_jsonl(rows, here / "pairs.jsonl")
    terminal = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(terminal, encoding=encoding))
    assert cli.main(["inspect", "pairs.jsonl"]) == 0
    for name in names:
        assert name.encode(encoding, "backslashreplace") in terminal.getvalue()


def test_a_model_that_fails_stops_no_other(here, tiny_gemma, loaded):
    """A base model has no head: it is refused when it is loaded, after rm-a and before rm-b."""
    (here / "base").symlink_to(tiny_gemma)
    with pytest.raises(PolyrewardError, match="1 problem\n  - base: its weights lack score.weight") as error:
        score_models(["rm-a", "base", "rm-b"], ["pairs.jsonl"], "scores", **SETTINGS)
    assert "the scores of other models are in scores" in str(error.value)
    assert len(score_models(["rm-a", "rm-b"], ["pairs.jsonl"], "scores", **SETTINGS).kept) == 2


def test_all_that_is_wrong_is_named_at_once(here, loaded):
    with pytest.raises(PolyrewardError) as error:
        score_models(
            ["rm-a", "./rm-a", "/no/where"], ["none.csv", "x.txt"], "out.xlsx", against="rm-c", limit=0, reference="rm-a",
            revision="main", max_length=0, token_budget=-3, beta=float("nan"),
        )  # fmt: skip
    words = [
        "rm-a: is named 2 times", "/no/where: there is no such folder", "none.csv: no such file", "x.txt: no such file",
        "--out: out.xlsx: `.xlsx` is no format that is written here", "--against: `rm-c` is unknown", "--limit: 0 is less",
        "--max-length: 0 is less", "--token-budget: -3 is less", "--beta: nan is not above 0",
        "--reference: a classifier has none", "--revision: is one model's commit",
    ]  # fmt: skip
    assert [word for word in words if word not in str(error.value)] == []
    assert loaded == []


def test_no_model_and_no_file_are_problems():
    with pytest.raises(PolyrewardError) as error:
        score_models([], [])
    for what in ("model", "file of pairs"):
        assert f"no {what} is named; name one or more" in str(error.value)


SMALL = ("--max-length", "128", "--token-budget", "200")


def run(*arguments) -> int:
    return cli.main(["score", *arguments, *SMALL])


def test_the_command_prints_the_models_best_first(here, capsys):
    named = ["--model", "rm-a", "--model", "rm-b", "--data", "pairs.jsonl"]
    assert run(*named, "--out", "scores", "--against", "rm-a", "--limit", "4") == 0
    printed, remarks = capsys.readouterr().out.strip().split("\n\n")
    header, _, *lines = printed.splitlines()
    names = [cell.strip() for cell in header.strip("|").split("|")]
    assert names[:6] == ["data", "model", "accuracy_pct", "low", "high", "n_items"]
    assert names[-4:] == ["difference", "difference_low", "difference_high", "p_mcnemar"]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert sorted(float(line[2]) for line in cells)[::-1] == [float(line[2]) for line in cells]
    assert {line[1]: line[-1] == "" for line in cells} == {"rm-a": True, "rm-b": False}
    assert "difference is from rm-a on the same pairs" in remarks
    assert "Only the first 4 rows of each file (--limit) were read. Pairs in them: 4." in remarks
    assert "Wilson intervals over requests" in remarks


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--model rm-a", "Missing argument 'DATA'"),
        ("--data pairs.jsonl", "Missing argument 'MODEL'"),
        ("rm-a pairs.jsonl --limit 0", "'--limit': 0 is not in the range x>=1"),
        ("rm-a pairs.jsonl --beta -1", "'--beta': -1.0 is not in the range x>0"),
    ],
)
def test_a_usage_error_is_named(capsys, arguments, said):
    assert cli.main(["score", *arguments.split(), "--out", "x"]) == 2
    assert said in capsys.readouterr().err


def test_an_interrupted_run_says_so_in_one_line_and_keeps_what_is_done(here, monkeypatch, capsys):
    load = score.load_reward_model

    def stopped(entry, *rest, **more):
        if entry["source"] == "rm-b":
            raise KeyboardInterrupt
        return load(entry, *rest, **more)

    monkeypatch.setattr(score, "load_reward_model", stopped)
    assert run("rm-a", "pairs.jsonl", "--model", "rm-b", "--out", "scores") == 130
    assert capsys.readouterr().err.splitlines()[-2:] == ["", "polyreward: interrupted"]
    assert list(here.glob("scores/**/*.*")) == [here / "scores/pairs/rm-a.parquet"]


def test_the_example_of_the_documents_runs(here, capsys):
    names, files = ("gemma-3-270m_es", "gemma-3-270m_en"), here / "resources/style_shift"
    (here / "results/work/4_models").mkdir(parents=True)
    files.mkdir(parents=True)
    for name, model in zip(names, ("rm-a", "rm-b"), strict=True):
        (here / "results/work/4_models" / name).symlink_to((here / model).resolve())
    for name in ("es", "ko"):
        shutil.copy(here / "pairs.jsonl", files / f"{name}.jsonl")
    text = (ROOT / "docs/howto/score_pairs.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (example,) = [code for code in blocks if "score_models" in code]
    exec(compile(example, "docs/howto/score_pairs.md", "exec"), {})
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)
    assert (here / "scores/accuracy.csv").exists()
