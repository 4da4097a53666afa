"""Drive a real Chromium in tests through its own protocol over two pipes; only the browser is needed."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WAIT_S = 60  # for an answer


class Browser:
    """One page of a headless Chromium; said: its console messages, with errors; asked: each address requested."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="polyreward-chromium-")
        there, self.out = os.pipe()
        self.into, back = os.pipe()
        # Chromium reads commands from 3 and answers on 4
        command = 'exec 3<&"$IN" 4>&"$OUT"; exec "$@"'
        flags = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
            f"--user-data-dir={self.folder}",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            ["bash", "-c", command, "bash", CHROMIUM, *flags],
            pass_fds=[there, back], env={**os.environ, "HOME": self.folder, "IN": str(there), "OUT": str(back)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(there)
        os.close(back)
        self.buffer, self.number, self.session = b"", 0, None
        self.events, self.said, self.asked = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        os.close(self.into)
        os.close(self.out)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **params):
        """Send a command of the DevTools protocol and return its result."""
        self.number += 1
        session = {"sessionId": self.session} if self.session else {}
        message = {"id": self.number, "method": method, "params": params} | session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self.number:
            pass
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _next(self):
        until = time.monotonic() + WAIT_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, until - time.monotonic()))
            part = os.read(self.into, 1 << 20) if ready else b""
            assert part, "Chromium ended, or does not answer"
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.said.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.said.append(str(params["args"]))
        elif method == "Log.entryAdded":
            self.said.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith("data:"):
            self.asked.append(params["request"]["url"])
        return message

    def open(self, path, width=1280, media=""):
        """Open a file in a window of this width and wait until it is loaded."""
        window = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **window)
        self.call("Emulation.setEmulatedMedia", media=media)
        self.events, self.said, self.asked = [], [], []
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self._next()

    def run(self, script):
        """Return the value of a JavaScript expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")
