"""A judge on a server: what was replied is never lost and never asked for again, and every failure is
named."""

import json
import math
import re
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import yaml
from chat_server import ITEMS, KEY, completion, sensible
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.interface import Conversations
from polyreward.scoring.pair_question import asked_in_pairs
from polyreward.scoring.server import FLOOR, MARGIN, TOP, label_row


def everything(folder) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


def fail_for(*numbers, status=500, headers=None, reply="no luck"):
    """Return a `respond` that fails for the items of these numbers."""

    def respond(body, times):
        if re.search(r"prompt (\d+)", body["messages"][0]["content"])[1] in map(str, numbers):
            return status, headers or {}, reply
        return sensible(body, times)

    return respond


@pytest.mark.parametrize("verdict", ["labels", "text"])
def test_the_good_answer_wins(make, verdict):
    judged = make(verdict=verdict)
    assert judged.exact and judged.unbatched() == judged
    scores = judged.score([*ITEMS, Conversations("four", ("x", "y", "good", "z"))], "")
    assert [values.argmax() for values in scores.values] == [0, 0, 0, 2]
    assert not any(cut.any() for cut in scores.truncated)


def test_what_is_sent(server, make):
    make(url=server.url + "/").score(ITEMS[:1], "")
    body, headers = server.bodies[0], server.headers[0]
    assert headers["path"] == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert {key: body[key] for key in body if key != "messages"} == {
        "model": "judge-1", "max_tokens": 64, "temperature": 0, "seed": 42,
    }  # fmt: skip
    make().score(ITEMS[:1], "")
    assert len(server.bodies) == 2  # the same server, whether or not its url ends with a slash
    make(verdict="labels").score(ITEMS[:1], "")
    assert {key: server.bodies[-1][key] for key in ("max_tokens", "logprobs", "top_logprobs", "temperature", "seed")} == {
        "max_tokens": 1, "logprobs": True, "top_logprobs": TOP, "temperature": 0, "seed": 42,
    }  # fmt: skip


@pytest.fixture
def weighing(make):
    """A judge on the server that weighs the probabilities of AlpacaEval's two names."""
    question = yaml.safe_load((ROOT / "workflow/catalog/judge_questions.yaml").read_text(encoding="utf-8"))[
        "alpacaeval"
    ]
    return asked_in_pairs(make(verdict="labels"), {"question": question})


def test_a_pair_is_weighed_by_the_probabilities_that_a_server_tells(server, weighing):
    def respond(body, times):
        text = body["messages"][-1]["content"]
        good, other = ("m", "M") if text.index("good") < text.index("bad") else ("M", "m")
        return (
            200,
            {},
            completion(good, [(good, math.log(0.7)), (f" {other}", math.log(0.1)), ("The", math.log(0.05))]),
        )

    server.respond = respond
    scores = weighing.score(ITEMS, "")
    np.testing.assert_allclose(scores.values, np.tile([7 / 8, 1 / 8], (3, 1)))
    assert len(server.bodies) == 3 and {body["max_tokens"] for body in server.bodies} == {1}


def test_a_server_without_probabilities_cannot_be_asked_to_weigh(server, weighing):
    server.respond = lambda body, times: (200, {}, completion("m", None))
    with pytest.raises(
        PolyrewardError, match=r"gives no log-probabilities \(top_logprobs\); set verdict: text"
    ):
        weighing.score(ITEMS, "")


def test_a_server_that_wants_no_key_gets_none(server, make, monkeypatch):
    monkeypatch.delenv("JUDGE_KEY")
    make().score(ITEMS[:1], "")
    assert server.headers[0]["authorization"] == "Bearer none"


@pytest.mark.parametrize("verdict", ["labels", "text"])
def test_a_rerun_makes_no_connection_and_gives_the_same(server, make, verdict):
    first = make(verdict=verdict).score(ITEMS, "").values
    assert len(server.bodies) == 6
    server.shutdown()
    server.server_close()
    again = make(verdict=verdict).score(ITEMS, "").values
    assert np.array_equal(first, again)


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"model": "judge-2"}, {"max_new_tokens": 9}, {"verdict": "labels"}, {}]
)
def test_another_seed_model_or_parameter_is_another_entry(server, make, tmp_path, change):
    make().score(ITEMS, "")
    make(**change).score(ITEMS, "")
    assert len(server.bodies) == len(list((tmp_path / "cache").iterdir())) == (12 if change else 6)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace("prompt 1", "prompt 7"),
        lambda text: text.replace('"choices"', '"nothing"'),
        lambda text: text.replace("I say", "I do not say"),
        lambda text: text.replace('"sha256": "', '"sha256": "0'),
        lambda text: "[" * 100_000,
    ],
)
def test_an_entry_that_is_not_its_requests_reply_is_asked_again_and_replaced(
    server, make, tmp_path, capsys, spoil
):
    first = make().score(ITEMS, "").values
    path = next(path for path in (tmp_path / "cache").iterdir() if "prompt 1" in path.read_text())
    whole = path.read_text()
    path.write_text(spoil(whole))
    again = make().score(ITEMS, "").values
    assert len(server.bodies) == 7
    assert path.name in capsys.readouterr().err
    assert path.read_text() == whole
    assert np.array_equal(first, again)


def test_an_entry_holds_the_request_and_the_reply(make, tmp_path):
    make().score(ITEMS[:1], "")
    for path in (tmp_path / "cache").iterdir():
        entry = json.loads(path.read_text())
        assert entry["request"]["model"] == "judge-1"
        assert "prompt 0" in entry["request"]["messages"][0]["content"]
        assert "I say" in entry["reply"]["choices"][0]["message"]["content"]


def test_judges_at_the_same_time_share_a_cache(make, tmp_path):
    items = [Conversations(f"prompt {n}", ("good", "bad")) for n in range(10)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: make().score(items, "").values, range(4)))
    assert all(np.array_equal(found[0], other) for other in found)
    assert len(list((tmp_path / "cache").iterdir())) == 20  # and no temporary is left
    for path in (tmp_path / "cache").iterdir():
        json.loads(path.read_text())


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_at_a_time_than_asked_for(server, make, concurrency):
    def slow(body, times):
        time.sleep(0.15)
        return sensible(body, times)

    server.respond = slow
    make(concurrency=concurrency).score(ITEMS, "")
    assert server.most == concurrency


def test_a_server_that_is_busy_is_asked_again_when_it_says(server, make):
    def busy(body, times):
        return (429, {"Retry-After": "1"}, "busy") if times == 1 else sensible(body, times)

    server.respond = busy
    start = time.monotonic()
    assert make(retries=1).score(ITEMS[:1], "").values[0].argmax() == 0
    assert len(server.bodies) == 4
    assert time.monotonic() - start > 1  # its own backoff begins with 0.5 s at most


def test_a_server_error_and_silence_are_tried_again(server, make):
    def shaky(body, times):
        if times == 1 and "prompt 0" in body["messages"][0]["content"]:
            return 500, {}, "oops"
        if times == 1 and "prompt 1" in body["messages"][0]["content"]:
            time.sleep(1.6)
        return sensible(body, times)

    server.respond = shaky
    assert [values.argmax() for values in make(retries=1, timeout_s=1).score(ITEMS, "").values] == [0, 0, 0]
    assert len(server.bodies) == 10


@pytest.mark.parametrize(
    ("respond", "words"),
    [
        (fail_for(1, 2), "the first: 500: no luck"),
        (fail_for(1, 2, status=429, reply={"error": "slow down"}), r'the first: 429: {"error": "slow down"}'),
        (fail_for(1, 2, status=400, reply="too long"), "the first: 400: too long"),
        (
            fail_for(1, 2, status=200, reply="<html>"),
            r"the first: nonsense, not a chat completion but '<html>'",
        ),
        (
            fail_for(1, 2, status=200, reply={"error": "no"}),
            'the first: an error in a response of success: "no"',
        ),
        (fail_for(1, 2, status=200, reply={"choices": []}), "the first: nonsense"),
        (fail_for(1, 2, status=200, reply='"choices"'), "the first: nonsense"),
        (
            fail_for(1, 2, status=200, headers={"Content-Type": "text/html"}, reply="<html>"),
            "the first: nonsense",
        ),
        (
            fail_for(1, 2, status=200, reply={"choices": [{"message": {"content": ["A"]}}]}),
            "the first: nonsense",
        ),
    ],
)
def test_failures_are_named_together_and_only_what_is_missing_is_asked_for_again(
    server, make, tmp_path, respond, words
):
    server.respond = respond
    with pytest.raises(
        PolyrewardError, match=rf"judge server {server.url}: 4 of 6 requests failed.*{words}.*run again"
    ):
        make().score(ITEMS, "")
    assert len(server.bodies) == 6
    assert len(list((tmp_path / "cache").iterdir())) == 2
    server.respond = sensible
    assert [values.argmax() for values in make().score(ITEMS, "").values] == [0, 0, 0]
    assert len(server.bodies) == 10
    assert not any("prompt 0" in body["messages"][0]["content"] for body in server.bodies[6:])


def test_silence_is_named_when_retries_end(server, make, tmp_path):
    def silent(body, times):
        if "prompt 0" in body["messages"][0]["content"]:
            time.sleep(1.6)
        return sensible(body, times)

    server.respond = silent
    with pytest.raises(
        PolyrewardError, match=r"2 of 6 requests failed.*the first: timed out, no reply within 1 s"
    ):
        make(timeout_s=1).score(ITEMS, "")
    assert len(list((tmp_path / "cache").iterdir())) == 4


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "refuses the key .401.; .*environment variable JUDGE_KEY, which is set$"),
        (404, "has no model `judge-1`, or is not at that url .404: .*no such model"),
    ],
)
def test_what_no_retry_can_mend_is_raised_at_once(server, make, status, words):
    server.respond = lambda body, times: (
        status,
        {},
        {"error": {"message": f"no such model, or {KEY} is bad"}},
    )
    many = [Conversations(f"prompt {n}", ("good", "bad")) for n in range(100)]
    with pytest.raises(PolyrewardError, match=words) as caught:
        make(retries=5, concurrency=2).score(many, "")
    assert max(server.times.values()) == 1
    assert len(server.bodies) < 50
    assert KEY not in str(caught.value)


def test_a_missing_key_is_named_by_its_variable(server, make, monkeypatch):
    monkeypatch.delenv("JUDGE_KEY")
    server.respond = lambda body, times: (401, {}, {})
    with pytest.raises(PolyrewardError, match="environment variable JUDGE_KEY, which is not set"):
        make().score(ITEMS, "")


def test_a_server_that_is_not_there_is_named_and_what_it_said_is_kept(server, make, tmp_path):
    make().score(ITEMS[:1], "")
    server.shutdown()
    server.server_close()
    with pytest.raises(PolyrewardError, match=rf"{server.url}: no connection .*start it or correct the url"):
        make().score(ITEMS, "")
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.parametrize(
    "respond",
    [
        lambda body, times: (200, {}, completion("A", top=None)),
        lambda body, times: (400, {}, "unknown parameter: logprobs"),
        lambda body, times: (200, {}, {"choices": [{"message": {"content": "A"}, "logprobs": {"content": []}}]}),
        lambda body, times: (
            200, {}, {"choices": [{"message": {"content": "A"}, "logprobs": {"content": [{"token": "A", "top_logprobs": []}]}}]},
        ),
    ],
)  # fmt: skip
def test_a_server_without_log_probabilities_is_named(server, make, tmp_path, respond):
    server.respond = respond
    with pytest.raises(
        PolyrewardError, match=f"{server.url}: gives no log-probabilities .*set verdict: text"
    ):
        make(verdict="labels").score(ITEMS, "")
    assert not (tmp_path / "cache").exists()  # a server that learns to is asked again


def test_the_key_is_in_no_file_no_repr_and_no_error(server, make, tmp_path):
    server.respond = fail_for(1, reply=f"bad key {KEY}")
    judged = make()
    with pytest.raises(PolyrewardError, match=r"bad key \*\*\*") as caught:
        judged.score(ITEMS, "")
    assert "prompt 0" in everything(tmp_path)
    assert KEY not in everything(tmp_path) + repr(judged) + str(caught.value)


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://host/v1", "https://me:secret@host/v1", "http://host/v1?key=secret"]
)
def test_a_url_that_is_none_or_holds_a_secret_is_refused_without_saying_it(make, url):
    with pytest.raises(PolyrewardError, match="http:// or https://") as caught:
        make(url=url)
    assert "secret" not in str(caught.value)


def test_replies_without_a_verdict_are_told(server, make):
    server.respond = lambda body, times: (200, {}, completion("I cannot say"))
    with pytest.raises(
        PolyrewardError,
        match="no reply of 6 has a verdict; one ends with 'I cannot say'; raise max_new_tokens",
    ):
        make().score(ITEMS, "")


def test_labels_are_read_from_the_likeliest_tokens():
    def row(*top, labels="AB"):
        return label_row(completion(top=top), labels)

    assert row(("A", -1.2), ("B", -2.0), ("C", -0.7)) == pytest.approx([-1.2, -2])
    variants = row(
        (" A", np.log(0.5)),
        ("A", np.log(0.25)),
        ("\u2581A", np.log(0.01)),
        ("\u0120B\n", np.log(0.1)),
        ("AB", -3.0),
    )
    assert variants == pytest.approx(np.log([0.76, 0.1]))
    assert row(("A", -0.1), ("The", -7.0)) == pytest.approx([-0.1, -7.0 - MARGIN])
    assert row(("A", -0.1), ("x", -9999.0)) == pytest.approx([-0.1, FLOOR - MARGIN])
    assert np.isnan(row(("The", -0.1), ("a", -3.0))).all()


def test_replies_that_begin_with_no_label_are_told(server, make):
    server.respond = lambda body, times: (200, {}, completion("The", [("The", -0.1)]))
    with pytest.raises(PolyrewardError, match="no reply of 6 begins with a label; set verdict: text"):
        make(verdict="labels").score(ITEMS, "")
