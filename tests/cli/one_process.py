"""Commands one after another in one other process: to start it takes longer than most of them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from engines.terminal import CommandResult
from engines.warm_python import run

PYTHON = [sys.executable, "-c"]
CODE = """
import json, sys
from click.testing import CliRunner
from tenantry.cli import commands
for line in sys.argv[1:]:
    words = line.split()
    variables = dict(word.split("=", 1) for word in words if word.startswith("TENANTRY_"))
    done = CliRunner().invoke(commands, words[len(variables):], env=variables, prog_name="tenantry")
    print(json.dumps([done.stdout, done.stderr, done.exit_code]))
"""


def run_all(
    folder: Path,
    *lines: str,
    before: str = "",
    python: Sequence[str] = PYTHON,
    variables: dict[str, str] | None = None,
) -> list[CommandResult]:
    """What each ``tenantry`` with these words printed. As in a shell, a line may begin with variables of its own:
    ``TENANTRY_PORT=1 serve``. The code ``before`` is run first."""
    done = run(
        [*python, before + CODE, *lines],
        env={**os.environ, **(variables or {})},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    results = [CommandResult(*json.loads(line)) for line in done.stdout.splitlines()]
    assert len(results) == len(lines)
    assert not any("Traceback" in result.err for result in results)
    return results
