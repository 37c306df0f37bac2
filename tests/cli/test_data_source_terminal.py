"""A secret that is typed is not shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engines.warm_python import Popen
from tests.cli.conftest import Terminal

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals, as on Windows")


@pytest.fixture
def typed(folder: Path) -> Callable[..., str]:
    """Run a command on a terminal, answer each prompt with a line, and return the text on the terminal."""

    def run(*arguments: str, answers: dict[str, str]) -> str:
        master, slave = pty.openpty()
        shown = ""
        try:
            command = [sys.executable, "-m", "tenantry", *arguments]
            with Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True) as process:
                os.close(slave)
                for prompt, answer in answers.items():
                    while not shown.endswith(prompt):
                        shown += os.read(master, 4096).decode()
                    os.write(master, f"{answer}\n".encode())
                try:
                    while piece := os.read(master, 4096):
                        shown += piece.decode()
                except OSError:
                    pass  # EIO: the command has closed its terminal
            assert process.returncode == 0, shown
        finally:
            os.close(master)
        return shown

    return run


def test_a_typed_secret_is_not_shown(ready: Terminal, typed: Callable[..., str]) -> None:
    """One line ends it. Red when the terminal shows the characters, and when the command waits for Ctrl-D."""
    address = "mysql://reader:s3cret-1@db.example.com/shop"
    shown = typed("data-source", "create", "shop", "--no-check", "--url", "-", answers={"URL: ": address})
    shown += typed("data-source", "update", "shop", "--no-check", "--password", "-", answers={"Password: ": "s3cret-2"})
    assert "ds_" in shown
    assert "s3cret" not in shown
    both = {"URL: ": address.replace("db.", "new."), "Password: ": "s3cret-3"}
    words = ("data-source", "update", "shop", "--no-check", "--url", "-", "--password", "-")
    assert "s3cret" not in typed(*words, answers=both)
    assert ready("data-source", "show", "shop", "--json").json()["url"] == "mysql://reader:***@new.example.com/shop"
    refused = ready(*words, given="s3cret-4\n", fails=2).err
    assert "a pipe can hold the URL or the password, not both" in refused
