"""A local server of OpenAI's /v1/models and /v1/completions, as vLLM's; tests start it as a program.

It answers with a tiny model's text from transformers (--dtype), or with one text (--says). It writes its
process id, its child's and each request to the folder --notes. --how chooses a fault.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # started as a program, perhaps where that is not looked at

from canned_replies import canned_reply  # noqa: E402


class Model:
    """A causal LM that continues token ids, one request at a time."""

    def __init__(self, folder: str, dtype: str, canned: bool):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(1)
        self.torch, self.lock, self.canned = torch, threading.Lock(), canned
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()

    def __call__(self, body: dict) -> tuple[str, str]:
        torch = self.torch
        if self.canned and (reply := canned_reply(self.tokenizer.decode(body["prompt"]))):
            return reply, "stop"
        drawn = {"do_sample": False}
        if body["temperature"]:
            drawn = {"do_sample": True, **{name: body[name] for name in ("temperature", "top_k", "top_p")}}
        ids = torch.tensor([body["prompt"]])
        with self.lock, torch.inference_mode():
            torch.manual_seed(body["seed"])
            found = self.model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=body["max_tokens"], num_beams=1,
                repetition_penalty=body["repetition_penalty"], eos_token_id=body["stop_token_ids"] or None, pad_token_id=0,
                tokenizer=self.tokenizer, stop_strings=body["stop"] or None, **drawn,
            )  # fmt: skip
        new = found[0, ids.shape[1] :].tolist()
        cut = len(new) == body["max_tokens"] and new[-1] not in body["stop_token_ids"]
        if new and new[-1] in body["stop_token_ids"]:
            del new[-1]
        text = self.tokenizer.decode(new, skip_special_tokens=body["skip_special_tokens"])
        stops = [text.index(stop) for stop in body["stop"] if stop in text]
        return text[: min(stops, default=len(text))], "length" if cut and not stops else "stop"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        served = {"data": [{"id": "tiny", "object": "model"}], "object": "list"}
        (
            self._say(200, served)
            if self.path == "/v1/models" and self.server.how != "silent"
            else self._say(404, {})
        )

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.asked += 1
            number = server.asked
            with open(server.notes / "requests.jsonl", "a") as notes:
                notes.write(json.dumps({"path": self.path, **body}) + "\n")
        if server.how == "dies" and number == 2:
            print("CUDA error: out of luck", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if server.how == "stumbles" and number == 1:
            self._say(500, {"error": "busy"})
        elif server.how == "hangs" and number == 1:
            time.sleep(600)
        elif server.how in ("500", "400", "404", "hangs"):
            status = 400 if server.how == "hangs" else int(server.how)
            self._say(status, {"error": {"message": "maximum context length is 16 tokens"}})
        elif server.how == "nonsense":
            self._say(200, {"choices": [{"text": None}]})
        elif server.how == "slow":
            time.sleep(0.8)
            self._say(200, {"choices": [{"text": "late"}]})
        else:
            text, reason = server.answer(body)
            self._say(200, {"choices": [{"index": 0, "text": text, "finish_reason": reason}]})

    def _say(self, status: int, said: dict):
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--notes", type=Path, required=True)
    parser.add_argument("--how", default="well")
    parser.add_argument("--dtype")
    parser.add_argument("--says")
    parser.add_argument("--canned", action="store_true", help="answer what canned_replies.py knows by that")
    options = parser.parse_args()
    # vLLM has processes of its own, which must not outlive it either.
    child = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"])
    with open(options.notes / "pids", "a") as notes:
        notes.write(f"{os.getpid()} {child.pid}\n")
    if options.how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.how == "never":
        time.sleep(600)
    if options.how == "fails":
        print(*(f"line {number}" for number in range(100)), sep="\n", flush=True)
        sys.exit(f"ValueError: {options.model} does not fit")
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads, server.lock, server.asked = True, threading.Lock(), 0
    server.notes, server.how = options.notes, options.how
    server.answer = (
        Model(options.model, options.dtype, options.canned)
        if options.says is None
        else lambda body: (options.says, "stop")
    )
    server.serve_forever(0.05)


if __name__ == "__main__":
    main()
