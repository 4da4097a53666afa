"""Score files of every layout that `polyreward compare` reads, and each bad one with what is said of it."""

import json

import numpy as np
import pandas as pd
import pytest

from polyreward import cli
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import write_scores, write_sealed
from polyreward.evaluation.score_files import read_score_files

PAIRS = [  # right, wrong, tied
    {"id": "1", "subset": "u", "score_chosen": 2.0, "score_rejected": 1.0},
    {"id": "2", "subset": "u", "score_chosen": 0.5, "score_rejected": 1.0},
    {"id": "3", "subset": "v", "score_chosen": 1.0, "score_rejected": 1.0},
]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def lines(name, rows):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return name


def changed(**cells):
    return [{**row, **cells} for row in PAIRS]


def right(table):
    """{model: how right it is on each item}."""
    return {name: of["right"].tolist() for name, of in table.groupby("scorer", sort=False)}


def refused(*paths, **options):
    with pytest.raises(PolyrewardError) as error:
        read_score_files(paths, **options)
    return str(error.value)


# --- layouts


def test_json_lines_csv_and_parquet_of_any_tool_are_read_alike():
    lines("a.jsonl", PAIRS)
    pd.DataFrame(PAIRS).to_csv("b.csv", index=False)
    pd.DataFrame(PAIRS).astype({"id": int}).to_parquet("c.parquet")
    pd.DataFrame(
        [
            {"id": row["id"], "subset": row["subset"], "correct": said}
            for row, said in zip(PAIRS, (True, False, False), strict=True)
        ]
    ).to_csv("d.csv")
    table = read_score_files(["a.jsonl", "b.csv", "c.parquet", "d.csv"])
    assert right(table) == dict.fromkeys("abcd", [1, 0, 0])
    assert (
        table["template"].tolist() == ["1", "2", "3"] * 4 and table["subset"].tolist() == ["u", "u", "v"] * 4
    )
    assert table[table["scorer"] == "a"]["tied"].tolist() == [False, False, True]
    assert right(read_score_files(["a.jsonl"], ties="shared")) == {"a": [1, 0, 0.5]}


def test_a_file_may_hold_several_models_under_names_of_its_own():
    rows = [
        {"prompt_id": n, "who": who, "good": 1, "bad": n % 2, "family": n // 2}
        for who in "xy"
        for n in range(4)
    ]
    columns = {
        "id": "prompt_id",
        "model": "who",
        "score_chosen": "good",
        "score_rejected": "bad",
        "cluster": "family",
    }
    table = read_score_files([lines("rows.jsonl", rows)], columns)
    assert right(table) == dict.fromkeys("xy", [1, 0, 1, 0])
    assert table["template"].tolist() == ["0", "0", "1", "1"] * 2 and set(table["subset"]) == {"all"}


def test_scores_of_polyreward_are_read_with_templates_and_languages():
    table = pd.DataFrame(PAIRS).assign(template=["t", "t", "s"], category=None)
    for language in ("en", "ko"):
        write_scores(table, f"rm_{language}.parquet", benchmark="b", scorer="rm", language=language)
    write_sealed(table, "alone.parquet")
    found = read_score_files(["rm_en.parquet"])
    assert right(found) == {"rm": [1, 0, 0]} and found["template"].tolist() == ["t", "t", "s"]
    assert right(read_score_files(["alone.parquet"])) == {"alone": [1, 0, 0]}
    both = read_score_files(["rm_en.parquet", "rm_ko.parquet"])
    assert both["id"].tolist() == ["en/1", "en/2", "en/3", "ko/1", "ko/2", "ko/3"]
    write_scores(table, "other.parquet", benchmark="b", scorer="other", language="ko")
    assert (
        "other.parquet: language of other is ko, but in rm_en.parquet it is en; compare scores of the same"
        in refused("rm_en.parquet", "other.parquet")
    )
    lines("theirs.jsonl", PAIRS)
    assert right(read_score_files(["rm_ko.parquet", "theirs.jsonl"])) == {
        "rm": [1, 0, 0],
        "theirs": [1, 0, 0],
    }


def test_rewardbench_s_own_results_and_its_released_scores_are_read():
    """As rewardbench/rewardbench.py and scripts/run_rm.py write them."""
    outputs = [
        {
            "prompt": f"p{n // 2}",
            "results": int(n > 0),
            "scores_chosen": float(n),
            "scores_rejected": 0.5,
            "text_chosen": "x",
            "text_rejected": "y",
            "id": n,
            "subset": "u",
        }
        for n in range(4)
    ]
    lines("mine_outputs.jsonl", outputs)
    released = {
        "model": "org/theirs", "model_type": "Seq. Classifier", "chat_template": "tulu", "id": list(range(4)),
        "results": [1, 0, 1, 1], "scores_chosen": [[3.0], [0.0], [1.0], [2.0]], "scores_rejected": [[1.0]] * 2 + [[0.0]] * 2,
        "subset": ["u"] * 4, "text_chosen": ["x"] * 4, "text_rejected": ["y"] * 4,
    }  # fmt: skip
    with open("theirs.json", "w", encoding="utf-8") as file:
        json.dump(released, file, indent=4, sort_keys=True)
    table = read_score_files(["mine_outputs.jsonl", "theirs.json"])
    assert right(table) == {"mine": [0, 1, 1, 1], "org/theirs": [1, 0, 1, 1]}
    clusters = [json.loads(json.dumps(name)) for name in table["template"]]
    assert clusters == ["p0", "p0", "p1", "p1"] * 2  # also of the file that has no prompts
    judged = {
        **released,
        "scores_chosen": [None] * 4,
        "scores_rejected": [None] * 4,
        "results": [1, 0, 0.5, 1],
    }
    with open("judge.json", "w", encoding="utf-8") as file:
        json.dump(judged, file)
    assert right(read_score_files(["judge.json"])) == {"org/theirs": [1, 0, 0, 1]}
    assert right(read_score_files(["judge.json"], ties="shared")) == {"org/theirs": [1, 0, 0.5, 1]}


def test_without_ids_the_row_s_number_is_one_where_that_is_said():
    """As rewardbench's --save_all writes them."""
    for name in ("a_all.jsonl", "b_all.jsonl"):
        lines(name, [{"chosen": 1.0, "rejected": float(n)} for n in range(3)])
    columns = {"score_chosen": "chosen", "score_rejected": "rejected"}
    assert (
        "a_all.jsonl: has no column `id`. Name it with --columns id=NAME. Or give --columns id=#"
        in refused("a_all.jsonl", columns=columns)
    )
    table = read_score_files(["a_all.jsonl", "b_all.jsonl"], {**columns, "id": "#"})
    assert (
        right(table) == {"a_all": [1, 0, 0], "b_all": [1, 0, 0]}
        and table["id"].tolist() == ["1", "2", "3"] * 2
    )


def test_best_of_four_and_several_right_answers_of_rewardbench_2_are_read():
    """As scripts/run_v2.py of rewardbench writes them; a tie of two at the top is half right there."""
    released = {
        "model": "rm", "model_type": "Seq. Classifier", "id": ["a", "b", "c", "ref:7", "tied:7"],
        "subset": ["Focus", "Focus", "Focus", "Ties", "Ties"], "num_correct": [1, 1, 1, 1, 2],
        "scores": [[4, 1, 2, 3], [1, 4, 2, 3], [4, 4, 1, 1], [[2.0], [1.0], [0.0]], [3.0, 2.0, 1.0]],
        "results": [1.0, 0.0, 0.5, None, None],
    }  # fmt: skip
    with open("rm.json", "w", encoding="utf-8") as file:
        json.dump(released, file)
    assert right(read_score_files(["rm.json"])) == {"rm": [1, 0, 0, 1, 1]}
    shared = read_score_files(["rm.json"], ties="shared")
    assert right(shared) == {"rm": [1, 0, 0.5, 1, 1]}
    assert shared["tied"].tolist() == [False, False, True, False, False]
    assert shared["template"].tolist() == ["a", "b", "c", "ties:7", "ties:7"]
    with open("no.json", "w", encoding="utf-8") as file:
        json.dump({name: cells for name, cells in released.items() if name != "num_correct"}, file)
    assert "no.json: 2 of 5 rows: the subset Ties has no `num_correct` (first: id ref:7)" in refused(
        "no.json"
    )


# --- what is refused


def test_all_problems_of_all_files_are_listed_at_once():
    lines("a.jsonl", PAIRS)
    lines("b.jsonl", [{**PAIRS[0], "id": "x"}, {**PAIRS[1], "subset": "w"}])
    lines("c.jsonl", [*PAIRS, PAIRS[0]])
    open("empty.csv", "w").close()
    open("odd.xyz", "w").close()
    said = refused("a.jsonl", "b.jsonl", "c.jsonl", "empty.csv", "odd.xyz", "gone.csv")
    assert said.startswith("compare: 6 problems\n")
    assert (
        "b.jsonl: the items of b are not those of a in a.jsonl: it lacks 2 (such as 1) and adds 1 (such as x)"
        in said
    )
    assert "b.jsonl: 1 items of b are in other subsets than in a.jsonl (first: 2, in `w` and `u`)" in said
    assert "c.jsonl: 1 ids appear more than once for c (first: 1); keep one row of each" in said
    assert "empty.csv: holds no row; score again, or leave the file out" in said
    assert "odd.xyz: cannot read `.xyz` files; save it as one of" in said
    assert "gone.csv: no such file; correct the path" in said


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (changed(score_chosen="high"), "3 of 3 rows: `score_chosen` or `score_rejected` is a text or empty where a number has to be (first: id 1)"),
        ([*PAIRS[:2], {**PAIRS[2], "score_chosen": None}], "1 of 3 rows: `score_chosen` or `score_rejected` is a text or empty"),
        ([*PAIRS[:2], {**PAIRS[2], "score_chosen": float("nan")}], "1 of 3 rows: `score_chosen` or `score_rejected` is NaN or infinite (first: id 3)"),
        (changed(correct=0), "1 of 3 rows: `correct` or `results` contradicts the scores (first: id 1)"),
        ([{"id": 1, "correct": 1}, {"id": 2, "correct": 3}, {"id": 3, "correct": "yes"}], "2 of 3 rows: `correct` is not between 0 and 1, or true or false (first: id 2)"),
        (changed(template="one"), "all items are of one cluster, so that no interval can be had. Name another column"),
        ([{"id": 1, "reward": 2}], "has neither `score_chosen` and `score_rejected`, nor `scores`, nor `correct`. Name them with --columns score_chosen=NAME,score_rejected=NAME. It has `id`, `reward`"),
        ([{"key": 1, "correct": 2}], "has no column `id`. Name it with --columns id=NAME."),
        ([*PAIRS, {**PAIRS[0], "id": None}], "1 rows have no id (first: row 4); give each one"),
    ],
)  # fmt: skip
def test_a_bad_file_is_named_with_what_to_do(rows, said):
    found = refused(lines("bad.jsonl", rows))
    assert f"bad.jsonl: {said}" in found, found
    assert found.startswith("compare: 1 problem\n")


def test_a_broken_row_is_named_with_its_line():
    lines("a.jsonl", PAIRS)
    with open("a.jsonl", "a", encoding="utf-8") as file:
        file.write("{broken\n")
    assert "a.jsonl:4: not JSON" in refused("a.jsonl")


def test_a_model_or_a_file_that_is_there_twice_is_named():
    lines("a.jsonl", changed(model="rm"))
    lines("b.jsonl", changed(model="rm"))
    assert (
        "a.jsonl and b.jsonl: the model `rm` is in each; name one of them, or give --columns model=#"
        in refused("a.jsonl", "b.jsonl")
    )
    assert list(right(read_score_files(["a.jsonl", "b.jsonl"], {"model": "#"}))) == ["a", "b"]
    assert "a.jsonl: is named 2 times; name each file once" in refused("a.jsonl", "a.jsonl")


def test_clusters_come_from_any_file_and_may_not_differ():
    lines("a.jsonl", PAIRS)
    lines("b.jsonl", [{**row, "template": name} for row, name in zip(PAIRS, "ttu", strict=True)])
    lines("c.jsonl", [{**row, "template": name} for row, name in zip(PAIRS, "tuu", strict=True)])
    assert read_score_files(["a.jsonl", "b.jsonl"])["template"].tolist() == ["t", "t", "u"] * 2
    assert "a.jsonl and b.jsonl and c.jsonl: 1 items have different clusters in them (first: 2)" in refused(
        "a.jsonl", "b.jsonl", "c.jsonl"
    )
    assert (
        read_score_files(["a.jsonl", "b.jsonl", "c.jsonl"], {"cluster": "#"})["template"].tolist()
        == ["1", "2", "3"] * 3
    )


def test_wrong_columns_are_named():
    lines("a.jsonl", PAIRS)
    said = refused("a.jsonl", columns={"ids": "x", "subset": "#"})
    assert "--columns: `ids` is unknown" in said and "did you mean `id`?" in said
    assert "--columns: subset=# has no meaning; name a column" in said
    assert "a.jsonl: has no column `key`, which --columns names. It has `id`, `subset`" in refused(
        "a.jsonl", columns={"id": "key"}
    )


# --- the command


def test_the_command_prints_writes_and_refuses(capsys):
    generator = np.random.default_rng(4)
    for name in ("a", "b", "b_seed2"):
        rows = [{"id": n, "subset": "uv"[n % 2], "correct": int(generator.random() < 0.7)} for n in range(60)]
        lines(f"{name}.jsonl", rows)
    files = ["a.jsonl", "b.jsonl", "b_seed2.jsonl"]
    assert cli.main(["compare", *files, "--seeds", "b=b,b_seed2", "--level", "subset", "--out", "out"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("2 models on 60 items in 60 clusters. Accuracy: all items, in %.")
    assert "| subset  | v " in said and "Comparisons that Holm's correction covers: 3." in said
    assert len(pd.read_csv("out/pairs.csv")) == 3
    assert cli.main(["compare", *files, "--columns", "id"]) == 2
    assert "`id` is not NAME=VALUE" in capsys.readouterr().err
    assert cli.main(["compare", *files, "--columns", "id=id,id=x"]) == 2
    assert cli.main(["compare", *files, "--sections", "rewardbnch"]) == 1
    assert "did you mean `rewardbench`?" in capsys.readouterr().err
    assert cli.main(["compare", *files, "--out", "a.jsonl"]) == 1
    assert "--out: a.jsonl: cannot be written (it is a file); name another folder" in capsys.readouterr().err
