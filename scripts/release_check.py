"""Checks that the sources are ready for a tag: ``python3 -m scripts.release_check v1.2.0``.

Every distribution must have the version of the tag, the changelog an entry with a date for it, and changes/ no file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.distributions import ROOT, distributions, project


def missing(tag: str, root: Path) -> Iterator[str]:
    """Yield a sentence for each thing to do before the tag is set."""
    version = tag.removeprefix("v")
    for name, folder in distributions(root).items():
        if (found := project(folder)["version"]) != version:
            yield f"{name} has the version {found}, and the tag is {tag}."
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        yield f"CHANGELOG.md has no entry '## {version} (YYYY-MM-DD)': run `towncrier build --yes`."
    if left := sorted(path.name for path in (root / "changes").glob("*.md")):
        yield f"changes/ still has {', '.join(left)}: run `towncrier build --yes`."


if __name__ == "__main__":
    sys.exit("\n".join(missing(sys.argv[1], ROOT)) or 0)
