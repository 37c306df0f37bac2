"""``pip install`` for the Makefile, with a line for each thing that takes its time.

pip itself prints either nothing or hundreds of lines. What it says as warnings and errors is passed on whole.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

STEPS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\s*Installing build dependencies: started"), lambda _: "getting the build tools"),
    (re.compile(r"\s*Preparing \w*\s*metadata .*: started"), lambda _: "reading what it needs"),
    (re.compile(r"Collecting ([\w.-]+)"), lambda found: f"collecting {found[1]}"),
    (re.compile(r"Processing \S*/([\w.]+)-\d\S*\.whl"), lambda found: f"collecting {found[1]}"),  # a wheel on the disk
    (
        re.compile(r"\s*Downloading (\S+)-\d\S* \((\d{2,}[.\d]* MB)\)"),
        lambda found: f"downloading {found[1]}, {found[2]}",
    ),
    (re.compile(r"\s*Building (?:editable|wheel) .*: started"), lambda _: "building the browser bundles, with npm"),
    (re.compile(r"Installing collected packages: (.*)"), lambda found: f"unpacking {found[1].count(',') + 1} packages"),
)
"""What pip prints -> what is shown. Everything else is left out."""


def shown(lines: Iterable[str]) -> Iterator[str]:
    """The lines to show, each once."""
    seen = set()
    for line in lines:
        for pattern, text in STEPS:
            found = pattern.match(line)
            if found is not None and (step := text(found)) not in seen:
                seen.add(step)
                yield f"  {step}"


def install(words: list[str]) -> int:
    """Runs pip with these words and returns its exit status."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", *words]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:  # noqa: S603
        assert process.stdout is not None  # noqa: S101  # asked for above
        for line in shown(process.stdout):
            print(line, flush=True)  # noqa: T201
    return process.returncode


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
