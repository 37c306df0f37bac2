"""``make audit``, against a registry of ours: no test asks a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import scripts.audit

ROOT = Path(__file__).parents[2]
LEAK = {"id": "PYSEC-2030-1", "aliases": ["CVE-2030-7"], "fixed_in": ["1.1", "2.0"], "summary": "It\nleaks."}


@dataclass
class Registry:
    """What it knows by ``NAME/VERSION``, as text; what it was asked; its address."""

    known: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def tell(self, release: str, *advisories: dict[str, Any]) -> None:
        self.known[release] = json.dumps({"info": {}, "vulnerabilities": advisories})


@pytest.fixture
def registry() -> Iterator[Registry]:
    here = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _, _, name, version, _ = self.path.split("/")
            here.asked.append(f"{name}/{version}")
            told = here.known.get(f"{name}/{version}")
            self.send_response(200 if told is not None else 404)
            self.end_headers()
            self.wfile.write((told or "not here").encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        here.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield here
        server.shutdown()


@pytest.fixture
def constraints(tmp_path: Path) -> Path:
    """Of three packages, as ``make lock`` writes it."""
    path = tmp_path / "constraints.txt"
    digest = f" \\\n    --hash=sha256:{'0' * 64}\n"
    path.write_text(f"# by make lock\none==1.0{digest}two.more==2.0 ; python_version < '4'{digest}three==3.0{digest}")
    return path


Audit = Callable[..., tuple[int, str]]


@pytest.fixture
def audit(constraints: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Audit:
    """The status for a registry, and what was printed."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def ask(address: str, *ignored: str) -> tuple[int, str]:
        status = scripts.audit.audit(scripts.audit.pinned(constraints.read_text("utf-8")), address, {*ignored})
        return status, capsys.readouterr().out

    return ask


def test_the_registry_of_pip_is_asked(registry: Registry, constraints: Path) -> None:
    """As a command, by pip's own setting; the status is that of the process. Red when an address is fixed."""
    command = [sys.executable, "-m", "scripts.audit", "--constraints", str(constraints), "--ignore", "CVE-2030-7"]
    environment = {**os.environ, "PIP_INDEX_URL": f"{registry.address}/simple/", "NO_PROXY": "127.0.0.1"}
    registry.tell("one/1.0", LEAK)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    told = "The registry said nothing of two.more 2.0, three 3.0.\n"
    assert (done.returncode, done.stdout, done.stderr) == (3, told, "")


def test_nothing_is_known(registry: Registry, audit: Audit) -> None:
    """Each is asked for, once, without its hash and marker; an advisory that was withdrawn does not count."""
    registry.tell("one/1.0")
    registry.tell("two.more/2.0", LEAK | {"withdrawn": "2030-02-01T00:00:00Z"})
    registry.tell("three/3.0")
    assert audit(registry.address) == (0, "No vulnerability is known of the 3 packages.\n")
    assert sorted(registry.asked) == ["one/1.0", "three/3.0", "two.more/2.0"]


def test_what_is_known_is_told(registry: Registry, audit: Audit) -> None:
    """With its names and the versions that mend it; also where the registry is silent of another package. Red when the
    status is 3 then: a pipeline that takes 3 for "nothing to see" would pass."""
    registry.tell("one/1.0")
    registry.tell("three/3.0", LEAK)
    told = "three 3.0: PYSEC-2030-1, CVE-2030-7; fixed in 1.1 or 2.0. It leaks.\n"
    assert audit(registry.address) == (1, f"{told}The registry said nothing of two.more 2.0.\n")
    registry.tell("two.more/2.0")
    assert audit(registry.address, "CVE-2030-7")[0] == 0


@pytest.mark.parametrize("told", [None, "<html>hello</html>", '{"info": {}}', "[]"])
def test_a_registry_without_advisories(registry: Registry, audit: Audit, told: str | None) -> None:
    """Is said to be one, with a status of its own, after one question. Red when "no data" counts as "nothing known"."""
    registry.known = {} if told is None else {"one/1.0": told}
    status, said = audit(registry.address)
    assert status == 3
    assert said.endswith("nothing was checked.\n")
    assert registry.asked == ["one/1.0"]


def test_a_registry_that_cannot_be_reached(registry: Registry, audit: Audit) -> None:
    """The same, and no traceback."""
    assert audit("http://127.0.0.1:9")[0] == 3
    assert registry.asked == []
