"""A judge's server that nobody vouches for: nothing wrong is kept, nothing goes elsewhere, nothing waits or
costs without end."""

import json
import os
import subprocess
import sys
import time

import pytest
from chat_server import ITEMS, KEY, completion, running, sensible
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.models import bounded
from polyreward.scoring.interface import Conversations


def kept(folder) -> int:
    return len(list(folder.iterdir())) if folder.exists() else 0


def reply(reason="stop", content="I say [[A]]", top=(("A", -0.1), ("The", -5.0)), **more) -> dict:
    """Return a chat completion with a reason why it ends, and more keys."""
    found = completion(content, top)
    found["choices"][0]["finish_reason"] = reason
    return {**found, **more}


def always(found, status=200, headers=None):
    return lambda body, times: (status, headers or {}, found)


@pytest.mark.parametrize(
    ("verdict", "found", "words"),
    [
        (
            "text",
            reply(error={"message": f"no credit, {KEY}"}),
            r"an error in a response of success: .*no credit, \*\*\*",
        ),
        ("text", reply("content_filter"), "a content filter kept the reply back"),
        ("labels", reply("content_filter"), "a content filter kept the reply back"),
        ("text", reply("length"), "cut short at max_new_tokens .*which may be raised"),
        ("text", reply(content=None), "an empty reply"),
        ("text", reply(content=" \n"), "an empty reply"),
        ("labels", reply(top=(("A", 1e308),)), r"an absurd log-probability: 1e\+308"),
        ("labels", reply(top=(("A", 0.5),)), "an absurd log-probability: 0.5"),
        ("labels", reply(top=(("A", float("nan")),)), "an absurd log-probability: nan"),
        ("labels", reply(top=(("A", float("inf")),)), "an absurd log-probability: inf"),
        ("labels", reply(top=(("A", "-0.1"),)), "an absurd log-probability: '-0.1'"),
        ("labels", reply(top=(("A", None),)), "an absurd log-probability: None"),
        ("labels", reply(top=(("A", True),)), "an absurd log-probability: True"),
        ("labels", reply(top=(("A", 10**400),)), "an absurd log-probability: 1000"),
        (
            "labels",
            reply(top=(("A", -0.1), ("B", -0.1))),
            "absurd log-probabilities, of more than 1 together",
        ),
        ("labels", reply(top=((7, -0.1),)), "nonsense, not a chat completion"),
        ("text", [reply()], "nonsense, not a chat completion"),
        ("text", "[" * 100_000, "nonsense, not a chat completion"),
        ("text", '{"choices": ' + "9" * 10_000 + "}", "nonsense, not a chat completion"),
        ("text", json.dumps(reply())[:-2], "nonsense, not a chat completion"),
    ],
)
def test_a_reply_that_says_nothing_is_named_and_not_kept(server, make, tmp_path, verdict, found, words):
    server.respond = always(found)
    with pytest.raises(PolyrewardError, match=words) as caught:
        make(verdict=verdict).score(ITEMS[:1], "")
    assert kept(tmp_path / "cache") == 0
    assert len(server.bodies) == 2  # a response of success is not asked for again by itself
    assert KEY not in str(caught.value)
    server.respond = sensible
    assert make(verdict=verdict).score(ITEMS[:1], "").values[0].argmax() == 0


def test_minus_infinity_is_a_log_probability(server, make):
    server.respond = always(reply(top=(("A", -0.1), ("B", float("-inf")))))
    assert make(verdict="labels").score(ITEMS[:1], "").values[0].tolist() == pytest.approx(
        [-50.05, -50.05], abs=0.1
    )


def test_a_share_of_unusable_replies_may_be_allowed_and_they_count_as_no_verdict(
    server, make, tmp_path, capsys
):
    def filtered(body, times):
        return (
            (200, {}, reply("content_filter"))
            if "prompt 0" in body["messages"][0]["content"]
            else sensible(body, times)
        )

    server.respond = filtered
    with pytest.raises(
        PolyrewardError,
        match="2 of 6 replies cannot be used; .*raise `unusable_share` of the server, now 0.3",
    ):
        make(unusable_share=0.3).score(ITEMS, "")
    assert kept(tmp_path / "cache") == 4
    for verdict in ("text", "labels"):
        values = make(unusable_share=0.34, verdict=verdict).score(ITEMS, "").values
        assert values[0][0] == values[0][1]
        assert [found.argmax() for found in values[1:]] == [0, 0]
    assert "2 of 6 replies cannot be used and count as ones without a verdict" in capsys.readouterr().err


def test_a_reply_kept_by_an_older_version_is_checked_again(server, make, tmp_path, monkeypatch):
    server.respond = always(reply("content_filter"))
    with monkeypatch.context() as before:
        before.setattr("polyreward.scoring.server.ServerJudge._use", lambda judge, found, read: read(found))
        make().score(ITEMS[:1], "")
    assert kept(tmp_path / "cache") == 2
    server.respond = sensible
    assert make().score(ITEMS[:1], "").values[0].argmax() == 0
    assert len(server.bodies) == 4


@pytest.mark.parametrize("model", ["judge-2", "judge-1-mini", "JUDGE-1", "judge-10", ["judge-1"], "", 7])
def test_another_models_reply_is_named_at_once_and_not_kept(server, make, tmp_path, model):
    server.respond = always(reply(model=model))
    many = [Conversations(f"prompt {n}", ("good", "bad")) for n in range(50)]
    with pytest.raises(PolyrewardError, match="asked for `judge-1`, and the reply is of .*; correct `model`"):
        make(concurrency=2).score(many, "")
    assert kept(tmp_path / "cache") == 0
    assert len(server.bodies) < 20


@pytest.mark.parametrize(
    "model", ["judge-1", "judge-1-2024-08-06", "judge-1:latest", "judge-1-0613", "folder/judge", None]
)
def test_a_version_of_the_model_or_the_name_that_is_told_is_the_same_model(server, make, model):
    server.respond = lambda body, times: (200, {}, {**sensible(body, times)[2], "model": model})
    assert make(answers_as="folder/judge").score(ITEMS[:1], "").values[0].argmax() == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_named(server, make, tmp_path, status):
    with running() as other:
        place = other.url.replace("http://", "http://me:secret@")
        server.respond = always("", status, {"Location": f"{place}/chat/completions?key=secret"})
        with pytest.raises(
            PolyrewardError, match=f"a redirect to 127.0.0.1:{other.server_port}, not followed"
        ) as caught:
            make(retries=3).score(ITEMS[:1], "")
        assert "secret" not in str(caught.value)
        assert not other.bodies
    assert max(server.times.values()) == 1
    assert kept(tmp_path / "cache") == 0


def test_nothing_is_sent_beside_the_request_and_the_key(server, make, monkeypatch):
    for name in (
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_ADMIN_KEY",
        "OPENAI_API_KEY",
        "OPENAI_WEBHOOK_SECRET",
    ):
        monkeypatch.setenv(name, f"injected-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Injected: injected")
    make().score(ITEMS[:1], "")
    assert "injected" not in json.dumps([server.headers, server.bodies])
    for sent in server.headers:
        assert sorted(sent) == [
            "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host", "path",
        ]  # fmt: skip


def drip_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    drip(handler)


def drip(handler):
    for _ in range(200):
        handler.wfile.write(b" ")
        time.sleep(0.05)


def drip_headers(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow:")
    drip(handler)


@pytest.mark.parametrize("slow", [drip_headers, drip_body])
def test_a_server_that_sends_byte_after_byte_is_given_up_in_time(server, make, tmp_path, slow):
    server.respond = always(slow)
    start = time.monotonic()
    with pytest.raises(PolyrewardError, match="timed out, no reply within 0.5 s"):
        make(timeout_s=0.5).score(ITEMS[:1], "")
    assert time.monotonic() - start < 5
    assert kept(tmp_path / "cache") == 0


def endless(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    while True:
        handler.wfile.write(b"[" * 2**16)


def test_a_huge_body_is_not_read_to_its_end(server, make, tmp_path, monkeypatch):
    monkeypatch.setattr(bounded, "MOST_BYTES", 2**20)
    monkeypatch.setattr("polyreward.scoring.server.MOST_BYTES", 2**20)
    server.respond = always(endless)
    with pytest.raises(PolyrewardError, match="nonsense, not a chat completion but more than 1048576 bytes"):
        make().score(ITEMS[:1], "")
    assert kept(tmp_path / "cache") == 0


def test_what_a_job_may_ask_is_told_before_and_no_more_is_sent(server, make, tmp_path, capsys):
    with pytest.raises(
        PolyrewardError, match="wants 6 requests, and this job may send 5 more of its 5; none of them is sent"
    ):
        make(max_requests=5).score(ITEMS, "")
    assert not server.bodies
    judged = make(max_requests=8)
    judged.score(ITEMS, "the job")
    assert (
        "the job asks `judge-1` 6 times, for up to 64 tokens each; 0 replies are remembered"
        in capsys.readouterr().err
    )
    with pytest.raises(PolyrewardError, match="wants 4 requests, and this job may send 2 more of its 8"):
        judged.score(
            [*ITEMS, Conversations("prompt 7", ("good", "x")), Conversations("prompt 8", ("good", "y"))], ""
        )
    assert len(server.bodies) == 6


def test_retries_count_as_requests(server, make, tmp_path):
    server.respond = always("busy", 500)
    with pytest.raises(PolyrewardError, match="has sent the 3 requests that it may, retries included"):
        make(max_requests=3, retries=9, concurrency=1).score(ITEMS[:1], "")
    assert len(server.bodies) == 3


PROGRAM = """
import sys
from chat_server import ITEMS, judge_at
from polyreward.scoring.interface import Conversations
items = [Conversations(f"prompt {n}", ("good", f"bad {n}")) for n in range(20)]
print(*(int(values.argmax()) for values in judge_at(sys.argv[1], sys.argv[2], concurrency=2).score(items, "").values))
"""


def test_a_kill_loses_no_reply_and_no_kept_reply_is_asked_for_again(server, tmp_path):
    def slow(body, times):
        time.sleep(0.02)
        return sensible(body, times)

    server.respond = slow
    paths = os.pathsep.join([str(ROOT / "workflow/scripts"), str(ROOT / "tests/unit"), str(ROOT / "tests")])
    command = [sys.executable, "-c", PROGRAM, server.url, str(tmp_path / "cache")]
    killed = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.DEVNULL)
    while len(server.bodies) < 15 and killed.poll() is None:
        time.sleep(0.005)
    killed.kill()
    killed.wait()
    time.sleep(0.2)  # what it had sent reaches the server
    before = [path for path in (tmp_path / "cache").iterdir() if path.suffix == ".json"]
    asked = len(server.bodies)
    assert asked - 2 <= len(before) <= asked < 40  # what was under way may be lost: two requests at a time
    again = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    assert again.stdout.split() == ["0"] * 20
    assert len(server.bodies) == asked + 40 - len(before)
