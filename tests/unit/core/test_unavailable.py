"""Reward models without scores: the reason in the file, and which jobs may end with one."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pandas as pd
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from support import script

from polyreward.core.errors import LONGEST, PolyrewardError, UnavailableError, first_line
from polyreward.core.files import write_text
from polyreward.core.seals import intact, sealed_folder
from polyreward.core.tables import read_scores, unavailable_reasons, write_scores, write_unavailable
from polyreward.core.unavailable import (
    is_unavailable,
    missing_reason,
    model_or_reason,
    policy_or_reason,
    refuse_missing,
    scores_or_reason,
    unavailable_files,
    with_reasons,
)

THERE = pd.DataFrame({"id": ["a"], "score_chosen": [1.0]})
SHELF = {
    "off_the_shelf": ["rm"],
    "reward_models": {"mine": {}},
    "think_as_locals": {"others": ["judge", "mine"]},
}
ROW, STOP = ({"missing": missing, **SHELF} for missing in ("row", "stop"))


def job(folder, config=ROW, name="rm"):
    """Return what a script of Snakemake sees of a job with two score files and a table."""
    files = [str(folder / f"b/{name}/{part}.parquet") for part in ("en", "es")]
    return SimpleNamespace(config=config, output=[*files, str(folder / "replies.csv")])


@pytest.mark.parametrize("name", ["rm", "judge"])
def test_a_job_that_fails_leaves_its_reason_in_all_its_scores(tmp_path, name):
    found = job(tmp_path, name=name)
    with scores_or_reason(found, name):
        write_scores(THERE, found.output[0], benchmark="b", scorer=name, language="en")
        raise UnavailableError("it has a head that nobody knows; leave it out\n  - more")
    for path in found.output[:2]:
        assert unavailable_reasons(path) == {name: "it has a head that nobody knows; leave it out"}
        assert read_scores(path).empty
    assert not (tmp_path / "replies.csv").exists()


@pytest.mark.parametrize(("config", "name"), [(STOP, "rm"), (ROW, "mine")])
@pytest.mark.parametrize("or_reason", [scores_or_reason, policy_or_reason])
def test_only_what_is_of_the_catalog_may_be_missing_and_only_by_the_setting(
    tmp_path, or_reason, config, name
):
    with pytest.raises(UnavailableError, match="gone"), or_reason(job(tmp_path, config, name), name):
        raise UnavailableError("gone")
    assert not list(tmp_path.iterdir())


def test_a_model_may_be_missing_wherever_its_name_is_among_the_wildcards(tmp_path, monkeypatch):
    """The anchor's rule, and that of own benchmarks, have the benchmark first."""
    module, found = script("score/ready_made_scores"), job(tmp_path)

    def gated(*given):
        raise UnavailableError("rm: gated")

    monkeypatch.setattr(module, "load_reward_model", gated)
    found.wildcards = SimpleNamespace(benchmark="b", scorer="rm")
    found.params = SimpleNamespace(entry={}, scoring={}, cache=None)
    module.main(found)
    assert unavailable_reasons(found.output[0]) == {"rm": "rm: gated"}


NO_MEMORY = "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 99"


@pytest.mark.parametrize("error", [
    UnavailableError("rm: gated"), torch.OutOfMemoryError("CUDA out of memory"), RuntimeError(NO_MEMORY), MemoryError(),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_a_model_that_cannot_be_had_or_held_is_an_empty_row(tmp_path, error):
    found = job(tmp_path)
    with scores_or_reason(found, "rm"):
        raise error
    assert all(read_scores(path).empty for path in found.output[:2])


@pytest.mark.parametrize("error", [
    PolyrewardError("judge server http://a/v1: no connection"),
    LocalEntryNotFoundError("cannot find the requested files"),
    httpx2.ConnectError("connection refused"),
    OSError("We couldn't connect to the hub to load this file"),  # as transformers says it
    KeyError("score_chosen"),
    ValueError("operands could not be broadcast together"),
    RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
    AttributeError("'NoneType' object has no attribute 'shape'"),
    OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "work/3_translated/rows.jsonl"),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_an_outage_or_a_fault_of_ours_or_of_the_machine_stops_the_job(tmp_path, error):
    with pytest.raises(type(error)), scores_or_reason(job(tmp_path), "rm"):
        raise error
    assert not list(tmp_path.iterdir())


def brought(body: str):
    """Return the error that a function of a model's own file raises."""
    code = compile(f"def forward():\n    {body}\n", "/cache/transformers_modules/a/b/modeling.py", "exec")
    names: dict = {"httpx2": httpx2}
    exec(code, names)  # noqa: S102 - as transformers runs a model's own file
    with pytest.raises(Exception) as caught:  # noqa: B017, PT011
        names["forward"]()
    return caught.value


def test_a_fault_in_the_code_that_a_model_brings_is_the_model_s_and_an_outage_in_it_is_not():
    assert is_unavailable(brought("return None.shape"))
    assert not is_unavailable(AttributeError("elsewhere"))
    assert not is_unavailable(brought("raise httpx2.ConnectError('no route')"))
    assert not is_unavailable(brought("raise ConnectionResetError('by peer')"))


def test_what_stands_for_missing_models_is_listed_and_told_by_who_loads_one(tmp_path):
    work = tmp_path / "work"
    scores, record = work / "5_scores/b/rm/en.parquet", work / "1_sources/revisions/model/a--b.yaml"
    write_unavailable("gated", scores, benchmark="b", scorer="rm", language="en")
    write_scores(THERE, scores.with_name("es.parquet"), benchmark="b", scorer="rm", language="es")
    with sealed_folder(work / "4_models/hub/rm") as folder, model_or_reason(folder, job(tmp_path)):
        raise UnavailableError("gone")
    with pytest.raises(UnavailableError, match="^gone$"):
        refuse_missing(work / "4_models/hub/rm")
    refuse_missing(tmp_path)
    write_text("repository: a/b\nmissing: no such\n", record)
    write_text("repository: a/c\ncommit: abc\n", record.with_name("a--c.yaml"))
    found = {
        Path(path).relative_to(work).as_posix(): why for path, why in unavailable_files(tmp_path).items()
    }
    assert found == {
        "1_sources/revisions/model/a--b.yaml": "no such",
        "4_models/hub/rm": "gone",
        "5_scores/b/rm/en.parquet": "gated",
    }


def test_a_policy_whose_reward_model_is_missing_leaves_the_reason_in_its_folder(tmp_path):
    found = SimpleNamespace(config=ROW, output=[str(tmp_path / "grpo_rm")])
    with policy_or_reason(found, "rm"):
        raise UnavailableError("rm: gone; leave it out\n  - more")
    assert missing_reason(intact(found.output[0])) == "rm: gone; leave it out"
    assert missing_reason(tmp_path) is None


@pytest.mark.parametrize(("config", "error"), [(STOP, UnavailableError), (ROW, PolyrewardError)])
def test_a_broken_connection_stops_as_does_the_setting(tmp_path, config, error):
    with pytest.raises(error), model_or_reason(tmp_path, job(tmp_path, config)):
        raise error("the connection failed")
    assert not list(tmp_path.iterdir())


def test_a_reason_is_one_short_line_which_a_caption_says_once():
    assert first_line(PolyrewardError("one.\ntwo")) == "one"
    assert first_line(ValueError("bad")) == "ValueError: bad"
    assert len(first_line(PolyrewardError("x" * 999))) == LONGEST
    table = pd.DataFrame({"name": ["a", "b", "b"], "missing": [None, "gone", "gone"]})
    assert with_reasons("Table.", table, "name") == "Table. Not to be had: b (gone)."
    assert with_reasons("Table.", table[:1], "name") == "Table."
