"""How far a command is, as a terminal shows it: each step of ``group import`` and ``group sync`` that may take long."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tenantry.cli.progress import progress
from tenantry.sql.header.yaml_reader import read_yaml
from tenantry.sql.source import Source
from tests.cli.conftest import Terminal

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals, as on Windows")


END = "[end]"


@contextmanager
def screened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """stderr is a terminal; what it has shown since it was last looked at. Not a fixture: pytest sets stderr between
    these and the test."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)

        def read() -> str:
            print(END, end="", file=terminal, flush=True)
            shown = ""
            while not shown.endswith(END):  # the terminal hands it on in pieces
                shown += os.read(master, 65536).decode()
            return shown.removesuffix(END)

        yield read
    os.close(master)


def test_a_terminal_shows_a_bar_or_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar where the length is known, else how many there were; it ends with a line of its own. Red when an unknown
    length shows nothing."""
    with screened(monkeypatch) as screen:
        with progress(10, "Groups") as advance:
            advance(3)
            assert "30%" in screen()
            advance(7)
        shown = screen()
        assert "100%" in shown
        assert shown.replace("\x1b[?25h", "").endswith("\r\n")
        with progress(None, "Comparing") as advance:
            advance(1500)
            advance(500)
        assert "2000" in screen()


def test_no_terminal_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Red when nobody looks whether stderr is one: a log would have the bars."""
    for length in (10, None):
        with progress(length, "Groups") as advance:
            advance(10)
    assert capsys.readouterr().err == ""


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int | None, int]]:
    """The steps of the commands that follow by their names: the length that was told, and how far each came."""
    seen: dict[str, tuple[int | None, int]] = {}

    @contextmanager
    def counted(length: int | None, label: str) -> Iterator[Callable[[int], None]]:
        done = Counter[str]()
        yield lambda number: done.update({label: number})
        seen[label] = (length, done[label])

    for name in ("group_import", "group_sync", "groups_file"):
        monkeypatch.setattr(f"tenantry.cli.{name}.progress", counted)
    return seen


def test_each_step_of_a_sync_moves(ready: Terminal, folder: Path, steps: dict[str, tuple[int | None, int]]) -> None:
    """Reading, checking, comparing, writing and deleting. Red when one of them, the reading of a large YAML file above
    all, shows nothing until it is done."""
    yaml, lines = folder / "groups.yaml", folder / "groups.ndjson"
    yaml.write_text("groups:\n  a: {name: A}\n  b: {}\n")
    length = len(yaml.read_text())
    ready("group", "sync", str(yaml))
    assert steps == {"Reading": (length, length), "Checking": (2, 2), "Comparing": (None, 0), "Writing": (2, 2)}
    lines.write_text(json.dumps({"user_group_id": "c"}) + "\n")
    length = len(lines.read_text())
    steps.clear()
    ready("group", "sync", str(lines), "--prune", "--yes")
    expected = {"Reading": (length, length), "Comparing": (None, 2), "Writing": (1, 1), "Deleting": (2, 2)}
    assert steps == expected


def test_a_large_file_is_counted_while_it_is_read() -> None:
    """Red when all of it is told at the end, or some of it never."""
    text, told = "".join(f"k{number}: {number}\n" for number in range(2000)), list[int]()
    read_yaml(Source(text, "groups.yaml"), 0, len(text), advance=told.append)
    assert len(told) > 4
    assert sum(told) == len(text)


def test_an_import_moves_by_bytes_or_by_lines(
    ready: Terminal, folder: Path, steps: dict[str, tuple[int | None, int]]
) -> None:
    """A file has a length; of stdin nobody knows it. Red when stdin shows nothing."""
    text = '{"user_group_id": "a"}\n{"user_group_id": "b"}\n'
    (folder / "groups.ndjson").write_text(text)
    ready("group", "import", "groups.ndjson")
    assert steps == {"Groups": (len(text), len(text))}
    ready("group", "import", "-", given=text)
    assert steps == {"Groups": (None, 2)}
