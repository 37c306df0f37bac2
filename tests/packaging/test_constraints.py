"""requirements/constraints.txt: whole, in agreement with every distribution, and each file's hash in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from scripts.distributions import DISTRIBUTIONS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "requirements" / "constraints.txt").read_text("utf-8")
ENTRIES = [line for line in TEXT.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
PINNED = {
    canonicalize_name(required.name): required
    for required in (Requirement(re.sub(r"--hash=\S+", "", entry)) for entry in ENTRIES)
}
APART = {"snowflake", "bigquery", "databricks"}  # `make warehouses`: they want older versions than the others


def declared() -> Iterator[Requirement]:
    """The requirements of every distribution, and of their builds."""
    for folder in DISTRIBUTIONS.values():
        file = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        extras = file["project"].get("optional-dependencies", {})
        wanted = [text for extra in extras.keys() - APART for text in extras[extra]]
        for text in (*file["build-system"]["requires"], *file["project"]["dependencies"], *wanted):
            required = Requirement(text)
            if required.name not in DISTRIBUTIONS:
                yield required


def test_each_package_has_one_version_and_its_hashes() -> None:
    """Of the sdist and of a wheel for each platform, so at least one. No address of a registry. Red when a line is
    written by hand."""
    assert len(PINNED) == len(ENTRIES)
    assert [name for name, pinned in PINNED.items() if re.fullmatch(r"==[^*,]+", str(pinned.specifier)) is None] == []
    found = {entry: re.findall(r"--hash=(\S+)", entry) for entry in ENTRIES}
    bad = [entry for entry, hashes in found.items() if not hashes or len({*hashes}) < len(hashes)]
    bad += [entry for entry, hashes in found.items() if not all(re.fullmatch("sha256:[0-9a-f]{64}", h) for h in hashes)]
    assert bad == [], "run `make lock`"
    assert "://" not in TEXT


def test_the_versions_are_in_the_ranges_that_are_asked_for() -> None:
    """Red when pyproject.toml asks for a package that has no line, or for a newer version: run ``make lock``."""
    wrong = [
        f"{required}: {pinned}"
        for required in declared()
        if (pinned := PINNED.get(canonicalize_name(required.name))) is None
        or not required.specifier.contains(_version(pinned), prereleases=True)
    ]
    assert wrong == [], "run `make lock`"


def test_what_the_packages_ask_for_has_a_line() -> None:
    """As far as it is installed here. Red when a line is taken out of the file."""
    missing = {}
    for name in PINNED:
        try:
            texts = requires(name) or []
        except PackageNotFoundError:  # for another platform, or of an extra that the tests do without
            continue
        needs = [need for need in map(Requirement, texts) if need.marker is None or need.marker.evaluate({"extra": ""})]
        missing |= {str(need): name for need in needs if canonicalize_name(need.name) not in PINNED}
    assert missing == {}, "run `make lock`"


def _version(pinned: Requirement) -> Version:
    return Version(str(pinned.specifier).removeprefix("=="))
