"""A running `tenantry serve` with its API token, and a server that answers as a later version might."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from engines.warm_python import Popen, run

SECONDS = 120.0
"""How long anything here may take before it counts as stuck."""

LATER = {
    "success": 0,
    "error": {"code": "a_code_of_later", "message": "Etwas, das heute keine Version kennt: 東京.", "hint": "?"},
    "request_id": "9f3c2b1a7d5e4f60",
    "more": {"since": 2},
}
"""An error with a code and with members that no version of today knows."""

STATUSES = {"busy": 503}
"""What the later server answers a PUT of this id with; any other with 422."""


@dataclass(frozen=True)
class Running:
    """``url`` serves; ``api_token`` may do everything; ``later`` answers each PUT with an unknown code."""

    url: str
    api_token: str = field(repr=False)
    later: str

    def environment(self) -> dict[str, str]:
        """What the programs read."""
        return {"BASE_URL": self.url, "API_TOKEN": self.api_token, "LATER_URL": self.later}


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    """A service of its own in this folder, stopped at the end."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TENANTRY_")},
        "TENANTRY_DATABASE": f"sqlite:///{folder / 'store.db'}",
        "TENANTRY_KEYS": str(folder / "tenantry.keys"),
        "TENANTRY_RUN_DIR": str(folder / "run"),
    }

    def tenantry(*arguments: str) -> str:
        command = [sys.executable, "-m", "tenantry", *arguments]
        done = run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    tenantry("keys", "new")
    tenantry("migrate")
    tenantry("environment", "create", "production", "--tag", "Customer", "--grace-seconds", "3600")
    scopes = ("--scope", "provision", "--scope", "introspect")
    api_token = tenantry("api-token", "create", "--environment", "production", *scopes)
    with _serving(folder, environment) as url, _later() as later:
        yield Running(url, api_token, later)


@contextmanager
def _serving(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    log = folder / "serve.log"
    command = [sys.executable, "-m", "tenantry", "serve", "--port", "0"]
    with log.open("wb") as output:
        process = Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        url = _address(process, log)
        with urllib.request.urlopen(f"{url}/readyz", timeout=SECONDS) as answer:
            assert answer.status == 200
        yield url
    finally:
        process.terminate()
        process.wait(SECONDS)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends and process.poll() is None:
        text = log.read_text("utf-8")
        if "Tenantry serves http" in text:
            return text.partition("Tenantry serves ")[2].partition("/api/user")[0]
        time.sleep(0.05)
    raise AssertionError(f"tenantry serve did not start: {log.read_text('utf-8')}")


@contextmanager
def _later() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Later) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(SECONDS)


class _Later(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        body = json.dumps(LATER).encode()
        status = STATUSES.get(asked["user_group_id"], 422)
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "7")
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given: object) -> None:
        """Says nothing."""
