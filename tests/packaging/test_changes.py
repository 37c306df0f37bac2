"""The files in ``changes/``: each has a type that is known and whole sentences, and a release makes a list of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHANGES = ROOT / "changes"
TEMPLATE = "template.md.jinja"
TYPES = ("added", "changed", "fixed", "removed", "security")
NAME = re.compile(rf"\+?[a-z0-9]+(-[a-z0-9]+)*\.({'|'.join(TYPES)})(\.\d+)?\.md")
SENTENCES = re.compile(r"[A-Z0-9`*<(\[“\"].*[.!?)`*”\"]", re.DOTALL)


def mistakes(folder: Path) -> list[str]:
    """What is wrong with the files of a folder of changes, a line each."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.name == TEMPLATE:
            continue
        text = path.read_text("utf-8").strip()
        if NAME.fullmatch(path.name) is None:
            found.append(f"{path.name} is not called <slug>.<type>.md; the types are {', '.join(TYPES)}")
        if SENTENCES.fullmatch(text) is None:
            found.append(f"{path.name} holds no whole sentence: it begins with a capital and ends with a full stop")
        if re.search(r"^(#|[-*] )", text, re.MULTILINE):
            found.append(f"{path.name} has a heading or a list of its own: the changelog puts its text into a list")
    return found


def test_every_change_has_a_known_type_and_a_sentence() -> None:
    """towncrier itself passes over a file whose type it does not know: the change would be in no changelog."""
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]["type"]
    assert [each["directory"] for each in configured] == [*TYPES]
    assert mistakes(CHANGES) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("groups.feature.md", "Groups can be listed."),
        ("Groups list.added.md", "Groups can be listed."),
        ("groups.added.txt", "Groups can be listed."),
        ("groups.md", "Groups can be listed."),
        ("groups.added.md", ""),
        ("groups.added.md", "list groups"),
        ("groups.added.md", "## Groups\n\nGroups can be listed."),
        ("groups.added.md", "- Groups can be listed."),
    ],
)
def test_what_is_refused(tmp_path: Path, name: str, text: str) -> None:
    """Red for each when its rule is taken out of ``mistakes``."""
    (tmp_path / name).write_text(text)
    assert mistakes(tmp_path)


def test_a_release_puts_them_together(tmp_path: Path) -> None:
    """Under the version, in the order of the types, above what was there; without the files' names, with or without
    ``+``. Red without the marker in CHANGELOG.md, with towncrier's own template, and with its underlined headings."""
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    folder = tmp_path / "changes"
    folder.mkdir()
    shutil.copy(CHANGES / TEMPLATE, folder)
    (folder / "no-more.removed.md").write_text("A thing is gone.\n")
    (folder / "+list-groups.added.md").write_text("Groups can\nbe listed.\n")
    (folder / "dry-run.added.md").write_text("A write can be tried.\n")
    assert mistakes(folder) == []
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.9.9", "--date", "2030-01-31"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    old, new = (ROOT / "CHANGELOG.md").read_text("utf-8"), (tmp_path / "CHANGELOG.md").read_text("utf-8")
    head, marker, rest = old.partition("<!-- towncrier release notes start -->\n")
    assert marker
    added = new.removeprefix(head + marker).removesuffix(rest.lstrip("\n"))
    assert added.split("\n") == [
        *("", "## 9.9.9 (2030-01-31)", ""),
        *("Added:", "", "- A write can be tried.", "- Groups can", "  be listed.", ""),
        *("Removed:", "", "- A thing is gone.", "", ""),
    ]
    assert [path.name for path in folder.iterdir()] == [TEMPLATE]
