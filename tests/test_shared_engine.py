"""An engine that the test processes of a run share. Threads stand for processes: each opens the locks' files itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from engines.shared import shared

PATIENCE = 60.0


class Engine:
    """A server that notes what happens to it."""

    def __init__(self) -> None:
        self.events: list[str] = []

    @contextmanager
    def run(self) -> Iterator[str]:
        self.events.append("started")
        yield f"address {self.events.count('started')}"
        self.events.append("stopped")


def test_one_process_starts_it_and_the_last_one_leaves_before_it_stops(tmp_path: Path) -> None:
    """Red when each starts its own, and when the one that started it does not wait for the others."""
    engine, everybody = Engine(), threading.Barrier(3)
    first_has_left = threading.Event()

    def use(number: int) -> str:
        with shared(tmp_path, "engine", engine.run) as address:
            everybody.wait(PATIENCE)
            if number:
                assert first_has_left.wait(PATIENCE)
                engine.events.append("used")
        return address

    def start() -> None:
        with shared(tmp_path, "engine", engine.run):
            everybody.wait(PATIENCE)
            first_has_left.set()
        engine.events.append("left")

    with ThreadPoolExecutor(3) as pool:
        starting = pool.submit(start)
        while not (tmp_path / "engine.address").exists():
            assert not starting.done()
        assert [*pool.map(use, [1, 2])] == ["address 1", "address 1"]
        starting.result(PATIENCE)
    assert engine.events == ["started", "used", "used", "stopped", "left"]


def test_a_later_process_starts_it_again(tmp_path: Path) -> None:
    """Red when the address of a stopped server is left behind."""
    engine = Engine()
    for number in (1, 2):
        with shared(tmp_path, "engine", engine.run) as address:
            assert address == f"address {number}"
    assert engine.events == ["started", "stopped"] * 2


def test_a_server_that_does_not_start_leaves_no_address(tmp_path: Path) -> None:
    """The next process tries again."""

    @contextmanager
    def broken() -> Iterator[str]:
        raise OSError("no server")
        yield ""

    with pytest.raises(OSError, match="no server"), shared(tmp_path, "engine", broken):
        pass
    engine = Engine()
    with shared(tmp_path, "engine", engine.run) as address:
        assert address == "address 1"
