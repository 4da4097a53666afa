"""With `missing: row`, an outage of a judge's server ends the job, and the next run asks again."""

import errno
from types import SimpleNamespace

import httpx2
import pytest
from chat_server import ITEMS, completion, sensible
from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

from polyreward.core.errors import PolyrewardError, UnavailableError
from polyreward.core.unavailable import scores_or_reason
from polyreward.scoring import load

CONFIG = {
    "missing": "row",
    "off_the_shelf": ["judge"],
    "reward_models": {},
    "think_as_locals": {"others": []},
}


def answers(status, reply="no luck"):
    return lambda body, times: (status, {}, reply)


def cut(body, times):
    reply = completion("Let me think about")
    reply["choices"][0]["finish_reason"] = "length"
    return 200, {}, reply


OUTAGES = {
    "a refused key": (answers(401), "put a valid one in the environment variable JUDGE_KEY"),
    "too many requests": (answers(429), "429: no luck.* run again"),
    "a broken server": (answers(500), "500: no luck.* run again"),
    "an unknown model": (answers(404), "correct `model`, or `url`"),
    "a cut reply": (cut, "finish_reason: length.*Run again"),
    "an empty reply": (answers(200, completion(" ")), "an empty reply.*Run again"),
    "nonsense": (answers(200, "<html>"), "nonsense.*run again"),
}


def scored(judge, folder):
    """Score as a job of a catalog's judge does; return whether it left a file."""
    path = folder / "work/5_scores/b/judge/en.parquet"
    with scores_or_reason(SimpleNamespace(config=CONFIG, output=[str(path)]), "judge"):
        judge.score(ITEMS, "judge")
    return path.exists()


@pytest.mark.parametrize("kind", OUTAGES)
def test_an_outage_ends_the_job_and_the_next_run_asks_again(server, make, tmp_path, kind):
    server.respond, words = OUTAGES[kind]
    with pytest.raises(PolyrewardError, match=words):
        scored(make(), tmp_path)
    assert not (tmp_path / "work").exists()
    asked, server.respond = len(server.bodies), sensible
    assert not scored(make(), tmp_path)  # the job goes on to write scores
    assert len(server.bodies) > asked


def test_no_connection_ends_the_job(server, make, tmp_path):
    judge = make()
    server.shutdown()
    server.server_close()
    with pytest.raises(PolyrewardError, match="no connection .* then run again"):
        scored(judge, tmp_path)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx2.ConnectError("no route"), PolyrewardError),
        (LocalEntryNotFoundError("not in the cache"), PolyrewardError),
        (OSError(errno.ENOSPC, "No space left on device"), PolyrewardError),
        (
            RepositoryNotFoundError(
                "gone", response=httpx2.Response(404, request=httpx2.Request("GET", "http://a"))
            ),
            UnavailableError,
        ),
        (
            ValueError("requires you to execute the configuration file; set trust_remote_code=True"),
            UnavailableError,
        ),
        (KeyError("weights"), UnavailableError),
    ],
)
def test_loading_tells_an_outage_from_a_model_that_nobody_can_load(tmp_path, monkeypatch, error, kind):
    def fail(*args, **kwargs):
        try:
            raise error
        except Exception as cause:
            raise OSError("We couldn't load this file") from cause  # as transformers wraps it

    monkeypatch.setattr(load.AutoConfig, "from_pretrained", fail)
    with pytest.raises(PolyrewardError, match="couldn't load") as caught:
        load.load_classifier(tmp_path, "float32", 8, 8)
    assert type(caught.value) is kind
