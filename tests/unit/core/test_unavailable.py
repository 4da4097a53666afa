"""Reward models without scores: the reason in the file, and which jobs may end with one."""

import errno
import os
from pathlib import Path

import httpx2
import pandas as pd
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError

from polyreward.core.errors import LONGEST, PolyrewardError, UnavailableError, first_line
from polyreward.core.files import write_text
from polyreward.core.seals import intact, sealed_folder
from polyreward.core.tables import (
    read_scores,
    read_sealed,
    unavailable_reasons,
    write_scores,
    write_unavailable,
)
from polyreward.core.unavailable import (
    missing_reason,
    model_or_reason,
    policy_or_reason,
    refuse_missing,
    scores_or_reason,
    unavailable_files,
    with_reasons,
)

THERE = pd.DataFrame({"id": ["a"], "score_chosen": [1.0]})
LANGUAGES = ("en", "es", "ko")


def job(folder, name="rm"):
    """Return the score files of a job with what they are of, whatever their paths say."""
    places = {language: str(folder / f"{language}.parquet") for language in LANGUAGES}
    return {
        path: {"benchmark": "b", "scorer": name, "language": language} for language, path in places.items()
    }


def test_a_job_that_fails_leaves_its_reason_in_all_its_scores(tmp_path):
    files = job(tmp_path)
    write_scores(THERE, tmp_path / "ko.parquet", benchmark="b", scorer="rm", language="ko")  # by hand, before
    with scores_or_reason(files, "rm", True):
        raise UnavailableError("it has a head that nobody knows; leave it out\n  - more")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["en.parquet", "es.parquet", "ko.parquet"]
    for path, named in files.items():
        assert unavailable_reasons(path) == {"rm": "it has a head that nobody knows; leave it out"}
        assert read_scores(path).empty
        assert {key: read_sealed(path).attrs[key] for key in named} == named


def test_languages_that_were_scored_stay_where_a_later_one_finds_the_model_gone(tmp_path):
    files = job(tmp_path)
    with scores_or_reason(files, "rm", True):
        for path in list(files)[:2]:
            write_scores(THERE, path, **files[path])
        raise UnavailableError("the server has no such model any more")
    assert list(read_scores(files)["language"]) == ["en", "es"]
    assert [path for path in files if unavailable_reasons(path)] == [str(tmp_path / "ko.parquet")]


@pytest.mark.parametrize("or_reason", [
    lambda folder: scores_or_reason(job(folder), "rm", False),
    lambda folder: policy_or_reason(str(folder / "grpo_rm"), "rm", False),
    lambda folder: model_or_reason(folder, str(folder), False),
])  # fmt: skip
def test_what_may_not_be_missing_stops_the_job(tmp_path, or_reason):
    with pytest.raises(UnavailableError, match="gone"), or_reason(tmp_path):
        raise UnavailableError("gone")
    assert not list(tmp_path.iterdir())


def brought(body: str):
    """Return the error that a function of a model's own file raises."""
    code = compile(f"def forward():\n    {body}\n", "/cache/transformers_modules/a/b/modeling.py", "exec")
    names: dict = {"httpx2": httpx2}
    exec(code, names)  # noqa: S102 - as transformers runs a model's own file
    with pytest.raises(Exception) as caught:  # noqa: B017, PT011
        names["forward"]()
    return caught.value


NO_MEMORY = "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 99"


@pytest.mark.parametrize("error", [
    torch.OutOfMemoryError("CUDA out of memory"),
    RuntimeError(NO_MEMORY),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    MemoryError(),
    brought("return None.shape"),
    brought("raise httpx2.ConnectError('no route')"),
    PolyrewardError("judge server http://a/v1: no connection"),
    LocalEntryNotFoundError("cannot find the requested files"),
    OSError("We couldn't connect to the hub to load this file"),  # as transformers says it
    KeyError("score_chosen"),
    RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
    OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_no_memory_an_outage_or_a_fault_while_scoring_stops_the_job(tmp_path, error):
    with pytest.raises(type(error)), scores_or_reason(job(tmp_path), "rm", True):
        raise error
    assert not list(tmp_path.iterdir())


def test_what_stands_for_missing_models_is_listed_and_told_by_who_loads_one(tmp_path):
    work = tmp_path / "work"
    scores, record = work / "5_scores/b/rm/en.parquet", work / "1_sources/revisions/model/a--b.yaml"
    write_unavailable("gated", scores, benchmark="b", scorer="rm", language="en")
    write_scores(THERE, scores.with_name("es.parquet"), benchmark="b", scorer="rm", language="es")
    with sealed_folder(work / "4_models/hub/rm") as folder, model_or_reason(folder, str(folder), True):
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
    output = str(tmp_path / "grpo_rm")
    with policy_or_reason(output, "rm", True):
        raise UnavailableError("rm: gone; leave it out\n  - more")
    assert missing_reason(intact(output)) == "rm: gone; leave it out"
    assert missing_reason(tmp_path) is None


def test_a_broken_connection_stops_a_fetch(tmp_path):
    with pytest.raises(PolyrewardError), model_or_reason(tmp_path, str(tmp_path), True):
        raise PolyrewardError("the connection failed")
    assert not list(tmp_path.iterdir())


def test_a_reason_is_one_short_line_which_a_caption_says_once():
    assert first_line(PolyrewardError("one.\ntwo")) == "one"
    assert first_line(ValueError("bad")) == "ValueError: bad"
    assert len(first_line(PolyrewardError("x" * 999))) == LONGEST
    table = pd.DataFrame({"name": ["a", "b", "b"], "missing": [None, "gone", "gone"]})
    assert with_reasons("Table.", table, "name") == "Table. Not to be had: b (gone)."
    assert with_reasons("Table.", table[:1], "name") == "Table."
