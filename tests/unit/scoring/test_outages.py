"""With `missing: row`, an outage of a judge's server ends the job, and the next run asks again."""

import errno

import httpx2
import pytest
from chat_server import ITEMS, completion, sensible
from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

from polyreward.core.errors import PolyrewardError, UnavailableError
from polyreward.core.tables import unavailable_reasons
from polyreward.core.unavailable import scores_or_reason
from polyreward.scoring import load

MINE = {"benchmark": "b", "scorer": "judge", "language": "en"}
CUT = completion("Let me think about")
CUT["choices"][0]["finish_reason"] = "length"


def scored(judge, folder):
    """Score as a job of a catalog's judge does; return whether it left a file."""
    path = folder / "work/5_scores/b/judge/en.parquet"
    with scores_or_reason({str(path): MINE}, "judge", True):
        judge.score(ITEMS, "judge")
    return path.exists()


@pytest.mark.parametrize(("status", "reply", "words"), [
    (401, "no luck", "put a valid one in the environment variable JUDGE_KEY"),
    (429, "no luck", "429: no luck.* Run again"),
    (500, "no luck", "500: no luck.* Run again"),
    (404, "no luck", "correct `model`, or `url`"),
    (200, CUT, "finish_reason: length.*Run again"),
    (200, completion(" "), "an empty reply.*Run again"),
    (200, "<html>", "nonsense.*Run again"),
    (None, None, "no connection .* then run again"),
])  # fmt: skip
def test_an_outage_ends_the_job_and_the_next_run_asks_again(server, make, tmp_path, status, reply, words):
    server.respond, judge = lambda body, times: (status, {}, reply), make()
    if status is None:
        server.shutdown()
        server.server_close()
    with pytest.raises(PolyrewardError, match=words):
        scored(judge, tmp_path)
    assert not (tmp_path / "work").exists()
    if status is not None:
        asked, server.respond = len(server.bodies), sensible
        assert not scored(make(), tmp_path)  # the job goes on to write scores
        assert len(server.bodies) > asked


def test_a_model_that_a_server_does_not_have_is_unavailable_and_a_wrong_url_is_not(server, make, tmp_path):
    said = {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}
    server.respond = lambda body, times: (404, {}, said)
    assert scored(make(), tmp_path)
    (reason,) = unavailable_reasons(tmp_path / "work/5_scores/b/judge/en.parquet").values()
    assert "has no model" in reason


NOT_FOUND = httpx2.Response(404, request=httpx2.Request("GET", "http://a"))


@pytest.mark.parametrize(("error", "kind"), [
    (httpx2.ConnectError("no route"), PolyrewardError),
    (LocalEntryNotFoundError("not in the cache"), PolyrewardError),
    (OSError(errno.ENOSPC, "No space left on device"), PolyrewardError),
    (RepositoryNotFoundError("gone", response=NOT_FOUND), UnavailableError),
    (ValueError("requires you to execute the configuration file; set trust_remote_code=True"), UnavailableError),
    (KeyError("weights"), UnavailableError),
    (RuntimeError("CUDA error: out of memory"), OSError),
    (MemoryError(), OSError),
])  # fmt: skip
def test_loading_tells_an_outage_from_a_model_that_nobody_can_load(tmp_path, monkeypatch, error, kind):
    def fail(*args, **kwargs):
        try:
            raise error
        except Exception as cause:
            raise OSError("We couldn't load this file") from cause  # as transformers wraps it

    monkeypatch.setattr(load.AutoConfig, "from_pretrained", fail)
    with pytest.raises((PolyrewardError, OSError), match="couldn't load") as caught:
        load.load_classifier(tmp_path, "float32", 8, 8)
    assert type(caught.value) is kind
