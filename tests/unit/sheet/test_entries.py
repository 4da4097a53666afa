"""Where models lie, what loads them, and what their jobs ask for."""

import pytest
from settings_data import SERVE as LIMITS
from settings_data import settings_with
from small_scale import small_scale

from polyreward.core.codehash import code_at
from polyreward.sheet.catalogs import Catalog
from polyreward.sheet.data import dataset_file
from polyreward.sheet.entries import Models

CATALOG = Catalog(
    models={
        "small": {"source": {"kind": "pypi"}, "parameters_b": 0.5},
        "gated": {"source": {"kind": "hub", "id": "org/gated", "revision": "main"}, "parameters_b": 1},
    },
    reward_models={"rm": {"kind": "classifier", "hub": "org/rm"}},
    datasets={
        "pool": {"kind": "hub", "id": "org/pool", "revision": "abc"},
        "own": {"kind": "templates", "path": "resources/own"},
    },
    benchmarks={},
    languages={},
    judge_questions={"rewardbench": {"text": "ours"}, "rm-r1": {"text": "ours"}},
    judge_wordings={"rewardbench": {"url": "https://x/y.py"}},
)
HUB = "out/work/1_sources/hub"


def files_of(**changes):
    """Return where models of a scale of these catalogs lie."""
    return Models(settings_with({"results": "out", **changes}), CATALOG)


@pytest.fixture
def files():
    generators = {"g": {"kind": "generative", "hub": "org/gen", "revision": "v2"}}
    listed = {"mine": {"kind": "implicit", "hub": "org/dpo", "reference": {"hub": "org/ref"}}}
    return files_of(reward_models=listed, carb={"generators": generators})


def test_all_that_the_hub_has_is_known_by_its_name_in_files_and_has_a_revision(files):
    models = {"rm": "main", "dpo": "main", "ref": "main", "gen": "v2", "gated": "main"}
    assert files.hub == {("dataset", "org--pool@abc"): ("org/pool", "abc")} | {
        ("model", f"org--{name}@{revision}"): (f"org/{name}", revision) for name, revision in models.items()
    }
    (path,) = files.revision("model", CATALOG.models["gated"]["source"])
    assert path.endswith("revisions/model/org--gated@main.yaml")
    assert files.revision("model", CATALOG.models["small"]["source"]) == []
    items = [dataset_file(files.settings, CATALOG, name) for name in ("own", "pool")]
    assert items == ["resources/own", "out/work/1_sources/data/pool.jsonl"]


@pytest.mark.parametrize(("entry", "folder"), [
    ({"path": "here"}, "here"),
    ({"hub": "org/rm"}, f"{HUB}/org--rm@main"),
    ({"hub": "org/rm", "revision": "v1"}, f"{HUB}/org--rm@v1"),
    ({"model": "small"}, "out/work/1_sources/models/small"),
    ({"think_as_locals": "full"}, "out/work/4_models/locals/full"),
])  # fmt: skip
def test_an_entry_says_where_its_model_lies(files, entry, folder):
    assert files.folders(entry) == [folder]
    assert files.loadable(entry) == {"source": folder}


def test_a_server_s_model_lies_nowhere_here_and_a_reference_is_loaded_next_to_its_model(files):
    served = {"kind": "generative", "server": {"url": "u", "model": "m"}}
    assert files.folders(served) == []
    assert files.loadable(served) == {**served, "code": code_at("polyreward.scoring.server:load_judge")}
    entry = {"kind": "implicit", "hub": "org/dpo", "parameters_b": 7, "reference": {"model": "small"}}
    folder, reference = f"{HUB}/org--dpo@main", "out/work/1_sources/models/small"
    assert files.folders(entry) == [folder, reference]
    code = code_at("polyreward.scoring.implicit:load")
    loaded = {"kind": "implicit", "source": folder, "code": code, "reference": {"source": reference}}
    assert files.loadable(entry) == loaded


@pytest.mark.parametrize(("verdict", "served"), [("text", True), ("labels", False)])
def test_judges_that_write_are_served_where_a_server_is_configured(verdict, served):
    files = files_of(devices={"serve": {"command": ["x"], **LIMITS}})
    assert ("serve" in files.loadable({"kind": "generative", "model": "small", "verdict": verdict})) == served


def test_a_judge_waits_for_the_words_of_its_question_only_where_they_are_fetched(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("text: mine", encoding="utf-8")
    fetched = "out/work/1_sources/judge_questions/rewardbench.yaml"
    published = {"judge_wordings": "published"}
    mine = {**published, "judge_questions": {"rewardbench": str(own)}}
    for changes, asked, question, waits in (
        ({}, "rewardbench", {"text": "ours"}, []),
        (published, "rewardbench", fetched, [fetched]),
        (published, "rm-r1", {"text": "ours"}, []),
        (mine, "rewardbench", {"text": "mine"}, []),
    ):
        files, entry = files_of(**changes), {"path": "here", "question": asked}
        assert files.loadable(entry)["question"] == question
        assert files.folders(entry) == ["here", *waits]
    assert files.folders({"path": "here"}) == ["here"]


def test_a_base_is_fetched_or_made_and_reward_models_start_from_it_or_from_its_lowest_layers():
    models = small_scale(reward_model__depth={"a": 3})
    assert [models.base(name) for name in "ab"] == [
        "out/work/1_sources/models/a",
        "out/work/2_prepared/models/b",  # with random weights
    ]
    assert models.reward_base("a") == "out/work/4_models/cut_bases/a"
    assert models.reward_base("b") == models.base("b")


def test_a_policy_starts_from_supervised_training_where_there_is_some():
    assert small_scale().policy_start == "out/work/2_prepared/models/p"
    trained = small_scale(alignment={"policy": "p", "sft": {"epochs": 1}})
    assert trained.policy_start == "out/work/4_models/policies/sft"


def test_policies_are_judged_by_a_model_of_the_catalog_or_by_one_that_is_trained_for_it():
    ours = small_scale(alignment={"judge": None, "reward_base": "a"})
    assert ours.alignment_judge("ko") == {"kind": "classifier", "path": "out/work/4_models/judges/a_ko"}
    theirs = small_scale(alignment={"judge": "judge"})
    assert theirs.alignment_judge("ko") == {"kind": "generative", "model": "b"}
