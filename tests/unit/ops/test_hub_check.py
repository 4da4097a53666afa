"""`polyreward hub-check`: a scale's repositories on a hub on loopback, all problems at once."""

import json
import os
import subprocess
import sys

import pytest
import yaml
from hub_server import COMMIT, Hub
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.ops import hub_check as checks
from polyreward.ops.hub_check import wanted

PAPER = "workflow/scales/paper.yaml"


@pytest.fixture(scope="module")
def paper():
    return wanted([PAPER], ROOT)


def test_each_repository_of_scale_paper_is_asked_for_once(paper):
    keys = [(kind, repository) for kind, repository, _ in paper]
    assert len(keys) == len(set(keys))
    entries = {name: entry for named in paper.values() for name, entry in named.items()}
    assert {
        "x-alma-13b-group2",
        "ArmoRM-Llama3-8B-v0.1",
        "mp-86k",
        "rewardbench",
        "care",
        "belebele",
        "x-alpacaeval",
    } <= set(entries)
    assert not set(entries) & {"gpt-4o", "gemma-3-270m", "mini-twins"}  # on a server, from packages, ours
    assert {name for name, entry in entries.items() if entry["kind"] == "classifier"} == {
        "ArmoRM-Llama3-8B-v0.1", "Llama-3-OffsetBias-RM-8B", "Skywork-Reward-Gemma-2-27B", "INF-ORM-Llama3.1-70B",
    }  # fmt: skip


@pytest.fixture
def hub(paper):
    """A hub that has the small files of all of scale paper's models, and one line of each dataset."""
    server = Hub()
    for kind, repository, _ in paper:
        if kind == "model":
            server.repositories["models", repository] = {
                "config.json": json.dumps({"architectures": ["LlamaModel"]}).encode()
            }
        else:
            server.repositories["datasets", repository] = {"README.md": b"---\n{}\n---\n"}
    yield server
    server.close()


def hub_check(hub, tmp_path, *options, **environment):
    ours = tmp_path / "ours.yaml"  # no question is fetched from GitHub
    ours.write_text("judge_wordings: ours", encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path / "cache"),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        **environment,
    }
    call = "import sys; from polyreward.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", call, "hub-check", "--configfile", *options, "--configfile", str(ours)], env={**clean, **settings}, cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_all_that_the_hub_refuses_is_said_at_once_with_what_to_do(hub, paper, tmp_path):
    hub.gated["meta-llama/Llama-3.2-3B-Instruct"] = "hf_good"
    del hub.repositories["models", "haoranxu/X-ALMA-13B-Group6"]
    armo = {"architectures": ["LlamaForRewardModelWithGating"]}
    hub.repositories["models", "RLHFlow/ArmoRM-Llama3-8B-v0.1"] = {"config.json": json.dumps(armo).encode()}
    hub.repositories["models", "infly/INF-ORM-Llama3.1-70B"] = {
        "config.json": b'{"architectures": ["SomethingNew"]}'
    }
    ran = hub_check(hub, tmp_path, PAPER)
    assert ran.returncode == 1
    assert "polyreward: hub-check: 3 problems\n" in ran.stderr
    assert (
        "gated: its authors ask you to accept their terms. Do so on"
        f" {hub.url}/meta-llama/Llama-3.2-3B-Instruct" in ran.stderr
    )
    assert "model haoranxu/X-ALMA-13B-Group6 at any revision: the hub knows no such repository" in ran.stderr
    assert "its head `SomethingNew` is known neither to transformers nor here" in ran.stderr
    assert not [name for name, _ in hub.files_asked() if name != "config.json"]  # nothing that costs
    hub.repositories["models", "haoranxu/X-ALMA-13B-Group6"] = {"config.json": b"{}"}
    hub.repositories["models", "infly/INF-ORM-Llama3.1-70B"] = {
        "config.json": b'{"architectures": ["INFORMForSequenceClassification"]}'
    }
    ran = hub_check(hub, tmp_path, PAPER, HF_TOKEN="hf_good", HF_HOME=str(tmp_path / "another cache"))
    assert ran.returncode == 0, ran.stderr
    assert f"INFORMForSequenceClassification at {COMMIT[:7]} (INF-ORM-Llama3.1-70B)" in ran.stdout
    assert len(ran.stdout.splitlines()) == len(paper)


@pytest.mark.slow
def test_a_dataset_whose_columns_changed_is_named_with_those_that_are_there(hub, tmp_path):
    overlay = tmp_path / "small.yaml"
    names = ["safe-rlhf", "helpsteer2"]
    overlay.write_text(yaml.safe_dump({"pool": {"datasets": names}, "passages": "mini-passages"}))
    card = (
        b"---\nconfigs:\n- config_name: default\n  data_files:\n  - {split: train, path: train.jsonl}\n---\n"
    )
    line = {"question": "Q", "response_0": "a", "response_1": "b", "safer_response_id": 0}
    hub.repositories["datasets", "PKU-Alignment/PKU-SafeRLHF"] = {
        "README.md": card,
        "train.jsonl": json.dumps(line).encode(),
    }
    hub.repositories["datasets", "nvidia/HelpSteer2"] = {"README.md": card}
    ran = hub_check(hub, tmp_path, str(overlay), "--data")
    assert ran.returncode == 1
    assert "polyreward: hub-check: 2 problems\n" in ran.stderr
    assert (
        "no column prompt; it has question, response_0, response_1, safer_response_id: correct `columns` of"
        " safe-rlhf" in ran.stderr
    )
    assert "correct `config`, `split` or `files` of helpsteer2" in ran.stderr


def test_published_words_that_cannot_be_fetched_are_named_next_to_repositories(monkeypatch):
    def fetch(wording):
        if "alpaca" in wording["url"]:
            raise PolyrewardError("gone\n  - moved")

    monkeypatch.setattr(checks, "wanted", lambda *arguments: {})
    monkeypatch.setattr(checks, "published_question", fetch)
    with pytest.raises(PolyrewardError, match="hub-check: 1 problem\n  - gone\n      - moved"):
        checks.check_hub([PAPER], ROOT, with_data=False)
    monkeypatch.setattr(checks, "published_question", lambda wording: None)
    lines = checks.check_hub([PAPER], ROOT, with_data=False)
    assert [line.split(":")[0] for line in lines] == ["question rewardbench", "question alpacaeval"]
    assert checks.check_hub([], ROOT, with_data=False) == []  # scale mini has our words
