"""A model on a server of the job's own: it is asked what transformers would be, and nothing of it is left
when the job ends."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from published_repositories import gemma3
from support import script
from tiny_models import ROOT, ROWS

from polyreward.alignment.sampling import Policy, answers_of_runs, loaded_policy
from polyreward.core.errors import PolyrewardError
from polyreward.core.seeds import job_seed
from polyreward.models import serving
from polyreward.models.generation import Writing, declared_ends, ends_of, generation_config
from polyreward.models.serving import Server
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Conversations
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.local_judge import LocalBackend, request_ids
from polyreward.scoring.pairs import unbatched
from polyreward.scoring.served_judge import ServedBackend
from polyreward.settings.base import Serve
from polyreward.settings.transfer import Sampling
from polyreward.settings.translation import LmEngine
from polyreward.translation.lm import LmTranslator, lm_translator

translated = script("translate/translated_rows").translated

STUB = str(ROOT / "tests/completions_server.py")
PLAIN = Writing(8, [1])
LM = LmEngine(
    kind="lm", model="tiny-gemma", prompt="{source}: {text}\n{target}:", batch_size=2, max_new_tokens=8, chat=False,
    unit="line",
)  # fmt: skip
LINES = ["Good morning!", "How do I cook rice for 4 people?", "Yes.", "A {placeholder} and 7 dogs"]
SAMPLING = Sampling(temperature=0.7, top_k=20, max_new_tokens=6, batch_size=4)
GREEDY = SAMPLING.model_copy(update={"top_k": 1})
PROMPTS = [row["prompt"] for row in ROWS]
REQUESTS = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(serving, "PAUSE_S", 0.05)
    # As on a cluster, where no proxy finds a node's loopback address.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)


def serve_with(*command, **changes):
    """Return the setting `devices.serve` for a command, with changes."""
    limits = {"startup_s": 60, "concurrency": 4, "timeout_s": 60, "retries": 0, **changes}
    return Serve(command=list(command), **limits)


@pytest.fixture
def serve(tmp_path):
    """Return a function that makes the setting for the stub, with what it says, how it fails, and changes."""
    stub = (sys.executable, "-I", STUB, "{model}", "--port", "{port}", "--notes", str(tmp_path))

    def setting(says="x", how=None, **changes):
        return serve_with(*stub, "--says", says, *(["--how", how] if how else []), **changes)

    return setting


def started(setting, folder="a/model", dtype="float32"):
    return Server(setting, folder, dtype)


def requests_of(notes) -> list[dict]:
    path = notes / "requests.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def left_of(notes, patience_s=5.0) -> list[int]:
    """Return the processes of all stubs that are still there, after some patience."""
    pids = [int(pid) for line in (notes / "pids").read_text().splitlines() for pid in line.split()]
    assert pids
    end = time.monotonic() + patience_s
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return [pid for pid in pids if alive(pid)]


# --- the same questions, and the same answers


@pytest.fixture(scope="module")
def tiny_server(tiny_gemma, tmp_path_factory):
    """A server of the tiny model itself, which generates with transformers, and a function that returns the
    prompts of all requests since it was called last, sorted."""
    folder, seen = tmp_path_factory.mktemp("notes"), []

    def prompts() -> list[list[int]]:
        new = requests_of(folder)[len(seen) :]
        seen.extend(new)
        return sorted(body["prompt"] for body in new)

    stub = (sys.executable, STUB, "{model}", "--port", "{port}", "--dtype", "{dtype}", "--notes", str(folder))
    with started(serve_with(*stub), tiny_gemma) as server:
        yield server, prompts


@pytest.mark.slow
@pytest.mark.parametrize("chat", [False, True])
def test_a_served_translation_is_that_of_transformers(tiny_server, tiny_gemma, chat):
    settings, (server, asked) = LM.model_copy(update={"chat": chat}), tiny_server
    here, there = LmTranslator(tiny_gemma, settings), LmTranslator(tiny_gemma, settings, server=server)
    assert not hasattr(there, "model")  # one GPU holds one of the two
    asked()
    found = there(LINES, "en", "es")
    assert found == here(LINES, "en", "es") and len(set(found)) > 1
    prompts = [here._prompt(line, "en", "es") for line in LINES]
    assert asked() == sorted(here.tokenizer(prompts, add_special_tokens=not chat)["input_ids"])
    assert there([], "en", "es") == []


@pytest.mark.slow
def test_a_served_policy_says_the_same_by_one_token_and_draws_the_same_for_a_seed(tiny_server, tiny_gemma):
    server, asked = tiny_server
    here, there = Policy(tiny_gemma, GREEDY), Policy(tiny_gemma, GREEDY, server=server)
    assert not hasattr(there, "model")
    asked()
    found = there.responses(PROMPTS, 2, 5, "")
    assert found == here.responses(PROMPTS, 2, 5, "")
    assert len({text for texts in found for text in texts}) > 1
    assert asked() == sorted([request_ids(here.tokenizer, request) for request in REQUESTS] * 2)
    policy = Policy(tiny_gemma, SAMPLING, server=server)
    first, again, other = (policy.responses(PROMPTS, 3, seed, "") for seed in (1, 1, 2))
    assert first == again != other
    assert any(len(set(texts)) == 3 for texts in first)


@pytest.mark.slow
@pytest.mark.parametrize("max_length", [512, 20])
def test_a_served_judge_replies_as_a_local_one(tiny_server, tiny_gemma, max_length):
    server, asked = tiny_server
    lm = load_causal_lm(tiny_gemma, "float32", max_length, 4000)
    ends = ends_of(lm.model.generation_config, lm.tokenizer)
    judge = ServedBackend(server, lm.tokenizer, Writing(5, ends), max_length, True)
    asked()
    assert judge.replies(REQUESTS, "") == LocalBackend(lm, 5).replies(REQUESTS, "")
    assert asked() == sorted(request_ids(lm.tokenizer, request)[-max_length:] for request in REQUESTS)
    assert judge.cut(REQUESTS) == LocalBackend(lm, 5).cut(REQUESTS)
    assert any(judge.cut(REQUESTS)) is (max_length == 20)


def test_a_folder_says_which_tokens_end_a_text_and_how_it_repeats(tiny_gemma, tmp_path):
    own = load_causal_lm(tiny_gemma, "float32", 99, 99).model.generation_config
    assert generation_config(tiny_gemma).eos_token_id == own.eos_token_id is not None
    own.eos_token_id, own.repetition_penalty = [3, 7], 1.25
    own.save_pretrained(tmp_path)
    assert declared_ends(generation_config(tmp_path)) == {3, 7}
    assert generation_config(tmp_path).repetition_penalty == 1.25


# --- what is sent


def test_what_a_translation_asks(serve, tmp_path, tiny_gemma):
    with lm_translator(tiny_gemma, LM, "float32", serve(" Buenas. \n")) as translator:
        assert translator(LINES[:1], "en", "es") == [("Buenas.", True)]
    (body,) = requests_of(tmp_path)
    assert body.pop("prompt")
    assert body == {
        "path": "/v1/completions", "model": "tiny", "max_tokens": 8, "temperature": 0.0, "top_p": 1.0, "stop": ["\n"], "seed": 0,
        "repetition_penalty": 1.0, "stop_token_ids": sorted(declared_ends(generation_config(tiny_gemma))),
        "skip_special_tokens": True,
    }  # fmt: skip


def test_what_a_policy_asks_and_a_seed_of_its_own_for_each_response(serve, tmp_path, tiny_gemma):
    with loaded_policy(tiny_gemma, SAMPLING, "float32", serve("Hm.")) as policy:
        policy.responses(PROMPTS[:2], 2, 7, "")
    bodies = requests_of(tmp_path)
    assert {body["seed"] for body in bodies} == {job_seed(7, number) % 2**31 for number in range(4)}
    expected = {
        "temperature": 0.7, "top_k": 20, "top_p": 1.0, "max_tokens": 6, "repetition_penalty": 1.0, "stop": [],
        "stop_token_ids": [policy.tokenizer.eos_token_id],
    }  # fmt: skip
    assert all(body.items() >= expected.items() for body in bodies)


def test_a_policy_and_a_judge_ask_for_all_ends_that_their_folder_declares(serve, tmp_path):
    gemma3(tmp_path / "gemma")
    with loaded_policy(tmp_path / "gemma", SAMPLING, "float32", serve("Hm.")) as policy:
        policy.responses(PROMPTS[:1], 1, 7, "")
    entry = {
        "kind": "generative",
        "verdict": "text",
        "source": str(tmp_path / "gemma"),
        "serve": serve("[[A]]"),
    }
    scoring = {"dtype": "float32", "max_length": 128, "token_budget": 200}
    load_reward_model(entry, scoring, tmp_path).score([Conversations("p", ("x", "y"))], "")
    assert {tuple(body["stop_token_ids"]) for body in requests_of(tmp_path)} == {(1, 3)}  # <end_of_turn> is 3


def test_a_run_has_the_same_seeds_for_every_policy(serve, tmp_path, tiny_gemma):
    rows = [{"id": row["id"], "prompt": row["prompt"]} for row in ROWS[:2]]
    policies, how = {"base": [tiny_gemma], "target": [tiny_gemma]}, (SAMPLING, "float32", 2, 5, "es")
    answers = answers_of_runs(policies, rows, *how, serve("Hm."))
    assert [row["response"] for row in answers] == ["Hm."] * 8
    seeds = [body["seed"] for body in requests_of(tmp_path)]
    assert len(set(seeds)) == 4 and sorted(seeds[:4]) == sorted(seeds[4:])
    assert len((tmp_path / "pids").read_text().splitlines()) == 2  # one server after the other
    assert not left_of(tmp_path)


def test_a_judge_by_text_is_served_and_its_verdict_read(serve, tmp_path, tiny_gemma):
    entry = {"kind": "generative", "verdict": "text", "max_new_tokens": 4, "source": str(tiny_gemma)}
    scoring = {"dtype": "bfloat16", "max_length": 64, "token_budget": 200}
    judge = load_reward_model({**entry, "serve": serve("So: [[A]]")}, scoring, tmp_path)
    scores = judge.score([Conversations("p", ("x", "y", "z"))], "")
    assert scores.values[0].tolist() == [1 / 3] * 3  # it always names the first place
    assert not judge.exact
    assert unbatched(judge).backend.concurrency == 1
    asked = requests_of(tmp_path)
    assert {(body["max_tokens"], len(body["prompt"])) for body in asked} == {(4, 64)}
    with pytest.raises(PolyrewardError, match="not served"):
        judge.backend.label_logprobs(REQUESTS, "AB", "tiny")
    assert alive(int((tmp_path / "pids").read_text().split()[0]))
    del judge
    assert not left_of(tmp_path)  # as a model leaves memory when nobody refers to it


def test_rows_are_translated_by_the_server_that_the_engine_gets(serve, tmp_path, tiny_gemma):
    rows = [{**ROWS[1], "source": "s"}]  # without a number, which "Hola" would lose
    (row,) = translated(rows, LM, str(tiny_gemma), "en", "es", serve=serve("Hola"))
    assert {row[role] for role in ("prompt", "chosen", "rejected")} == {"Hola"}
    assert not left_of(tmp_path)


def test_all_three_placeholders_are_filled_wherever_they_stand(tmp_path):
    words = ("x", "--notes", str(tmp_path), "--port={port}", '--says={"of": "{model} in {dtype}"}')
    with started(serve_with(sys.executable, "-I", STUB, *words), "a/folder", "bfloat16") as server:
        assert server.texts([[1]], PLAIN, "") == ['{"of": "a/folder in bfloat16"}']


# --- what goes wrong


def test_a_program_that_is_not_installed_is_named():
    words = "command: the program `no-such-server` is not on the PATH.*set devices.serve to null"
    with pytest.raises(PolyrewardError, match=words):
        started(serve_with("no-such-server", "{model}", "{port}"))


def test_a_server_that_fails_at_its_start_is_told_with_its_last_lines(serve, tmp_path):
    with pytest.raises(PolyrewardError, match="the server of a/model") as caught:
        started(serve(how="fails"))
    said = str(caught.value)
    assert "ended before it answered, with exit code 1; fix what it says" in said
    assert said.endswith("ValueError: a/model does not fit\n")
    assert "line 99\n" in said and "line 50\n" not in said
    assert not left_of(tmp_path)


@pytest.mark.parametrize("how", ["never", "silent"])
def test_a_server_that_never_answers_is_ended_after_its_time(serve, tmp_path, how):
    words = r"does not answer at /v1/models after 0.5 s; raise devices.serve.startup_s"
    with pytest.raises(PolyrewardError, match=words) as caught:
        started(serve(how=how, startup_s=0.5))
    assert not left_of(tmp_path)
    assert caught.traceback  # which refers to the server


@pytest.mark.parametrize(("how", "words"), [
    ("400", "a request failed after up to 0 retries: 400: .*maximum context length.*Where 3 tokens and 8 new ones are too"),
    ("404", "404: .*It has to speak OpenAI's completions, at /v1/completions"),
    ("nonsense", "nonsense, not a completion but .*null"),
    ("500", "500: .*See what it printed in the job's log"),
    ("dies", r"(?s)ended in the middle of the job, with exit code 137.*CUDA error: out of luck"),
    pytest.param("slow", "timed out, no reply within 0.3 s.*raise devices.serve.timeout_s", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_request_that_fails_ends_the_job_in_words(serve, tmp_path, how, words):
    setting = serve(how=how, timeout_s=0.3 if how == "slow" else 60, concurrency=1)
    with started(setting) as server, pytest.raises(PolyrewardError, match=words):
        server.texts([[1, 2, 3]] * 50, PLAIN, "")
    assert len(requests_of(tmp_path)) <= 2  # what waits is not asked for
    assert not left_of(tmp_path)


def test_a_failure_does_not_wait_for_what_is_under_way(serve, tmp_path):
    start = time.monotonic()
    server = started(serve(how="hangs", concurrency=2))
    with pytest.raises(PolyrewardError, match="a request failed after up to 0 retries: 400"):
        server.texts([[1]] * 50, PLAIN, "")
    assert time.monotonic() - start < 30
    assert not left_of(tmp_path)


def test_a_server_error_is_tried_again(serve, tmp_path):
    with started(serve(how="stumbles", retries=1)) as server:
        assert server.texts([[1]], PLAIN, "") == ["x"]
    assert len(requests_of(tmp_path)) == 2


# --- nothing is left


def test_a_server_and_its_children_end_with_the_block_also_after_an_error(serve, tmp_path):
    server = started(serve())
    with pytest.raises(ZeroDivisionError), server:
        1 / 0  # noqa: B018
    assert not left_of(tmp_path)  # though somebody still refers to it


def test_a_server_that_does_not_want_to_end_is_killed(serve, tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "GRACE_S", 0.3)
    server = started(serve(how="stubborn"))
    server.close()
    assert not left_of(tmp_path)
    server.close()  # again: nothing


@pytest.mark.slow
@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "1 / 0"])
def test_no_server_outlives_a_job_however_that_ends(serve, tmp_path, end):
    code = (
        "import os\n"
        "from polyreward.models.generation import Writing\n"
        "from polyreward.models.serving import Server\n"
        "from polyreward.settings.base import Serve\n"
        f"server = Server({serve()!r}, 'a/model', 'float32')\n"
        "assert server.texts([[1]], Writing(1, []), '') == ['x']\n"
        f"{end}\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(serving.__file__).parents[2])}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode != 0 and "AssertionError" not in ran.stderr, ran.stderr
    assert requests_of(tmp_path), ran.stderr
    assert not left_of(tmp_path)
