"""One table, several processes: nothing stale is ever shown, nobody loses a race, a killed writer harms nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from engines.warm_python import Popen
from tenantry.cache.slots import SharedSlots
from tests.cache.slots.worker import HANDLE, SLOT

ROOT = Path(__file__).parents[3]


@contextmanager
def _worker(verb: str, folder: Path, *rest: object, **options: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.cache.slots.worker", verb, str(folder), *map(str, rest)]
    environment = {**os.environ, **options}
    pipe = subprocess.PIPE
    with Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True) as worker:
        try:
            yield worker
        finally:
            worker.kill()


def _output(verb: str, folder: Path, *rest: object, **options: str) -> str:
    with _worker(verb, folder, *rest, **options) as worker:
        output = worker.communicate(timeout=120)[0]
        assert worker.returncode == 0
    return output


def _tell_ready(worker: subprocess.Popen[str]) -> None:
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"


def _count_stale(folder: Path, verb: str, readers: int = 3) -> tuple[int, int]:
    """Hits and stale answers of ``readers`` processes while one writes. Once more where one of them
    hardly ran meanwhile: on a busy machine it has seen nothing."""
    for attempt in range(5):
        (folder / str(attempt)).mkdir()
        counts = _counts(folder / str(attempt), verb, readers)
        if all(looks > 1_000 for looks, _, _ in counts):
            return sum(hits for _, hits, _ in counts), sum(stale for _, _, stale in counts)
    raise AssertionError(counts)


def _counts(folder: Path, verb: str, readers: int) -> list[list[int]]:
    """Looks, hits and stale answers of each reader."""
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker("read", folder)) for _ in range(readers)]
        for worker in workers:
            _tell_ready(worker)
        writer = stack.enter_context(_worker(verb, folder))
        _tell_ready(writer)
        return [list(map(int, worker.communicate(timeout=120)[0].split())) for worker in workers]


def test_nothing_stale_is_shown(tmp_path: Path) -> None:
    """1,000 acknowledged writes, three processes that look without pause.

    Red when the last version is stored before the commit: see the control below.
    """
    hits, stale = _count_stale(tmp_path, "write")
    assert hits > 1_000
    assert stale == 0


def test_control_the_last_version_before_the_commit(tmp_path: Path) -> None:
    """The test above can fail: the same writer, whose last version comes before its commit, is caught."""
    for attempt in range(5):  # a busy machine may run no reader in just that moment
        (tmp_path / f"run-{attempt}").mkdir()
        if _count_stale(tmp_path / f"run-{attempt}", "write-too-early")[1]:
            return
    raise AssertionError("it was never caught")


def test_a_killed_writer_leaves_odd_and_is_repaired(tmp_path: Path) -> None:
    """Red when a write stores its versions only after the commit: old answers would stay, and nothing would show it."""
    slots = SharedSlots.open("s", tmp_path / "run")
    slots.touch(HANDLE)
    before = slots.versions[SLOT]
    with _worker("crash", tmp_path) as worker:
        _tell_ready(worker)
        worker.kill()
        worker.wait()
    left = slots.versions[SLOT]
    assert left & 1
    slots.repair(SLOT, left)
    assert slots.versions[SLOT] not in {before, left}
    assert not slots.versions[SLOT] & 1


def test_eight_processes_make_the_files_at_once(tmp_path: Path) -> None:
    """Each opens the same 50 new files and touches a slot of its own in each: none is missing.

    Red when a file is moved to its path before it is whole, or over another's: a touch would be lost, or an open fail.
    """
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker("make", tmp_path, 50)) for _ in range(8)]
        for worker in workers:
            _tell_ready(worker)
        for number, worker in enumerate(workers):
            assert worker.stdin is not None
            worker.stdin.write(f"\n{number}\n")
            worker.stdin.flush()
        for worker in workers:
            worker.communicate(timeout=120)
        assert [worker.returncode for worker in workers] == [0] * 8
    for number in range(50):
        versions = SharedSlots.open(f"s{number}", tmp_path / "run").versions
        assert all(versions[slot] for slot in range(8))
    assert sorted(path.suffix for path in (tmp_path / "run").iterdir()) == [".slots"] * 50
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_table_opened_before_a_fork_is_shared(tmp_path: Path) -> None:
    """Red when the file is mapped privately."""
    assert _output("fork", tmp_path) == "True True\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_is_refused_unless_a_group_is_shared() -> None:
    """Red when the owner, or the group, is not looked at."""
    with TemporaryDirectory() as name:  # not tmp_path: that is root's own
        folder = Path(name)
        folder.chmod(0o1777)
        path = SharedSlots.open("s", folder / "run").path
        assert "refused" in _output("as-user", folder, 1001, 1001)
        path.unlink()
        path.parent.rmdir()
        shared = {"TENANTRY_RUN_GROUP": "2001"}
        assert _output("as-user", folder, 1001, 2001, **shared) == "shared\n"
        assert _output("as-user", folder, 1002, 2001, **shared) == "shared\n"
        assert "refused" in _output("as-user", folder, 1003, 2002, **shared)
        assert "refused" in _output("as-user", folder, 1001, 2001)  # without the setting nothing is shared
