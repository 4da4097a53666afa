"""A local judge with OpenAI's /v1/chat/completions, for the dress rehearsal."""

import hashlib
import json
import math
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from canned_replies import canned_reply

WORDS = [
    "river",
    "lamp",
    "sister",
    "bread",
    "morning",
    "garden",
    "copper",
    "winter",
    "letter",
    "stone",
    "music",
    "harbour",
]


class ChatServer:
    """The server. asked: {model: requests}."""

    def __init__(self):
        self.asked: dict[str, int] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.asked, Lock()))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def _handler(asked: dict[str, int], lock: Lock):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                asked[body["model"]] = asked.get(body["model"], 0) + 1
            prompt = "\n\n".join(message["content"] for message in body["messages"])
            message = {"role": "assistant", "content": canned_reply(prompt) or _words(prompt)}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            if body.get("logprobs"):
                choice["logprobs"] = {"content": [_first_token(message["content"])]}
            said = {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [choice],
            }
            text = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments):
            pass

    return Handler


def _first_token(said: str) -> dict:
    """Return the text as one token of probability 0.8, with M or m as the alternative, as in AlpacaEval."""
    top = [{"token": said, "logprob": math.log(0.8)}, {"token": said.swapcase(), "logprob": math.log(0.1)}]
    return {**top[0], "top_logprobs": top}


def _words(prompt: str) -> str:
    """Return a few words that depend on the prompt."""
    return " ".join(WORDS[byte % len(WORDS)] for byte in hashlib.sha256(prompt.encode()).digest()[:8]) + "."
