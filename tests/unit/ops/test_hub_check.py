"""`polyreward hub-check`: a scale's repositories on a hub on loopback, all problems at once."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import datasets
import httpx2
import pytest
import yaml
from hub_server import COMMIT, Hub
from huggingface_hub import constants
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from support import ROOT, refused

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_text
from polyreward.core.naming import hub_name
from polyreward.ops import hub_check as checks
from polyreward.ops.hub_check import hub_problems, wanted
from polyreward.ops.resources import Job
from polyreward.sheet.entries import Models, read_models

PAPER = "workflow/scales/paper.yaml"


@pytest.fixture(scope="module")
def paper():
    return wanted([PAPER], ROOT)


def test_each_repository_of_scale_paper_is_asked_for_once(paper):
    keys = [(kind, repository) for kind, repository, _ in paper]
    assert len(keys) == len(set(keys))
    entries = {name: entry for named in paper.values() for name, entry in named.items()}
    assert {"x-alma-13b-group2", "ArmoRM-Llama3-8B-v0.1", "mp-86k", "care", "x-alpacaeval"} <= set(entries)
    assert not set(entries) & {"gpt-4o", "gemma-3-270m", "mini-twins"}  # on a server, from packages, ours
    assert {name for name, entry in entries.items() if entry["kind"] == "classifier"} == {
        "ArmoRM-Llama3-8B-v0.1", "Llama-3-OffsetBias-RM-8B", "Skywork-Reward-Gemma-2-27B", "INF-ORM-Llama3.1-70B",
    }  # fmt: skip


def model(*architectures):
    """Return the small files of a model's repository."""
    return {"config.json": json.dumps({"architectures": architectures}).encode()}


@pytest.fixture
def hub(paper):
    """A hub that has the small files of all of scale paper's models, and a card of each dataset."""
    server = Hub()
    for kind, repository, _ in paper:
        files = model("LlamaModel") if kind == "model" else {"README.md": b"---\n{}\n---\n"}
        server.repositories[f"{kind}s", repository] = files
    yield server
    server.close()


def hub_check(hub, tmp_path, *options, **environment):
    ours = tmp_path / "ours.yaml"  # no question is fetched from GitHub
    ours.write_text("judge_wordings: ours", encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    own = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "cache"), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    call = "import sys; from polyreward.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", call, "hub-check", "--configfile", *options, "--configfile", str(ours)]
    whole = {**clean, **own, **environment}
    return subprocess.run(command, env=whole, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
def test_all_that_the_hub_refuses_is_said_at_once_with_what_to_do(hub, paper, tmp_path):
    hub.gated["meta-llama/Llama-3.2-3B-Instruct"] = "hf_good"
    del hub.repositories["models", "haoranxu/X-ALMA-13B-Group6"]
    armo, inform = "RLHFlow/ArmoRM-Llama3-8B-v0.1", "infly/INF-ORM-Llama3.1-70B"
    hub.repositories["models", armo] = model("LlamaForRewardModelWithGating")
    hub.repositories["models", inform] = model("SomethingNew")
    ran = hub_check(hub, tmp_path, PAPER)
    assert ran.returncode == 1
    assert "polyreward: hub-check: 3 problems\n" in ran.stderr
    for said in (
        f"gated: its authors ask you to accept their terms. Do so on {hub.url}/meta-llama/Llama-3.2-3B-Instruct",
        "model haoranxu/X-ALMA-13B-Group6 at any revision: the hub knows no such repository",
        "its head `SomethingNew` is known neither to transformers nor here",
    ):
        assert said in ran.stderr
    assert not [name for name, _ in hub.files_asked() if name != "config.json"]  # nothing that costs
    hub.repositories["models", "haoranxu/X-ALMA-13B-Group6"] = model()
    hub.repositories["models", inform] = model("INFORMForSequenceClassification")
    ran = hub_check(hub, tmp_path, PAPER, HF_TOKEN="hf_good", HF_HOME=str(tmp_path / "another cache"))
    assert ran.returncode == 0, ran.stderr
    assert f"INFORMForSequenceClassification at {COMMIT[:7]} (INF-ORM-Llama3.1-70B)" in ran.stdout
    assert len(ran.stdout.splitlines()) == len(paper)


@pytest.mark.slow
def test_a_dataset_whose_columns_changed_is_named_with_those_that_are_there(hub, tmp_path):
    overlay = tmp_path / "small.yaml"
    names = ["safe-rlhf", "helpsteer2"]
    overlay.write_text(yaml.safe_dump({"pool": {"datasets": names}, "passages": "mini-passages"}))
    files = b"[{split: train, path: train.jsonl}]"
    card = b"---\nconfigs:\n- {config_name: default, data_files: " + files + b"}\n---\n"
    line = {"question": "Q", "response_0": "a", "response_1": "b", "safer_response_id": 0}
    safe = {"README.md": card, "train.jsonl": json.dumps(line).encode()}
    hub.repositories["datasets", "PKU-Alignment/PKU-SafeRLHF"] = safe
    hub.repositories["datasets", "nvidia/HelpSteer2"] = {"README.md": card}
    ran = hub_check(hub, tmp_path, str(overlay), "--data")
    assert ran.returncode == 1
    assert "polyreward: hub-check: 2 problems\n" in ran.stderr
    assert "no column prompt; it has question, response_0, response_1, safer_response_id:" in ran.stderr
    assert "correct `config`, `split` or `files` of helpsteer2" in ran.stderr


def test_published_words_that_cannot_be_fetched_are_named_next_to_repositories(monkeypatch):
    def fetch(wording):
        if "alpaca" in wording["url"]:
            raise PolyrewardError("gone\n  - moved")

    monkeypatch.setattr(checks, "wanted", lambda *arguments: {})
    monkeypatch.setattr(checks, "published_question", fetch)
    assert "hub-check: 1 problem\n  - gone\n      - moved" in refused(checks.check_hub, [PAPER], ROOT, False)
    monkeypatch.setattr(checks, "published_question", lambda wording: None)
    lines = checks.check_hub([PAPER], ROOT, with_data=False)
    assert [line.split(":")[0] for line in lines] == ["question rewardbench", "question alpacaeval"]
    assert checks.check_hub([], ROOT, with_data=False) == []  # scale mini has our words


# --- before the first job, with a stand-in for the hub's client

BASE, JUDGE = "meta-llama/Llama-3.2-1B-Instruct", "RLHFlow/ArmoRM-Llama3-8B-v0.1"
SAFE, CULTURE = "PKU-Alignment/PKU-SafeRLHF", "geyang627/CARE"
LINES = {
    SAFE: {"prompt": "Q", "response_0": "a", "response_1": "b", "safer_response_id": 0},
    CULTURE: {"question": "Q", "response": "a", "human_rating": 3},
}
JOBS = [
    Job("base_model", {"base": "llama-3.2-1b-instruct"}, None),
    Job("hub_model", {"repository": hub_name(JUDGE, "main")}, None),
    *(Job("dataset", {"dataset": name}, None) for name in ("safe-rlhf", "care", "mini-pool")),
    Job("table1", {}, None),
]


def refusal(kind, status):
    return kind("no", response=httpx2.Response(status, request=httpx2.Request("GET", "https://hub")))


@pytest.fixture
def client(tmp_path, monkeypatch):
    """What the hub's client answers: `errors` of repositories, those in its `cache`, and all that is asked."""
    state = SimpleNamespace(errors={}, cache=set(), asked=[], folder=tmp_path / "hub")

    class Api:
        def auth_check(self, repository, repo_type):
            state.asked.append(repository)
            if error := state.errors.get(repository) or state.errors.get("all"):
                raise error

        def repo_info(self, *_, **__):
            return SimpleNamespace(sha=COMMIT)

    def cached(repository, **_):
        if repository not in state.cache:
            raise LocalEntryNotFoundError("not there")

    load = datasets.load_dataset
    for repository, line in LINES.items():
        write_text(json.dumps(line) + "\n", state.folder / repository / "train.jsonl")
    monkeypatch.setattr("polyreward.sources.hub.HfApi", Api)
    monkeypatch.setattr("polyreward.sources.hub.snapshot_download", cached)
    local = lambda at, *more, revision, **options: load(str(state.folder / at), *more, **options)  # noqa: E731
    monkeypatch.setattr(datasets, "load_dataset", local)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.chdir(tmp_path)
    return state


@pytest.fixture(scope="module")
def gpu():
    scale = read_models(["workflow/scales/gpu.yaml"], ROOT)
    scale.catalog.datasets["safe-rlhf"]["config"] = None  # the stand-in's folder has no card
    return scale


def problems(models, missing="stop"):
    named = {"off_the_shelf": ["ArmoRM-Llama3-8B-v0.1"], "missing": missing}
    return hub_problems(JOBS, Models(models.settings.model_copy(update=named), models.catalog), {})


def test_what_is_gated_gone_or_renamed_is_named_at_once_with_what_to_do(client, gpu):
    client.errors = {BASE: refusal(GatedRepoError, 403), JUDGE: refusal(RepositoryNotFoundError, 404)}
    renamed = {"question": "Q", "response": "a", "rating": 3}
    write_text(json.dumps(renamed) + "\n", client.folder / CULTURE / "train.jsonl")
    (client.folder / SAFE / "train.jsonl").rename(client.folder / SAFE / "test.jsonl")
    split, columns, judge, base = sorted(problems(gpu))
    assert columns.startswith(f"dataset {CULTURE}, config None, split train: 1 problem")
    assert "no column human_rating; it has question, response, rating: correct `columns` of care" in columns
    assert split.startswith(f"dataset {SAFE}, config None, split train: does not load")
    assert "correct `config`, `split` or `files` of safe-rlhf" in split
    assert judge.startswith(f"model {JUDGE} at any revision: the hub knows no such repository")
    assert judge.endswith("; or set `missing: row`, and its rows are empty")
    assert base.startswith(f"model {BASE} at any revision: gated: its authors ask you to accept their terms.")
    assert f"Do so on {constants.ENDPOINT}/{BASE}" in base and "`hf auth login`" in base
    assert "missing: row" not in base  # a base is no row


def test_with_missing_row_a_refused_judge_is_announced_and_stops_nothing(client, gpu, capsys):
    client.errors = {JUDGE: refusal(GatedRepoError, 401)}
    assert problems(gpu, "row") == []
    said = capsys.readouterr().err
    assert said.startswith("hub: ArmoRM-Llama3-8B-v0.1: empty rows (`missing: row`), unless this changes:")
    assert "accept their terms" in said
    client.errors = {BASE: refusal(GatedRepoError, 401)}
    assert len(problems(gpu, "row")) == 1


def test_a_refused_token_is_a_problem_and_an_outage_is_said_in_one_line(client, gpu, capsys):
    client.errors = {"all": refusal(HfHubHTTPError, 401)}
    found = problems(gpu)
    assert len(found) == 4 and all("the hub refused the token" in text for text in found)
    for error in (httpx2.ConnectError("no route"), refusal(HfHubHTTPError, 503)):
        client.errors = {"all": error}
        assert problems(gpu) == []
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1
        assert said.startswith("hub: access and columns are not all checked, since it did not answer: ")


def test_each_repository_is_asked_for_once_unless_it_is_cached_and_none_offline_or_without_the_hub(
    client, gpu, capsys, monkeypatch
):
    assert problems(gpu) == []
    assert sorted(client.asked) == sorted([BASE, JUDGE, SAFE, CULTURE])
    client.asked.clear()
    client.cache = {BASE, SAFE}
    assert problems(gpu) == []
    assert sorted(client.asked) == sorted([JUDGE, CULTURE])
    client.asked.clear()
    assert hub_problems(JOBS[-2:], gpu, {}) == []
    assert client.asked == [] and capsys.readouterr().err == ""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert problems(gpu) == [] and client.asked == []
    assert capsys.readouterr().err == "hub: 2 repositories are not checked, since HF_HUB_OFFLINE is set\n"
