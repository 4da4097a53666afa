"""The hub, spoken to as huggingface_hub does it: a server on loopback, a cache of its own, settings by
environment variables."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hub_layout import as_repository
from hub_server import COMMIT, Hub

from polyreward.core.errors import PolyrewardError

pytestmark = pytest.mark.slow  # each call is a Python of its own

WEIGHTS = bytes(range(256)) * 4096  # 1 MiB
MODEL = {
    "config.json": b"{}",
    "tokenizer_config.json": b"{}",
    "model.safetensors": WEIGHTS,
    "original/consolidated.pth": b"x",
}
REPOSITORY = "someone/small-model"
FETCH = "import sys; from polyreward.sources.hub import fetched_model; print(fetched_model(*sys.argv[1:]))"
RESOLVE = "import sys; from polyreward.sources.hub import commit_of; print(commit_of(*sys.argv[1:]))"
PRINT_ERROR = """import sys
from polyreward.core.errors import PolyrewardError
try:
    {}
except PolyrewardError as error:
    sys.exit(f"{{type(error).__name__}}: {{error}}")"""


@pytest.fixture
def hub():
    server = Hub()
    server.repositories[("models", REPOSITORY)] = dict(MODEL)
    yield server
    server.close()


@pytest.fixture
def ask(hub, tmp_path):
    """Run one call in a Python of its own, as a job does; returns what it prints, or raises its
    PolyrewardError's text."""

    def run(call: str, *arguments: str, **environment: str) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        settings = {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "cache"),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            **environment,
        }
        imports, act = call.rsplit("; ", 1)
        ran = subprocess.run(
            [sys.executable, "-c", PRINT_ERROR.format(f"{imports}; {act}"), *arguments],
            env={**clean, **settings}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if ran.returncode:
            raise PolyrewardError(ran.stderr)
        return ran.stdout.strip()

    return run


def refused(call, *arguments, **environment) -> str:
    with pytest.raises(PolyrewardError) as error:
        call(*arguments, **environment)
    assert "Traceback" not in str(error.value)
    return str(error.value)


def test_a_model_is_fetched_at_its_commit_without_a_second_copy_of_its_weights(ask, hub):
    folder = Path(ask(FETCH, REPOSITORY, COMMIT))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        name: content for name, content in MODEL.items() if not name.startswith("original")
    }
    assert not [path for _, path, _ in hub.asked if "/revision/" in path]  # a commit is asked of nobody


def test_a_model_without_safetensors_or_a_configuration_is_refused_and_pickles_are_not_fetched(ask, hub):
    hub.repositories[("models", REPOSITORY)] = {"config.json": b"{}", "pytorch_model.bin": b"weights"}
    assert "has no weights as safetensors" in refused(ask, FETCH, REPOSITORY, COMMIT)
    assert not [path for _, path, _ in hub.asked if path.endswith(".bin")]
    hub.repositories[("models", "someone/other")] = {"model.safetensors": b"x"}
    text = refused(ask, FETCH, "someone/other", COMMIT)
    assert "holds no config.json; name a repository of transformers' layout" in text


def test_what_the_cache_holds_is_asked_of_nobody(ask, hub):
    first = ask(FETCH, REPOSITORY, COMMIT)
    hub.asked.clear()
    assert ask(FETCH, REPOSITORY, COMMIT) == first
    assert not [path for _, path, _ in hub.asked if REPOSITORY in path]
    assert ask(FETCH, REPOSITORY, COMMIT, HF_HUB_OFFLINE="1") == first
    hub.close()
    assert ask(FETCH, REPOSITORY, COMMIT) == first


def test_a_moving_revision_is_resolved_and_a_commit_is_its_own(ask, hub):
    assert ask(RESOLVE, REPOSITORY, "model", "main") == COMMIT
    hub.asked.clear()
    assert ask(RESOLVE, REPOSITORY, "model", "d" * 40) == "d" * 40
    assert hub.asked == []


def test_a_cut_connection_is_taken_up_where_it_broke(ask, hub):
    # The client writes pieces of 10 MB; the last whole one is where it goes on.
    weights, piece = WEIGHTS * 24, 10 * 1024**2
    hub.repositories[("models", REPOSITORY)]["model.safetensors"] = weights
    hub.cuts["model.safetensors"] = 2 * piece + 300_000
    folder = Path(ask(FETCH, REPOSITORY, COMMIT))
    assert (folder / "model.safetensors").read_bytes() == weights
    spans = [span for name, span in hub.files_asked() if name == "model.safetensors"]
    assert spans == [None, f"bytes={2 * piece}-"]


def test_files_that_came_whole_are_kept_when_another_fails(ask, hub):
    hub.forbidden.add("model.safetensors")
    assert "the hub forbids it to your token" in refused(ask, FETCH, REPOSITORY, COMMIT)
    hub.forbidden.clear()
    hub.asked.clear()
    assert Path(ask(FETCH, REPOSITORY, COMMIT), "model.safetensors").read_bytes() == WEIGHTS
    assert [name for name, _ in hub.files_asked()] == ["model.safetensors"]


def test_a_repository_or_a_revision_that_is_not_there_is_named(ask, hub):
    for call, arguments in ((FETCH, [COMMIT]), (RESOLVE, ["model", "main"])):
        text = refused(ask, call, "nobody/nothing", *arguments)
        assert text.startswith(f"UnavailableError: model nobody/nothing at {arguments[-1]}: ")
        assert f"it is private ({hub.url}/nobody/nothing); correct `id`" in text and "HF_TOKEN" in text
    text = refused(ask, RESOLVE, REPOSITORY, "model", "v9")
    assert text.startswith(
        f"UnavailableError: model {REPOSITORY} at v9: the hub has the repository, but no such"
    )


def test_a_gated_model_says_how_to_accept_its_terms_and_set_a_token(ask, hub):
    hub.gated[REPOSITORY] = "hf_good"
    text = refused(ask, FETCH, REPOSITORY, COMMIT, HF_TOKEN="hf_bad")
    assert text.startswith("UnavailableError: ") and "hf_bad" not in text and "hf auth login" in text
    assert f"accept their terms. Do so on {hub.url}/{REPOSITORY}, set HF_TOKEN to a read token" in text
    folder = Path(ask(FETCH, REPOSITORY, COMMIT, HF_TOKEN="hf_good"))
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


def test_an_empty_cache_without_a_network_says_what_to_do(ask, hub, tmp_path):
    """And is no UnavailableError, which may be an empty row in a table (`missing: row`)."""
    text = refused(ask, FETCH, REPOSITORY, COMMIT, HF_HUB_OFFLINE="1")
    assert text.startswith("PolyrewardError: ")
    assert f"HF_HUB_OFFLINE is set, and the cache ({tmp_path / 'cache'}/hub) is missing a part" in text
    command = re.search("run `hf (.*?)`", text)[1].split()
    ask("import sys; from huggingface_hub.cli.hf import main; main()", *command)  # as it says
    assert Path(ask(FETCH, REPOSITORY, COMMIT, HF_HUB_OFFLINE="1"), "config.json").is_file()
    hub.close()
    text = refused(ask, RESOLVE, REPOSITORY, "model", "main")
    assert text.startswith("PolyrewardError: ") and f"the connection to {hub.url} failed" in text
    assert "files that came whole are kept" in text


# --- a dataset over the wire


def test_a_dataset_is_fetched_and_loaded_as_the_hub_has_it(ask, hub):
    records = [{"link": f"l{n}", "question_number": 1, "flores_passage": f"en {n}"} for n in range(3)]
    files = {"data/eng_Latn.jsonl": records}
    hub.repositories[("datasets", "f/b")] = as_repository(
        files, {"eng_Latn": {"test": "data/eng_Latn.jsonl"}}
    )
    entry = {
        "id": "f/b", "revision": COMMIT, "holds": "passages", "config": None, "split": "test", "files": None,
        "key": ["link", "question_number"], "columns": {"text": "flores_passage"}, "languages": {"en": {"config": "eng_Latn"}},
    }  # fmt: skip
    found = "print(json.dumps(hub_rows(json.loads(sys.argv[1]), 'b')))"
    call = f"import sys, json; from polyreward.sources.hub_data import hub_rows; {found}"
    assert json.loads(ask(call, json.dumps(entry)))[2] == {"id": "l2-1", "en": "en 2"}
