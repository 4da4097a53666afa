"""A local server of OpenAI's chat completions that a test scripts, and judges on it."""

import contextlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from polyreward.scoring.generative import Judge
from polyreward.scoring.interface import Conversations
from polyreward.scoring.pair_question import PairJudge
from polyreward.scoring.server import load_judge

KEY = "sk-secret-key-of-a-user"
ITEMS = [Conversations(f"prompt {n}", ("good", f"bad {n}")) for n in range(3)]  # six requests


def completion(content="Hm.\n[[A]]", top=(("A", -0.1), ("B", -2.0))) -> dict:
    """Return a chat completion; top: its first token's log-probabilities, or None."""
    tokens = [{"token": token, "logprob": logprob} for token, logprob in top or ()]
    logprobs = {"content": [{**tokens[0], "top_logprobs": tokens}]} if tokens else None
    return {"choices": [{"message": {"role": "assistant", "content": content}, "logprobs": logprobs}]}


def sensible(body: dict, times: int) -> tuple:
    """Name the label under which the request shows the good answer."""
    label = re.search(r"<([A-Z])>\ngood\n", body["messages"][0]["content"])[1]
    return 200, {}, completion(f"I say [[{label}]]", [(label, -0.1), ("The", -5.0)])


class Server(ThreadingHTTPServer):
    """A server on loopback. respond(body, times) gives (status, headers, JSON or text); times: requests with
    this body."""

    daemon_threads = True
    request_queue_size = 64  # several judges connect at once; by default the sixth that waits is refused

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.respond, self.bodies, self.headers, self.times = sensible, [], [], Counter()
        self.lock, self.open, self.most = threading.Lock(), 0, 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # a client that waits no longer has hung up


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: N802 - the name that http.server calls
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.open += 1
            server.most = max(server.most, server.open)
            server.times[json.dumps(body, sort_keys=True)] += 1
            times = server.times[json.dumps(body, sort_keys=True)]
            server.bodies.append(body)
            server.headers.append(
                {"path": self.path, **{name.lower(): value for name, value in self.headers.items()}}
            )
        status, headers, reply = server.respond(body, times)
        with server.lock:
            server.open -= 1
        text = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
        self.send_response(status)
        sent = {"Content-Type": "application/json", **headers, "Content-Length": str(len(text))}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def running() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def judge_at(url, cache, verdict="text", max_new_tokens=64, question=None, **changes) -> Judge | PairJudge:
    server = {
        "model": "judge-1",
        "concurrency": 4,
        "timeout_s": 20,
        "retries": 0,
        "api_key_variable": "JUDGE_KEY",
    }
    entry = {
        "verdict": verdict,
        "max_new_tokens": max_new_tokens,
        "server": {"url": url, **server, **changes},
    }
    return load_judge(entry | ({"question": question} if question else {}), {}, cache)
