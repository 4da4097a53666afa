"""What is wrong with place quartets is said before the first job, where they are among the jobs."""

import json
from types import SimpleNamespace

import pytest
from snakemake.exceptions import WorkflowError
from support import ROOT

from polyreward.plan import Plan
from polyreward.sheet.catalogs import Project
from polyreward.sheet.entries import read_models

JOBS = [SimpleNamespace(rule=SimpleNamespace(name=name)) for name in ("carb_items", "carb_quartets")]


def plan(topics_per_domain=None, **quartets):
    """Return a plan of scale mini as far as this check goes, with changed settings of quartets."""
    settings = read_models([], ROOT).settings
    changed = settings.carb.quartets.model_copy(update=quartets)
    settings = settings.model_copy(
        update={
            "carb": settings.carb.model_copy(
                update={"quartets": changed, "topics_per_domain": topics_per_domain}
            )
        }
    )
    others = dict.fromkeys(set(Plan._fields) - {"project", "settings"})
    return Plan(**others, project=Project(ROOT, {}), settings=settings)


def test_kinds_with_few_topics_are_announced_and_no_other_run_is_held_up(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    plan(topics_per_domain=9).check_quartets(JOBS)
    said = capsys.readouterr().err
    assert "place quartets, format:" in said and "fewer than 10" in said
    plan(open_books=9).check_quartets(JOBS)
    assert "place quartets, open book: 9 topics, fewer than 10" in capsys.readouterr().err
    plan().check_quartets(JOBS)
    assert capsys.readouterr().err == ""
    plan(files={"en": "no such file"}).check_quartets(JOBS[:1])
    assert capsys.readouterr().err == ""


def test_all_faults_of_the_user_s_quartets_stop_the_run(tmp_path):
    path = tmp_path / "en.jsonl"
    row = {
        "topic": "t",
        "question": "How {place}?",
        "places": ["in A", "", "in C", "in D"],
        "answers": ["x"] * 4,
    }
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(WorkflowError, match="2 problems") as error:
        plan(files={"en": str(path)}).check_quartets(JOBS)
    assert "place 2 has no name" in str(error.value) and "two of its answers are the same" in str(error.value)
