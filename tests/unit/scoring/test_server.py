"""A judge on a server: what was replied is never lost and never asked for again, and every failure is
named."""

import json
import math
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import yaml
from chat_server import ITEMS, KEY, completion, running, sensible
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.interface import Conversations
from polyreward.scoring.server import FLOOR, MARGIN, TOP, label_row


def kept(folder) -> list:
    return list((folder / "cache").glob("*"))


def best(judged, items=ITEMS) -> list[int]:
    return [int(values.argmax()) for values in judged.score(items, "").values]


def says(reply, status=200, headers=None, only=()):
    """Return a `respond` with one reply, to all or to the items of some numbers."""

    def respond(body, times):
        spared = only and int(re.search(r"prompt (\d+)", body["messages"][0]["content"])[1]) not in only
        return sensible(body, times) if spared else (status, headers or {}, reply)

    return respond


def ending(reason="stop", content="I say [[A]]", top=(("A", -0.1), ("The", -5.0))) -> dict:
    """Return a chat completion with a reason why it ends."""
    found = completion(content, top)
    found["choices"][0]["finish_reason"] = reason
    return found


@pytest.mark.parametrize("verdict", ["labels", "text"])
def test_the_good_answer_wins_and_a_rerun_makes_no_connection(server, make, verdict):
    judged = make(verdict=verdict)
    items = [*ITEMS, Conversations("four", ("x", "y", "good", "z"))]
    scores = judged.score(items, "")
    assert judged.exact and [values.argmax() for values in scores.values] == [0, 0, 0, 2]
    assert not any(cut.any() for cut in scores.truncated)
    server.shutdown()
    server.server_close()
    again = make(verdict=verdict).score(items, "").values
    assert all(np.array_equal(one, other) for one, other in zip(scores.values, again, strict=True))


def test_what_is_sent(server, make, capsys):
    for verdict, url in (("text", server.url), ("labels", server.url), ("text", f"{server.url}/")):
        make(verdict=verdict, url=url).score(ITEMS[:1], "the job")
    assert len(server.bodies) == 4  # the same server, whether or not its url ends with a slash
    assert server.headers[0]["path"] == "/v1/chat/completions"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    sent = [{key: body[key] for key in body if key != "messages"} for body in server.bodies[::2]]
    fixed = {"model": "judge-1", "temperature": 0, "seed": 42}
    by_labels = {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP}
    assert sent == [{**fixed, "max_tokens": 64}, {**fixed, **by_labels}]
    said = capsys.readouterr().err
    assert "the job asks `judge-1` 2 times, for up to 64 tokens each; 0 replies are remembered" in said


@pytest.fixture
def weighing(make):
    """A judge on the server that weighs the probabilities of AlpacaEval's two names."""
    questions = yaml.safe_load((ROOT / "workflow/catalog/judge_questions.yaml").read_text(encoding="utf-8"))
    return make(verdict="labels", question=questions["alpacaeval"])


def test_a_pair_is_weighed_by_the_probabilities_that_a_server_tells(server, weighing):
    def respond(body, times):
        text = body["messages"][-1]["content"]
        good, other = ("m", "M") if text.index("good") < text.index("bad") else ("M", "m")
        top = [(good, math.log(0.7)), (f" {other}", math.log(0.1)), ("The", math.log(0.05))]
        return 200, {}, completion(good, top)

    server.respond = respond
    np.testing.assert_allclose(weighing.score(ITEMS, "").values, np.tile([7 / 8, 1 / 8], (3, 1)))
    assert len(server.bodies) == 3 and {body["max_tokens"] for body in server.bodies} == {1}


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"model": "judge-2"}, {"max_new_tokens": 9}, {"verdict": "labels"}, {}]
)
def test_another_seed_model_or_parameter_is_another_entry(server, make, tmp_path, change):
    make().score(ITEMS, "")
    make(**change).score(ITEMS, "")
    assert len(server.bodies) == len(kept(tmp_path)) == (12 if change else 6)


@pytest.mark.parametrize("spoil", [lambda text: text[: len(text) // 2], lambda text: "", lambda text: "[]"])
def test_an_entry_that_is_no_reply_is_asked_again_and_replaced(server, make, tmp_path, spoil):
    assert best(make()) == [0, 0, 0]
    path = next(path for path in kept(tmp_path) if "prompt 1" in path.read_text())
    whole = path.read_text()
    path.write_text(spoil(whole))
    assert best(make()) == [0, 0, 0]
    assert len(server.bodies) == 7 and path.read_text() == whole


def test_judges_at_the_same_time_share_a_cache(make, tmp_path):
    items = [Conversations(f"prompt {n}", ("good", "bad")) for n in range(10)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: best(make(), items), range(4))) == [[0] * 10] * 4
    assert len(kept(tmp_path)) == 20  # and no temporary is left
    assert all(json.loads(path.read_text())["request"]["model"] == "judge-1" for path in kept(tmp_path))


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_at_a_time_than_asked_for(server, make, concurrency):
    server.respond = lambda body, times: time.sleep(0.1) or sensible(body, times)
    make(concurrency=concurrency).score(ITEMS, "")
    assert server.most == concurrency


def test_a_server_that_is_busy_is_asked_again_when_it_says(server, make):
    busy = (429, {"Retry-After": "1"}, "busy")
    server.respond = lambda body, times: busy if times == 1 else sensible(body, times)
    start = time.monotonic()
    assert best(make(retries=1), ITEMS[:1]) == [0]
    assert len(server.bodies) == 4
    assert time.monotonic() - start > 1  # its own backoff begins with 0.5 s at most


@pytest.mark.parametrize("retries", [0, 1])
def test_a_server_error_and_silence_are_tried_again_and_named_when_retries_end(
    server, make, tmp_path, retries
):
    def shaky(body, times):
        if times == 1 and "prompt 0" in body["messages"][0]["content"]:
            return 500, {}, "oops"
        if times == 1 and "prompt 1" in body["messages"][0]["content"]:
            time.sleep(0.8)
        return sensible(body, times)

    server.respond = shaky
    judged = make(retries=retries, timeout_s=0.5)
    if retries:
        assert best(judged) == [0, 0, 0] and len(server.bodies) == 10
        return
    with pytest.raises(PolyrewardError, match="4 of 6 requests failed"):
        judged.score(ITEMS, "")
    assert len(kept(tmp_path)) == 2
    server.times.clear()
    with pytest.raises(PolyrewardError, match="the first: timed out, no reply within 0.5 s"):
        judged.score(ITEMS[1:2], "")


@pytest.mark.parametrize(
    ("verdict", "found", "words"),
    [
        ("text", says("no luck", 500), "the first: 500: no luck"),
        ("text", says({"error": "slow down"}, 429), r'the first: 429: {"error": "slow down"}'),
        ("text", says("too long", 400), "the first: 400: too long"),
        ("text", says("<html>"), r"nonsense, not a chat completion but '<html>'"),
        ("text", says({"error": f"no credit, {KEY}"}), r"nonsense, .*no credit, \*\*\*"),
        ("text", says({"choices": []}), "nonsense"),
        ("text", says({"choices": [{"message": {"content": ["A"]}}]}), "nonsense"),
        ("text", says([ending()]), "nonsense"),
        ("text", says("[" * 100_000), "nonsense"),
        ("text", says(ending("content_filter")), "a content filter kept the reply back"),
        ("labels", says(ending("content_filter")), "a content filter kept the reply back"),
        ("text", says(ending("length")), "cut short at max_new_tokens .*which may be raised"),
        ("text", says(ending(content=" \n")), "an empty reply"),
        *(("labels", says(ending(top=(("A", bad),))), "absurd") for bad in (1e308, 0.5, float("nan"), float("inf"))),
        ("labels", says(ending(top=(("A", -0.1), ("B", -0.1)))), "absurd .*, of more than 1 together"),
        ("labels", says(ending(top=((7, -0.1),))), "nonsense, not a chat completion"),
    ],
)  # fmt: skip
def test_a_bad_reply_is_named_and_not_kept_and_only_it_is_asked_for_again(
    server, make, tmp_path, verdict, found, words
):
    judged = make(verdict=verdict)
    judged.score(ITEMS[:1], "")
    server.respond = found
    with pytest.raises(PolyrewardError, match=words) as caught:
        judged.score(ITEMS[:2], "")
    everything = "".join(path.read_text() for path in kept(tmp_path))
    assert "prompt 0" in everything and KEY not in everything + repr(judged) + str(caught.value)
    assert len(kept(tmp_path)) == 2 and len(server.bodies) == 4  # not asked for again by itself
    server.respond = sensible
    assert best(judged, ITEMS[:2]) == [0, 0] and len(server.bodies) == 6


@pytest.mark.parametrize("model", ["judge-2", "judge-1-mini", "JUDGE-1", "judge-10", ["judge-1"], "", 7])
def test_another_models_reply_is_named_and_not_kept(server, make, tmp_path, model):
    server.respond = says({**ending(), "model": model})
    with pytest.raises(
        PolyrewardError, match=r"asked for `judge-1`, but the reply is from .*\. Correct `model`"
    ):
        make().score(ITEMS, "")
    assert kept(tmp_path) == []


@pytest.mark.parametrize(
    "model", ["judge-1", "judge-1-2024-08-06", "judge-1:latest", "judge-1-0613", "folder/judge", None]
)
def test_a_version_of_the_model_or_the_name_that_is_given_is_the_same_model(server, make, model):
    server.respond = lambda body, times: (200, {}, {**sensible(body, times)[2], "model": model})
    assert make(answers_as="folder/judge").score(ITEMS[:1], "").values[0].argmax() == 0


def test_a_share_of_unusable_replies_may_be_allowed_and_they_count_as_no_verdict(
    server, make, tmp_path, capsys
):
    server.respond = says(ending("content_filter"), only=[0])
    allowed = "2 of 6 replies cannot be used; .*raise `unusable_share` of the server, now 0.3"
    with pytest.raises(PolyrewardError, match=allowed):
        make(unusable_share=0.3).score(ITEMS, "")
    assert len(kept(tmp_path)) == 4
    for verdict in ("text", "labels"):
        values = make(unusable_share=0.34, verdict=verdict).score(ITEMS, "").values
        assert values[0][0] == values[0][1]
        assert [found.argmax() for found in values[1:]] == [0, 0]
    assert "2 of 6 replies cannot be used and count as no verdict" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "refuses the key .401.; .*environment variable JUDGE_KEY, which is set$"),
        (404, "has no model `judge-1`, or is not at that url .404: .*no such model"),
    ],
)
def test_what_no_retry_can_mend_is_raised_at_once(server, make, monkeypatch, status, words):
    server.respond = says({"error": {"message": f"no such model, or {KEY} is bad"}}, status)
    many = [Conversations(f"prompt {n}", ("good", "bad")) for n in range(100)]
    with pytest.raises(PolyrewardError, match=words) as caught:
        make(retries=5, concurrency=2).score(many, "")
    assert max(server.times.values()) == 1 and len(server.bodies) < 50
    assert KEY not in str(caught.value)
    monkeypatch.delenv("JUDGE_KEY")  # a server that wants no key gets none
    if status == 401:
        with pytest.raises(PolyrewardError, match="environment variable JUDGE_KEY, which is not set"):
            make().score(ITEMS, "")
        assert server.headers[-1]["authorization"] == "Bearer none"


def test_a_server_that_is_not_there_is_named_and_what_it_said_is_kept(server, make, tmp_path):
    make().score(ITEMS[:1], "")
    server.shutdown()
    server.server_close()
    with pytest.raises(PolyrewardError, match=rf"{server.url}: no connection .*start it or correct the url"):
        make().score(ITEMS, "")
    assert len(kept(tmp_path)) == 2


def test_a_redirect_is_not_followed(server, make, tmp_path):
    with running() as other:
        server.respond = says("", 307, {"Location": f"{other.url}/chat/completions"})
        with pytest.raises(PolyrewardError, match="the first: 307"):
            make().score(ITEMS[:1], "")
        assert not other.bodies and not kept(tmp_path)


@pytest.mark.parametrize("respond", [
    says("unknown parameter: logprobs", 400), says("unknown parameter: top_logprobs", 422),
    *(says({"choices": [{"message": {"content": "A"}, "logprobs": logprobs}]})
      for logprobs in (None, {"content": []}, {"content": [{"token": "A", "top_logprobs": []}]})),
])  # fmt: skip
def test_a_server_without_log_probabilities_is_named(server, make, tmp_path, weighing, respond):
    server.respond = respond
    for judge in (make(verdict="labels"), weighing):
        with pytest.raises(PolyrewardError, match="gives no log-probabilities .*set verdict: text"):
            judge.score(ITEMS, "")
    assert not kept(tmp_path)  # a server that learns to is asked again


NOTHING = [np.nan, np.nan]


@pytest.mark.parametrize(("top", "expected"), [
    ([("A", -1.2), ("B", -2.0), ("C", -0.7)], [-1.2, -2]),
    ([(" A", np.log(0.5)), ("A", np.log(0.25)), ("\u2581A", np.log(0.01)), ("\u0120B\n", np.log(0.1)), ("AB", -3.0)],
     np.log([0.76, 0.1])),
    ([("A", -0.1), ("The", -7.0)], [-0.1, -7.0 - MARGIN]),
    ([("A", -0.1), ("x", -9999.0)], [-0.1, FLOOR - MARGIN]),
    ([("A", -0.1), ("B", float("-inf"))], [-0.1, FLOOR]),
    ([("The", -0.1), ("a", -3.0)], NOTHING),
])  # fmt: skip
def test_labels_are_read_from_the_likeliest_tokens(top, expected):
    assert label_row(completion(top=top), "AB") == pytest.approx(expected, nan_ok=True)


PROGRAM = """
import sys
from chat_server import judge_at
from polyreward.scoring.interface import Conversations
items = [Conversations(f"prompt {n}", ("good", f"bad {n}")) for n in range(20)]
print(*(int(values.argmax()) for values in judge_at(sys.argv[1], sys.argv[2], concurrency=2).score(items, "").values))
"""


def test_a_kill_loses_no_reply_and_no_kept_reply_is_asked_for_again(server, tmp_path, make):
    server.respond = lambda body, times: time.sleep(0.02) or sensible(body, times)
    paths = os.pathsep.join([str(ROOT / "workflow/scripts"), str(ROOT / "tests/unit"), str(ROOT / "tests")])
    command = [sys.executable, "-c", PROGRAM, server.url, str(tmp_path / "cache")]
    killed = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.DEVNULL)
    while len(server.bodies) < 15 and killed.poll() is None:
        time.sleep(0.005)
    killed.kill()
    killed.wait()
    time.sleep(0.2)  # what it had sent reaches the server
    before = [path for path in kept(tmp_path) if path.suffix == ".json"]
    asked = len(server.bodies)
    assert asked - 2 <= len(before) <= asked < 40  # what was under way may be lost: two requests at a time
    assert best(make(), [Conversations(f"prompt {n}", ("good", f"bad {n}")) for n in range(20)]) == [0] * 20
    assert len(server.bodies) == asked + 40 - len(before)
