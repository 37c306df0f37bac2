"""S11: hostile SQL. sqlmap attacks a route that binds, and one with a known hole; hostile strings change no text."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.child import ROOT, Child, free_port
from benchmarks.acceptance.fleet.line import status
from tenantry.errors import UnbindableValue
from tenantry.sql import SQLTemplate

_BOUND: Final = "/bound?region=eu&status=open&text=e&since=1"
_SPLICED: Final = "/spliced?region=eu"
_PAYLOADS: Final = ROOT.parent / "shared" / "corpus" / "sqli_payloads.txt"

_TEMPLATE: Final = SQLTemplate(
    "select * from orders where region = {{ region }} and status in {{ params.statuses }} "
    "and name like '%{{ params.text }}%' limit {{ params.limit }}"
)
"""What hostile strings are bound in; the same positions as the route's, and one that takes a number."""


def attack(effort: Effort) -> Measured:
    """Findings of sqlmap at level 3 and risk 2, and how often a hostile string changed the text of a statement."""
    effort.say("sqlmap against the hole that is known")
    with tempfile.TemporaryDirectory(prefix="tenantry-sqlmap-") as name:
        folder = Path(name)
        port = free_port()
        words = [
            "uvicorn",
            "--factory",
            "benchmarks.acceptance.attacks.sql_app:create",
            "--port",
            str(port),
            "--log-level",
            "error",
        ]
        server = Child(words, log=folder / "log", env={"ATTACKED_FOLDER": name})
        try:
            server.wait_until(lambda: status(port, _BOUND) == 200)
            control = _sqlmap(f"http://127.0.0.1:{port}{_SPLICED}", folder)
            effort.say("sqlmap against every parameter of the route that binds")
            found = _sqlmap(f"http://127.0.0.1:{port}{_BOUND}", folder)
        finally:
            server.stop()
    changed, tried = _changed_texts()
    figure = (
        f"sqlmap found {len(found)} in 4 parameters (control: {'found' if control else 'NOT FOUND'}); "
        f"{changed} of {tried:,} hostile strings changed a text"
    )
    ok = not found and bool(control) and not changed and tried > 0
    return Measured(figure, ok, {"found": found, "control": control, "changed": changed, "tried": tried})


def _sqlmap(address: str, folder: Path) -> list[str]:
    """The injection points that it reports. Raises RuntimeError when it did not get to test anything."""
    program = shutil.which("sqlmap", path=str(Path(sys.executable).parent))
    if program is None:
        raise RuntimeError("sqlmap is not installed; make scorecard installs it")
    options = ["--batch", "--level=3", "--risk=2", "--flush-session", "--disable-coloring", "--threads=2"]
    # Names of parameters alone: what a tool sends in User-Agent or Referer reaches no statement in either app.
    options += ["--skip=user-agent,referer,host", f"--output-dir={folder / 'sqlmap'}"]
    done = subprocess.run(
        [program, "-u", address, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    points = re.findall(r"^Parameter: (.+)$", done.stdout, re.MULTILINE)
    if not points and "do not appear to be injectable" not in done.stdout:
        raise RuntimeError(f"sqlmap came to no outcome: {done.stdout[-2_000:]}{done.stderr[-500:]}")
    return points


def _changed_texts() -> tuple[int, int]:
    """How many hostile strings made another text, of how many. The corpus is used if it is next to the checkout.

    A string that is refused as a value (it holds a NUL) reaches no statement.
    """
    strings = [*_OWN, *(_PAYLOADS.read_bytes().decode().split("\n") if _PAYLOADS.is_file() else [])]
    usual = _bind("x")
    changed = 0
    for text in strings:
        with suppress(UnbindableValue):
            changed += _bind(text) != usual
    return changed, len(strings)


def _bind(text: str) -> str:
    return _TEMPLATE.bind({"region": text, "params": {"statuses": [text, text], "text": text, "limit": 10}}).sql


_OWN: Final = (
    "' or 1=1 --",
    "\\' or 1=1 --",
    "$$; drop table orders; $$",
    "{{ region }}",
    "[[",
    "]]",
    "/*",
    "*/",
    "\0'",
    "’",
    "%",
    "?",
)

CHECKS = (
    Check(
        "S11",
        "Hostile SQL: findings of sqlmap (level 3, risk 2), texts changed",
        "0 and 0; control found",
        attack,
        (600, 900),
    ),
)
