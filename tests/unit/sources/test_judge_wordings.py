"""Published words of judges' questions: fetched from a server on loopback, checked by hash, and read as their
authors' code reads replies."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import pytest
import yaml
from support import ROOT, refused, script

from polyreward.scoring.pair_question import PairJudge, PairQuestion, judge_of
from polyreward.sources.judge_wordings import published_question

CATALOG = yaml.safe_load((ROOT / "workflow/catalog/judge_wordings.yaml").read_text(encoding="utf-8"))
OURS = yaml.safe_load((ROOT / "workflow/catalog/judge_questions.yaml").read_text(encoding="utf-8"))
SYSTEM, TEXT = "Judge them, please.", "Q {question}\n{answer_a}|{answer_b} {json}"
MODULE = (
    'import missing_package\n\nprompt_v2 = (\n    "Judge them, "  # one string in two parts\n    "please."\n)\n'
    f"MTBENCH_V2 = {{**prompt_v2, 'system_prompt': prompt_v2, 'prompt_template': {TEXT!r}}}\n"
)
CHATML = (
    "<|im_start|>system\nBe quick: {\n<|im_end|>\n<|im_start|>user\n## I {instruction}\n\n{\n"
    ' "m": """{output_1}""", "M": """{output_2}"""\n}\n<|im_end|>'
)


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def site():
    """A server with a module and a text in ChatML, and entries as the catalog has them that lead there."""
    files = {"/judges.py": MODULE, "/clf.txt": CHATML, "/page.py": "<html>Log in, please</html>"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            found = files.get(self.path)
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write((found or "").encode())

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    user = '## I {instruction}\n\n{\n "m": """{output_1}""", "M": """{output_2}"""\n}'
    yield {
        "rewardbench": pinned("rewardbench", f"{url}/judges.py", SYSTEM, TEXT),
        "alpacaeval": pinned("alpacaeval", f"{url}/clf.txt", "Be quick: {", user),
    }
    server.shutdown()
    server.server_close()


def pinned(name: str, url: str, system: str, text: str) -> dict:
    """Return the catalog's entry with another address and its texts' hashes."""
    entry = CATALOG[name]
    parts = {key: {**entry[key], "sha256": hashed(one)} for key, one in (("system", system), ("text", text))}
    return {**entry, "url": url, **parts}


def test_the_words_of_a_module_are_read_without_running_it(site):
    found = published_question(site["rewardbench"])
    assert (found["system"], found["text"]) == (SYSTEM, "Q {prompt}\n{first}|{second} {json}")
    request = PairQuestion(**found).request("{first}?", "{second}", "b")
    assert [one["content"] for one in request] == [SYSTEM, "Q {first}?\n{second}|b {json}"]


def test_the_words_of_a_chat_are_its_messages(site):
    question = PairQuestion(**published_question(site["alpacaeval"]))
    assert question.request("Why?", "x", "y") == [
        {"role": "system", "content": "Be quick: {"},
        {"role": "user", "content": '## I Why?\n\n{\n "m": """x""", "M": """y"""\n}'},
    ]
    asked = judge_of({"question": published_question(site["alpacaeval"]), "verdict": "labels"}, None)
    assert asked.weighs  # else it refuses: the probabilities of both names can count


def test_a_job_writes_a_file_that_a_judge_is_asked_by(site, tmp_path):
    path = tmp_path / "judge_questions/rewardbench.yaml"
    asked = SimpleNamespace(params=SimpleNamespace(wording=site["rewardbench"]), output=[str(path)])
    script("sources/judge_question").main(asked)
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    judge = judge_of({"question": str(path), "verdict": "text"}, None)
    assert isinstance(judge, PairJudge)
    assert judge.question == PairQuestion(**published_question(site["rewardbench"]))


def test_another_text_or_none_leaves_no_file_and_all_that_is_wrong_is_said(site, tmp_path):
    wording, path = site["rewardbench"], tmp_path / "rewardbench.yaml"
    wording |= {
        "system": {**wording["system"], "sha256": "0" * 64},
        "text": {**wording["text"], "name": "MTBENCH_V3.prompt_template"},
    }
    text = refused(
        script("sources/judge_question").main,
        SimpleNamespace(params=SimpleNamespace(wording=wording), output=[str(path)]),
    )
    assert not list(tmp_path.iterdir())
    first, *problems = text.splitlines()
    assert first.startswith(f"{wording['url']}, whose words workflow/catalog/judge_wordings.yaml pins")
    assert "set `judge_wordings: ours`" in first and first.endswith(": 2 problems")
    assert problems == [
        f"  - `prompt_v2` has the sha256 {hashed(SYSTEM)}, not {'0' * 64}",
        "  - it holds no string `MTBENCH_V3.prompt_template`",
    ]


def test_a_file_that_is_gone_a_page_in_its_place_and_no_network_are_refused(site):
    wording = site["rewardbench"]
    gone = wording["url"].replace("judges", "gone")
    text = refused(published_question, {**wording, "url": gone})
    assert text.startswith(f"{gone}: the server answered 404; correct `url` in workflow/catalog/")
    assert "`judge_wordings: ours`" in text
    page = wording["url"].replace("judges", "page")
    assert "it holds no string `prompt_v2`" in refused(published_question, {**wording, "url": page})
    nobody = "http://127.0.0.1:9/judges.py"  # nobody listens there
    text = refused(published_question, {**wording, "url": nobody})
    assert text.startswith(f"{nobody}: the connection failed (ConnectError: ")
    assert "run again when there is a network, or set `judge_wordings: ours`, or name a file" in text


REPLIES = [
    "Both are fine.\n\n[[A]]", "A is wrong.\n[[B]]", "[[B]], not [[A]].", "[[A]], or rather [[B]]", "[[B]] and [[B]]",
    "Verdict: [[C]]", "[A]", "[[ A ]]", "[[a]]", "", "[[A/B]]", "[[[B]]]", "[[A]\n]",
]  # fmt: skip


@pytest.mark.parametrize("reply", REPLIES)
def test_published_words_are_read_as_rewardbench_reads(reply):
    entry = CATALOG["rewardbench"]
    named = PairQuestion("", "{prompt}{first}{second}", entry["verdicts"], entry["pattern"]).named(reply)
    theirs = "A" if "[[A]]" in reply else "B" if "[[B]]" in reply else None  # their process_judgement
    assert (None if named is None else "AB"[named]) == theirs


def test_the_catalog_pins_commits_and_hashes_and_holds_no_sentence():
    assert set(CATALOG) <= set(OURS)
    for name, entry in CATALOG.items():
        assert set(entry) == {"url", "system", "text", "places", "verdicts", "pattern"}
        owner, repository, commit, *_ = (
            entry["url"].removeprefix("https://raw.githubusercontent.com/").split("/")
        )
        assert owner and repository and len(commit) == 40 and int(commit, 16)
        assert all(len(entry[key]["sha256"]) == 64 for key in ("system", "text"))
        assert set(entry["places"].values()) == {"prompt", "first", "second"}
        assert entry["verdicts"] == OURS[name]["verdicts"]
    assert max(map(len, json.dumps(CATALOG).split('"'))) < 200
