"""Reward models without scores: the reason in the file, and which jobs may end with one."""

import errno
import os
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError

from polyreward.core.errors import LONGEST, NotAvailableError, PolyrewardError, in_words
from polyreward.core.seals import intact
from polyreward.core.tables import read_scores, write_scores
from polyreward.core.unavailable import (
    cannot_be_had,
    missing_reason,
    model_or_reason,
    policy_or_reason,
    present,
    reasons,
    refuse_missing,
    scores_or_reason,
    with_reasons,
)

THERE = pd.DataFrame({"id": ["a"], "score_chosen": [1.0]})
ROW, STOP = (
    {
        "missing": missing,
        "off_the_shelf": ["rm"],
        "reward_models": {"mine": {}},
        "think_as_locals": {"others": ["judge", "mine"]},
    }
    for missing in ("row", "stop")
)


def job(folder, config, name="rm"):
    """Return what a script of Snakemake sees of a job with two score files and a table."""
    files = [str(folder / f"{part}.parquet") for part in ("en", "es")]
    return SimpleNamespace(config=config, wildcards=[name], output=[*files, str(folder / "replies.csv")])


def test_a_job_that_fails_leaves_its_reason_in_all_its_scores(tmp_path):
    found = job(tmp_path, ROW)
    with scores_or_reason(found):
        write_scores(THERE, found.output[0])
        raise PolyrewardError("rm: a head that nobody knows; leave it out\n  - more")
    tables = {path: read_scores(path) for path in found.output[:2]}
    assert (
        set(reasons(tables).values()) == {"rm: a head that nobody knows; leave it out"}
        and len(reasons(tables)) == 2
    )
    assert all(table.empty for table in tables.values())
    assert not (tmp_path / "replies.csv").exists()


@pytest.mark.parametrize(("config", "name"), [(STOP, "rm"), (ROW, "mine")])
def test_only_what_is_off_the_shelf_may_be_missing_and_only_by_the_setting(tmp_path, config, name):
    found = job(tmp_path, config, name)
    with pytest.raises(ValueError, match="broken"), scores_or_reason(found):
        raise ValueError("broken")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error",
    [
        PolyrewardError("rm: a head that nobody knows"),
        NotAvailableError("rm: gated"),
        OSError("a/b is not a local folder and is not a valid model identifier"),  # as transformers says it
        LocalEntryNotFoundError("cannot find the requested files"),
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError(
            "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes"
        ),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_model_that_cannot_be_had_or_held_is_an_empty_row(tmp_path, error):
    found = job(tmp_path, ROW)
    with scores_or_reason(found):
        raise error
    assert all(read_scores(path).empty for path in found.output[:2])


@pytest.mark.parametrize(
    "error",
    [
        KeyError("score_chosen"),
        ValueError("operands could not be broadcast together"),
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        AttributeError("'NoneType' object has no attribute 'shape'"),
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "work/3_translated/rows.jsonl"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_fault_of_ours_or_of_the_machine_stops_the_job(tmp_path, error):
    with pytest.raises(type(error)), scores_or_reason(job(tmp_path, ROW)):
        raise error
    assert not list(tmp_path.iterdir())


def test_a_fault_in_the_code_that_a_model_brings_is_the_model_s():
    code = compile(
        "def forward():\n    return None.shape\n", "/cache/transformers_modules/a/b/modeling.py", "exec"
    )
    names: dict = {}
    exec(code, names)  # noqa: S102 - as transformers runs a model's own file
    with pytest.raises(AttributeError) as caught:
        names["forward"]()
    assert cannot_be_had(caught.value) and not cannot_be_had(AttributeError("elsewhere"))


def test_a_policy_whose_reward_model_is_missing_leaves_the_reason_in_its_folder(tmp_path):
    found = SimpleNamespace(config=ROW, wildcards=["rm"], output=[str(tmp_path / "grpo_rm")])
    with policy_or_reason(found):
        raise PolyrewardError("rm: gone; leave it out\n  - more")
    assert missing_reason(intact(found.output[0])) == "rm: gone; leave it out"
    assert missing_reason(tmp_path) is None
    for config, name in ((STOP, "rm"), (ROW, "mine")):
        other = SimpleNamespace(config=config, wildcards=[name], output=[str(tmp_path / "other")])
        with pytest.raises(ValueError, match="broken"), policy_or_reason(other):
            raise ValueError("broken")
    assert not (tmp_path / "other").exists()


def test_a_judge_of_the_catalog_beside_think_as_locals_may_be_missing_but_none_of_the_user_s_own(tmp_path):
    found = job(tmp_path, ROW, "judge")
    with scores_or_reason(found):
        raise PolyrewardError("judge: gone")
    assert reasons({"judge": read_scores(found.output[0])}) == {"judge": "judge: gone"}
    with pytest.raises(PolyrewardError, match="gone"), scores_or_reason(job(tmp_path, ROW, "mine")):
        raise PolyrewardError("mine: gone")


def test_ctrl_c_is_no_reason(tmp_path):
    with pytest.raises(KeyboardInterrupt), scores_or_reason(job(tmp_path, ROW)):
        raise KeyboardInterrupt


def test_a_job_that_does_well_keeps_its_scores(tmp_path):
    found = job(tmp_path, ROW)
    with scores_or_reason(found):
        write_scores(THERE, found.output[0])
    assert reasons({"rm": read_scores(intact(found.output[0]))}) == {}


def test_a_scorer_that_lacks_one_kind_of_scores_is_in_no_group(tmp_path):
    path = str(tmp_path / "en.parquet")
    with scores_or_reason(SimpleNamespace(config=ROW, wildcards=["rm"], output=[path])):
        raise PolyrewardError("gone")
    lacking = read_scores(path)
    assert present({"a": THERE, "rm": THERE}, {"a": THERE, "rm": lacking}) == [{"a": THERE}, {"a": THERE}]
    assert reasons({"rm": pd.concat([lacking, lacking])}) == {
        "rm": "gone"
    }  # of several cultures, put together


def test_a_model_that_the_hub_does_not_give_is_told_by_who_loads_it(tmp_path):
    with model_or_reason(tmp_path, job(tmp_path, ROW)):
        raise NotAvailableError("model a/b at main: gated")
    with pytest.raises(NotAvailableError, match="^model a/b at main: gated$"):
        refuse_missing(tmp_path)
    refuse_missing(tmp_path / "elsewhere")


@pytest.mark.parametrize(("config", "error"), [(STOP, NotAvailableError), (ROW, PolyrewardError)])
def test_a_broken_connection_stops_as_does_the_setting(tmp_path, config, error):
    with pytest.raises(error), model_or_reason(tmp_path, job(tmp_path, config)):
        raise error("the connection failed")
    assert not list(tmp_path.iterdir())


def test_a_reason_is_one_line_of_limited_length():
    assert in_words(PolyrewardError("one.\ntwo")) == "one"
    assert in_words(ValueError("bad")) == "ValueError: bad"
    assert len(in_words(PolyrewardError("x" * 999))) == LONGEST


def test_a_caption_tells_each_reason_once():
    table = pd.DataFrame({"name": ["a", "b", "b"], "missing": [None, "gone", "gone"]})
    assert with_reasons("Table.", table, "name") == "Table. Not to be had: b (gone)."
    assert with_reasons("Table.", table[:1], "name") == "Table."
