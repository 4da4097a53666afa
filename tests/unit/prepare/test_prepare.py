"""From raw rows to the pool and the evaluation sets."""

import random
from collections import Counter
from types import SimpleNamespace

import pytest
from support import refused, script

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.prepare.pool import COUNT_COLUMNS, Share, prepared_pool, row_problems, with_problem

prepared_benchmark = script("prepare/evaluation_set").prepared_benchmark

CATEGORIES = {"advice": "chat", "refuse": "safety", "comply": "safety"}


def row(row_id, **more):
    texts = {"prompt": f"prompt {row_id}", "chosen": f"good {row_id}", "rejected": f"bad {row_id}"}
    return {"id": str(row_id), "source": "s", "subset": "advice", "template": f"t{row_id}", **texts, **more}


def pool(rows, evaluation=(), dev_share=0.2, max_pairs=None, templates=None, fills=None, seed=1):
    return prepared_pool(
        rows, evaluation, CATEGORIES, dev_share, max_pairs or {}, Share(templates, fills), seed
    )


def benchmark(rows, where="f", templates=None, fills=None, seed=1):
    """Prepare a benchmark of the subsets that the rows have."""
    there = {row["subset"]: CATEGORIES[row["subset"]] for row in rows}
    return prepared_benchmark(rows, there, Share(templates, fills), seed, where)


def ids(rows):
    return [row["id"] for row in rows]


@pytest.mark.parametrize("value", ["", None])
@pytest.mark.parametrize("field", ["id", "subset", "prompt", "chosen", "rejected"])
def test_an_empty_field_is_named(field, value):
    assert f"`{field}` is empty; give one or drop the item" in list(row_problems(row(1, **{field: value})))
    assert list(row_problems(row(1, prompt=[{"role": "user", "content": "hi"}]))) == []


BAD_ROWS = [
    row(1),
    row(2, chosen=""),
    row(3, chosen="same", rejected="same"),
    row(4, subset="advise"),
    row(5),
    row(5, prompt="another"),
    row(6, prompt="What is it?", chosen="c", rejected="r"),
    row(7, prompt="What is it?", chosen="c", rejected="r"),
]


def test_every_problem_of_an_evaluation_set_is_in_one_error():
    text = refused(prepared_benchmark, BAD_ROWS, CATEGORIES, Share(None, None), 1, "eval.jsonl")
    heading, *problems = text.splitlines()
    assert heading == "evaluation set eval.jsonl: 7 problems"
    expected = [
        ":2: `chosen` is empty", ":3: `chosen` and `rejected` are identical", ":4: subset `advise` is unknown; use one of advice, comply",
        ": id `5` appears 2 times", ": 2 rows say “What is it?” with the same answers", ": the benchmark's subset `comply` has no row",
        ": the benchmark's subset `refuse` has no row",
    ]  # fmt: skip
    for problem, words in zip(problems, expected, strict=True):
        assert problem.startswith(f"  - eval.jsonl{words}")


def test_a_published_benchmark_keeps_a_pair_that_stands_in_it_twice(capsys):
    same = [row(number, prompt="p", chosen="c", rejected="r") for number in (1, 2)]
    prepared, _ = prepared_benchmark(same, {"advice": "chat"}, Share(None, None), 1, "there", published=True)
    assert ids(prepared) == ["1", "2"]
    assert "there: 1 pairs appear in it more than once, and count each time" in capsys.readouterr().err


def test_an_evaluation_set_keeps_every_row_in_order_with_its_category():
    prepared, _ = benchmark([row(2), row(1, subset="refuse")])
    assert prepared == [{**row(2), "category": "chat"}, {**row(1, subset="refuse"), "category": "safety"}]
    swapped = [row(1, prompt="p", chosen="a", rejected="b"), row(2, prompt="p", chosen="b", rejected="a")]
    assert ids(benchmark(swapped)[0]) == ["1", "2"]


def test_an_evaluation_set_is_counted_per_source():
    _, table = benchmark([row(1), row(2, source="z"), row(3, template="t1")])
    assert table.columns.tolist() == COUNT_COLUMNS
    counts = table[["source", "use", "raw", "evaluation", "templates"]].values.tolist()
    assert counts == [["s", "evaluation", 2, 2, 1], ["z", "evaluation", 1, 1, 1]]
    assert table[["unseen", "sampled", "train", "dev"]].isna().all(axis=None)


FILLS = [row(f"t{n}-{fill}", template=f"t{n}") for n in range(20) for fill in (1, 2, 3)]


def fills_of(subset):
    """Return FILLS, of one subset and with ids of its own."""
    names = ("id", "template", "prompt")
    return [{**row, **{name: f"{subset}-{row[name]}" for name in names}} for row in FILLS]


def test_one_fill_of_each_template_is_drawn_by_its_id():
    drawn = ids(benchmark(FILLS, fills=1)[0])
    assert [name.split("-")[0] for name in drawn] == [f"t{n}" for n in range(20)]
    assert {name.split("-")[1] for name in drawn} == {"1", "2", "3"}  # not the same one of all
    assert ids(benchmark(FILLS[::-1], fills=1)[0]) == drawn[::-1]
    assert ids(benchmark(FILLS, fills=1, seed=2)[0]) != drawn
    assert set(drawn) < set(ids(benchmark(FILLS, fills=2)[0]))
    assert ids(benchmark(FILLS)[0]) == ids(FILLS) == ids(benchmark(FILLS, fills=3)[0])
    assert benchmark(FILLS, fills=1)[1][["raw", "evaluation", "templates"]].values.tolist() == [[60, 20, 20]]


def test_one_request_of_a_family_is_drawn_and_rows_without_a_template_stay():
    families = [row(f"w{n}-{suffix}", template=f"w{n}") for n in range(20) for suffix in "ab"]
    free = [row(7, template=None), row(8, template=None)]
    *of_families, seven, eight = ids(benchmark(families + free, fills=1)[0])
    assert (seven, eight) == ("7", "8")
    assert [name.split("-")[0] for name in of_families] == [f"w{n}" for n in range(20)]
    assert 5 < sum(name.endswith("a") for name in of_families) < 15
    assert len(benchmark(families + free)[0]) == 42


def test_as_many_templates_of_each_section_are_drawn():
    rows = [
        {**row, "subset": subset} for subset in ("advice", "refuse", "comply") for row in fills_of(subset)
    ]
    drawn, counts = benchmark(rows, templates=6, fills=1)
    # refuse and comply are of one section
    assert Counter(row["category"] for row in drawn) == {"chat": 6, "safety": 6}
    more, _ = benchmark(rows, templates=9, fills=1)
    assert {row["template"] for row in drawn} < {row["template"] for row in more}
    assert counts["evaluation"].sum() == 12
    train, dev, _ = pool(rows, templates=6, dev_share=0.5)
    assert len(train) == len(dev) == 18  # with all fills


@pytest.mark.parametrize(
    ("bad", "column"),
    [
        (row(9, chosen=""), "valid"),
        (row(9, rejected=" "), "valid"),
        (row(9, chosen="same", rejected="same"), "valid"),
        (row(9, subset=""), "valid"),
        (row(9, prompt="prompt 1", chosen="good 1", rejected="bad 1"), "distinct"),
        (row(1, prompt="another"), "distinct"),
        (row(9, template="held out"), "unseen"),
        (row(9, prompt="held-out prompt"), "unseen"),
    ],
)
def test_a_bad_row_of_the_pool_is_dropped_and_counted_in_its_column(bad, column, capsys):
    evaluation = [row(50, template="held out"), row(51, template="other", prompt="held-out prompt")]
    train, dev, table = pool([row(1), bad, row(2)], evaluation)
    assert sorted(ids(train + dev)) == ["1", "2"]  # of rows that say the same, the first
    assert ("pool: 1 rows left out: " in capsys.readouterr().err) == (column == "valid")
    steps = ["raw", "valid", "distinct", "unseen", "sampled"]
    kept = dict.fromkeys(steps, 2) | dict.fromkeys(steps[: steps.index(column)], 3)
    assert table[steps].to_dict("records") == [kept]


ROWS = [row(n, template=f"t{n % 10}", source="big" if n % 2 else "small") for n in range(60)]


def test_no_template_is_in_both_train_and_dev():
    train, dev, _ = pool(ROWS, dev_share=0.3)
    assert len({row["template"] for row in dev}) == 3  # 0.3 of 10 templates
    assert len({row["template"] for row in train}) == 7
    assert not {row["template"] for row in train} & {row["template"] for row in dev}


def test_rows_without_a_template_are_their_own_and_hold_out_no_row_without_one():
    train, dev, table = pool([row(n, template=None) for n in range(10)], [row(20, template=None)])
    assert (len(train), len(dev), table["templates"].item()) == (8, 2, 10)


def test_at_most_max_pairs_of_a_source_are_kept_and_a_larger_sample_holds_the_smaller_one():
    train, dev, table = pool(ROWS, max_pairs={"big": 7})
    assert table.columns.tolist() == COUNT_COLUMNS
    assert table.set_index("source")["sampled"].to_dict() == {"small": 30, "big": 7}
    assert (table["train"] + table["dev"] == table["sampled"]).all()
    assert table["evaluation"].isna().all() and set(table["use"]) == {"training"}
    assert sum(row["source"] == "big" for row in train + dev) == 7
    small, large = (set(ids(pool(ROWS, max_pairs={"big": n}, dev_share=0)[0])) for n in (5, 10))
    assert small < large
    fills = pool(FILLS, fills=1, max_pairs={"s": 15})  # fills are drawn before pairs
    assert len({row["template"] for part in fills[:2] for row in part}) == fills[2]["sampled"].item() == 15


def test_the_split_depends_on_the_seed_and_not_on_the_order_of_rows():
    shuffled = random.Random(4).sample(ROWS, len(ROWS))
    first, other_order, other_seed = (
        pool(rows, max_pairs={"big": 9}, seed=seed) for rows, seed in ((ROWS, 1), (shuffled, 1), (ROWS, 2))
    )
    assert [sorted(ids(part)) for part in first[:2]] == [sorted(ids(part)) for part in other_order[:2]]
    assert ids(first[1]) != ids(other_seed[1])


def test_rows_are_given_back_as_they_were_with_their_subset_s_category_or_none():
    rows = [row(1, slots={"n": ["number", 1]}), row(2, subset="poems")]
    assert pool(rows, dev_share=0)[0] == [{**rows[0], "category": "chat"}, {**rows[1], "category": None}]
    train, dev, table = pool([row(1, chosen="")])
    assert train == dev == []
    assert table[["raw", "valid", "train", "dev"]].values.tolist() == [[1, 0, 0, 0]]


def judge_pool(folder, pool_rows, train, share=None):
    files = {"pool": pool_rows, "evaluation": [row("e", template="t1")], "train": train}
    for name, rows in files.items():
        write_jsonl(rows, folder / f"{name}.jsonl")
    pool, evaluation, train = (folder / f"{name}.jsonl" for name in files)
    inputs = SimpleNamespace(pool=[pool], evaluation=[evaluation], train=train, stock=[])
    params = SimpleNamespace(
        categories=CATEGORIES, max_pairs={}, share={"templates": share, "rows": 1}, seed=1, filters=["distinct", "unseen"],
        kinds={}, kinds_per_request=None,
    )  # fmt: skip
    script("prepare/judge_pool").main(
        SimpleNamespace(input=inputs, output=[folder / "judge.jsonl"], params=params)
    )
    return [one["template"] for one in read_jsonl(folder / "judge.jsonl")]


def test_a_judge_is_trained_on_templates_that_no_other_reward_model_and_no_benchmark_has(tmp_path):
    rows = [row(n) for n in range(6)]
    assert judge_pool(tmp_path, rows, train=[row(0), row(3)]) == ["t2", "t4", "t5"]  # t1 is in the benchmark
    assert len(judge_pool(tmp_path, rows, train=[row(0), row(3)], share=2)) == 2
    assert "name a judge" in refused(judge_pool, tmp_path, rows[:2], train=[row(0)])


@pytest.mark.parametrize(("prompt", "template"), [
    ("Write a Python function `add_up(a: List[int]) -> int` to solve `x`.", "problem-addup"),
    ("Write a Java function `List<Integer> addUp(List<Integer> a)` to solve it.", "problem-addup"),
    ("Write a Go function `AddUp(a []int) int`.", "problem-addup"),
    ("Write a C++ function `vector<int> add_up(vector<int> a)`.", "problem-addup"),
    ([{"role": "user", "content": "Write a Rust function `add_up(a:Vec<i32>) -> i32`."}], "problem-addup"),
    ("What is `a` plus (b)?", None),
])  # fmt: skip
def test_a_programming_problem_is_one_template_in_every_programming_language(prompt, template):
    row = {"id": "hep-1", "prompt": prompt}
    assert with_problem(row) == ({**row, "template": template} if template else row)


def test_an_evaluation_set_draws_a_programming_problem_with_all_its_languages():
    sections = {"hep-go": "reasoning", "hep-js": "reasoning"}
    rows = [
        row(f"{subset}-{n}", subset=subset, prompt=f"Write `solve_{n}(a)`.")
        for subset in sections
        for n in range(6)
    ]
    kept, _ = prepared_benchmark(rows, sections, Share(2, None), 1, "here", code=list(sections))
    assert len(kept) == 4 and len({row["template"] for row in kept}) == 2
