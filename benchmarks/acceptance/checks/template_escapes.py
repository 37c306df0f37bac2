"""S12: templates that try to leave their sandbox, or to take all the time there is."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Final

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.child import Child, free_port
from benchmarks.acceptance.fleet.line import status
from tenantry.errors import TenantryError

_RUN: Final = "echo escaped-$((40+2))"
_ESCAPED: Final = "escaped-42"
_SECONDS: Final = 300
_BOMB: Final = 0.050
"""Seconds of the processor after which a template that asks for too much must have been stopped."""


def attack(effort: Effort) -> Measured:
    """fenjing against a sandboxed page and, as a control, a plain one; the known escapes; the known bombs."""
    found, control = _fenjing(effort)
    sandbox = import_module("tests.html.test_sandbox")
    escaped = sum(not _refused(text) for text in sandbox.ESCAPES)
    slow = {text: taken for text in sandbox.BOMBS if (taken := _seconds(text)) > _BOMB}
    figure = (
        f"fenjing {'escaped' if found else 'did not escape'} (control: {'escaped' if control else 'DID NOT ESCAPE'}); "
        f"{escaped} of {len(sandbox.ESCAPES)} known escapes; {len(slow)} of {len(sandbox.BOMBS)} bombs took over 50 ms"
    )
    return Measured(figure, control and not found and not escaped and not slow, {"slow": slow})


def _fenjing(effort: Effort) -> tuple[bool, bool]:
    with tempfile.TemporaryDirectory(prefix="tenantry-fenjing-") as name:
        port = free_port()
        words = [
            "uvicorn",
            "benchmarks.acceptance.attacks.template_app:app",
            "--port",
            str(port),
            "--log-level",
            "error",
        ]
        server = Child(words, log=Path(name) / "log")
        try:
            server.wait_until(lambda: status(port, "/plain") == 200)
            runs = {}
            for route in ("sandboxed", "plain"):
                effort.say(f"fenjing against /{route}")
                runs[route] = any(_crack(port, route, mode, name) for mode in ("accurate", "fast"))
        finally:
            server.stop()
    return runs["sandboxed"], runs["plain"]


def _crack(port: int, route: str, mode: str, folder: str) -> bool:
    """Whether fenjing ran a command of the system by a template."""
    url = f"http://127.0.0.1:{port}/{route}"
    words = ["crack", "--url", url, "--method", "GET", "--inputs", "text", "--interval", "0", "--detect-mode", mode]
    program = Path(sys.executable).with_name("fenjing")
    done = subprocess.run(
        [str(program), *words, "--waf-keyword", "refused:", "--exec-cmd", _RUN],
        cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=False,
    )  # fmt: skip
    if "Submit payload" not in done.stdout + done.stderr and "fail" not in (done.stdout + done.stderr).lower():
        raise RuntimeError(f"fenjing came to no outcome: {(done.stdout + done.stderr)[-2_000:]}")
    return _ESCAPED in done.stdout + done.stderr


def _refused(text: str) -> bool:
    view = {
        "rows": [1],
        "row": {"a": 1},
        "big": iter(lambda: 0, 1),
        "wide": "x" * 100_000,
        "f": lambda: 1,
        "undo": _undo,
    }
    try:
        import_module("tests.html.test_sandbox").attempt(text, **view)
    except TenantryError:
        return True
    return False


def _undo() -> None:
    """What a template may not call: its mark says that it changes something."""


_undo.alters_data = True  # type: ignore[attr-defined]  # the mark that Jinja's sandbox looks for


def _seconds(text: str) -> float:
    """Of the processor, so that other work on the machine does not count."""
    began = time.process_time()
    if not _refused(text):
        return float("inf")
    return time.process_time() - began


CHECKS = (Check("S12", "Template escapes; bombs that take over 50 ms", "0 (control found); 0", attack, (300, 600)),)
