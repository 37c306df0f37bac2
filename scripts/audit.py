"""Finds known vulnerabilities of the versions in requirements/constraints.txt: ``make audit``.

It asks the registry that pip uses for the advisories of each release (``/pypi/NAME/VERSION/json`` of PyPI's JSON API,
which many mirrors lack). Exit status: 0 no vulnerability is known, 1 at least one is, 2 wrong usage, 3 the registry has
no answer for at least one release. The first release is asked for alone, so that a registry without advisories gets
only one request.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from packaging.requirements import Requirement

CONSTRAINTS: Final = Path(__file__).parents[1] / "requirements" / "constraints.txt"
NOT_TOLD: Final = 3
_SECONDS: Final = 30
_TOGETHER: Final = 8

Advisory = dict[str, Any]


def main() -> None:
    """Print a line for each advisory, and exit with the status that the module's docstring explains."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.audit", description="Known vulnerabilities of what we use."
    )
    parser.add_argument("--constraints", type=Path, default=CONSTRAINTS, help="file of name==version lines")
    parser.add_argument("--ignore", nargs="+", default=[], metavar="ID", help="advisories that do not concern us")
    given = parser.parse_args()
    sys.exit(audit(pinned(given.constraints.read_text("utf-8")), registry(), set(given.ignore)))


def pinned(text: str) -> list[tuple[str, str]]:
    """Return (name, version) of each line of a constraints file, which may have hashes and markers."""
    entries = re.sub(r"#.*|--hash=\S+", "", text.replace("\\\n", " ")).splitlines()
    required = [Requirement(entry) for entry in entries if entry.strip()]
    return [(each.name, str(each.specifier).removeprefix("==")) for each in required]


def registry() -> str:
    """Return the URL of the registry that pip uses, without ``/simple`` and without a slash at the end."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    default = importlib.import_module("pip._internal.models.index").PyPI.simple_url
    return str(os.environ.get("PIP_INDEX_URL") or told or default).rstrip("/").removesuffix("/simple")


def audit(releases: list[tuple[str, str]], address: str, ignored: set[str]) -> int:
    """Print the advisories of the releases, except ``ignored`` ids, and return the exit status."""
    first, rest = releases[:1], releases[1:]
    answers = [_advisories(address, *release) for release in first]
    if None not in answers:
        with ThreadPoolExecutor(_TOGETHER) as together:
            answers += together.map(lambda release: _advisories(address, *release), rest)
    untold = [f"{name} {version}" for (name, version), told in zip(releases, answers, strict=False) if told is None]
    known = [
        (release, advisory)
        for release, told in zip(releases, answers, strict=False)
        for advisory in told or []
        if not ignored & {advisory["id"], *advisory.get("aliases", [])}
    ]
    for (name, version), advisory in known:
        print(_line(name, version, advisory))
    if len(answers) < len(releases):
        print("The registry that pip uses has no advisories, or cannot be reached: nothing was checked.")
    elif untold:
        print(f"The registry said nothing of {', '.join(untold)}.")
    if not known and not untold:
        print(f"No vulnerability is known of the {len(releases)} packages.")
    return 1 if known else NOT_TOLD if untold else 0


def _advisories(address: str, name: str, version: str) -> list[Advisory] | None:
    """Return the advisories of a release without withdrawn ones; None if the registry has no such data."""
    request = Request(f"{address}/pypi/{quote(name)}/{quote(version)}/json", headers={"Accept": "application/json"})  # noqa: S310
    try:
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310  # pip's own registry
            told = json.load(answer).get("vulnerabilities") if answer.status == HTTPStatus.OK else None
    except (URLError, OSError, ValueError, AttributeError):
        return None
    return None if told is None else [each for each in told if not each.get("withdrawn")]


def _line(name: str, version: str, advisory: Advisory) -> str:
    names = ", ".join([advisory["id"], *advisory.get("aliases", [])])
    fixed = _either(advisory.get("fixed_in") or [])
    summary = " ".join((advisory.get("summary") or advisory.get("details") or "").split())
    return f"{name} {version}: {names}; {fixed}. {summary[:300]}".rstrip()


def _either(versions: Iterable[str]) -> str:
    found = " or ".join(versions)
    return f"fixed in {found}" if found else "no version is without it"


if __name__ == "__main__":
    main()
