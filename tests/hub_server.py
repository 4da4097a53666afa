"""A local hub with the few endpoints that huggingface_hub uses to fetch a repository."""

import hashlib
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

COMMIT = "c" * 40
API = re.compile(
    r"/api/(?P<kind>models|datasets)/(?P<name>[\w.-]+/[\w.-]+)/(?P<what>revision|tree|auth-check)(?:/(?P<revision>[^/?]+))?"
)
FILE = re.compile(
    r"/(?P<kind>datasets/)?(?P<name>[\w.-]+/[\w.-]+)/resolve/(?P<revision>[^/]+)/(?P<file>[^?]+)"
)


class Hub:
    """The server.

    Attributes:
        repositories: {(kind, owner/name): {file: bytes}}, kind "models" or "datasets".
        gated: {owner/name: token that opens it}.
        cuts: {file: bytes after which its next download breaks off, once}.
        forbidden: files that are answered with 403.
        asked: (method, path, range) of every request.
    """

    def __init__(self):
        self.repositories: dict[tuple[str, str], dict[str, bytes]] = {}
        self.gated: dict[str, str] = {}
        self.cuts: dict[str, int] = {}
        self.forbidden: set[str] = set()
        self.asked: list[tuple[str, str, str | None]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def files_asked(self):
        """Return (file, range) of every download."""
        return [
            (found["file"], span)
            for how, path, span in self.asked
            if how == "GET" and (found := FILE.match(path))
        ]


def _handler(hub: Hub):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            hub.asked.append((self.command, self.path, self.headers.get("Range")))
            api, file = API.match(self.path), FILE.match(self.path)
            match = api or file
            if match is None:
                self._say(404)
                return
            kind = match["kind"].strip("/") if match["kind"] else "models"
            files, token = hub.repositories.get((kind, match["name"])), hub.gated.get(match["name"])
            is_open = not token or self.headers.get("Authorization") == f"Bearer {token}"
            if files is None:
                self._say(401, error="RepoNotFound")  # the hub's own answer: it may be private
            elif api and match["what"] == "auth-check":
                self._say(200, b"{}") if is_open else self._say(401, error="GatedRepo")
            elif match["revision"] not in ("main", COMMIT):
                self._say(404, error="RevisionNotFound")
            elif api and match["what"] == "revision":
                self._say(200, json.dumps({"id": match["name"], "sha": COMMIT, "siblings": []}).encode())
            elif api:
                listed = [
                    {"type": "file", "path": path, "oid": _etag(content), "size": len(content)}
                    for path, content in files.items()
                ]
                self._say(200, json.dumps(listed).encode())
            elif not is_open:
                self._say(401, error="GatedRepo")
            elif match["file"] in hub.forbidden:
                self._say(403)
            elif match["file"] not in files:
                self._say(404, error="EntryNotFound")
            else:
                self._file(match["file"], files[match["file"]])

        do_HEAD = do_GET  # noqa: N815 (http.server names it)

        def _file(self, name, content):
            first = int(re.match(r"bytes=(\d+)-", self.headers.get("Range") or "bytes=0-")[1])
            self.send_response(206 if first else 200)
            self.send_header("ETag", f'"{_etag(content)}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(content) - first))
            if first:
                self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            if self.command == "HEAD":
                return
            cut = hub.cuts.pop(name, None)
            self.wfile.write(content[first:cut])
            self.close_connection = cut is not None

        def _say(self, status, body=b"", error=None):
            self.send_response(status)
            if error:
                self.send_header("X-Error-Code", error)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    return Handler


def _etag(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()
