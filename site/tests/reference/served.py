"""Served: API pages, the API that they call and a relay, behind one real server on a free port."""

from __future__ import annotations

import http.client
import json
import select
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tenantry_site.page import Page

ROOT = Path(__file__).parents[3]
STYLES = ("site", "head", "sidebar", "page", "text", "code", "components", "playground")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
ANSWERS: dict[str, tuple[int, str, bytes]] = {
    "/api/html": (200, "text/html", b"<script>window.run = 1</script><img src=x onerror='window.run = 2'>"),
    "/api/ansi": (200, "text/plain", "\x1b[31mred\x07\u202egnp".encode()),
    "/api/large": (200, "application/json", json.dumps(["x" * 100] * 10_000).encode()),
    "/api/binary": (200, "image/png", b"\x89PNG\r\n\x1a\n\0\0\xff\xfe"),
    "/api/broken": (500, "application/json", b'{"a": [1, 2'),
    "/api/number": (200, "application/json", b'{"id":12345678901234567890}'),
    "/api/empty": (204, "", b""),
}


def shell(page: Page) -> bytes:
    """The smallest frame that has the site's styles and scripts."""
    return (
        '<!doctype html><html lang="en" class="js"><head><meta charset="utf-8"><title>Page</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/style.css">'
        '<script src="/components.js" defer></script><script src="/playground.js" defer></script></head>'
        '<body><div class="frame"><div class="sidebar"></div><main id="Site-content" class="wide">'
        f'<header class="page-head"><h1>{page.title}</h1></header><article class="content">{page.html}'
        "</article></main></div></body></html>"
    ).encode()


@cache
def assets() -> dict[str, tuple[str, bytes]]:
    """The styles as one file, and the scripts."""
    folder = ROOT / "site" / "src" / "tenantry_site" / "static"
    styles = [folder / "bundles" / "tokens.css", *(folder / f"{name}.css" for name in STYLES)]
    text = "".join(path.read_text(encoding="utf-8") for path in styles if path.exists())
    scripts = {f"/{name}.js": ("text/javascript", (folder / f"{name}.js").read_bytes()) for name in
               ("components", "playground")}  # fmt: skip
    return {"/style.css": ("text/css", text.encode()), **scripts}


@dataclass
class Served:
    """The address, the pages by their paths, and what arrived at the API: method, path, headers, body."""

    url: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    arrived: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)
    relayed: list[tuple[dict[str, str], dict[str, object]]] = field(default_factory=list)


@contextmanager
def serving() -> Iterator[Served]:
    """A server in a thread."""
    served = Served()

    class Handler(_Handler):
        here = served

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    here: Served

    def handle_one_request(self) -> None:
        """Any method."""
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if path in self.here.pages:
            self.answer(200, "text/html; charset=utf-8", self.here.pages[path])
        elif path in assets():
            self.answer(200, *assets()[path])
        elif path.endswith("/_relay"):
            self.relay(json.loads(body))
        elif path.startswith("/api/"):
            self.api(path, body)
        else:
            self.answer(404, "text/plain", b"")

    def api(self, path: str, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.here.arrived.append((self.command, self.path, headers, body.decode("utf-8", "replace")))
        if path == "/api/slow":  # until who asked has left
            select.select([self.connection], [], [], 120)
            self.close_connection = True
        elif path in ANSWERS:
            self.answer(*ANSWERS[path])
        else:
            self.answer(200, "application/json", json.dumps({"method": self.command, "ok": True}).encode())

    def relay(self, asked: dict[str, object]) -> None:
        self.here.relayed.append((dict(self.headers.items()), asked))
        url = urlsplit(str(asked["url"]))
        if url.hostname != "127.0.0.1":
            reported = {"error": {"code": "origin_not_allowed", "message": f"{url.hostname} may not be reached."}}
            self.answer(403, "application/json", json.dumps(reported).encode())
            return
        connection = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=60)
        body = asked["body"]
        headers = {str(name): str(value) for name, value in dict(asked["headers"]).items()}  # type: ignore[call-overload]
        connection.request(str(asked["method"]), f"{url.path}?{url.query}" if url.query else url.path,
                           body.encode() if isinstance(body, str) else None, headers)  # fmt: skip
        reply = connection.getresponse()
        raw = reply.read()
        try:
            content = {"body": raw.decode(), "encoding": "text"}
        except UnicodeDecodeError:
            content = {"body": b64encode(raw).decode(), "encoding": "base64"}
        found = {"status": reply.status, "headers": dict(reply.getheaders()), "milliseconds": 7, "truncated": False}
        connection.close()
        self.answer(200, "application/json", json.dumps({**found, **content}).encode())

    def answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""
