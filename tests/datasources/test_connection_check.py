"""Whether a data source answers: on each engine, and where nobody does."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest

from tenantry.datasources import check_connection, check_connections
from tenantry.errors import InvalidSource, SourceUnavailable
from tenantry.groups import RegisteredSource
from tests.datasources.conftest import PRODUCTION, Directory, sqlite_file

pytestmark = pytest.mark.anyio
PATIENCE = 120.0


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=64)) as listener:
        yield listener.getsockname()[1]


def source(name: str, url: str) -> RegisteredSource:
    return RegisteredSource(name, name, PRODUCTION, url)


async def test_a_source_that_answers(each_engine: str, directory: Directory) -> None:
    """By a statement that its engine runs: some connect only then."""
    assert await check_connection(directory.registered[0], seconds=PATIENCE) >= 0


async def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    """A file that is missing is told by the name of the source. Red when opening it was left to the first query."""
    with pytest.raises(SourceUnavailable, match=r"^the file of data source warehouse does not exist$"):
        await check_connection(source("warehouse", f"sqlite:///{tmp_path}/none.db"))
    assert list(tmp_path.iterdir()) == []


async def test_a_driver_that_is_missing_is_told_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the first query."""
    monkeypatch.setitem(sys.modules, "tenantry.datasources.engines.mysql", None)
    with pytest.raises(InvalidSource, match=r"PyMySQL .* is not installed: pip install 'tenantry\[mysql\]'$"):
        await check_connection(source("warehouse", "mysql://u:secret@h/d"))


async def test_several_are_asked_side_by_side_and_each_for_so_long(tmp_path: Path, silent: int) -> None:
    """Ten servers that say nothing take no longer than one, and those that answer are not lost among them.

    Red when they were asked one after another, and without the limit: PyMySQL waits for its own time.
    """
    mute = [source(f"mute{each}", f"mysql://u:secret@127.0.0.1:{silent}/d?ssl_mode=disabled") for each in range(10)]
    good = source("good", sqlite_file(tmp_path / "a.db", "acme"))
    for _ in range(4):  # on a busy machine three seconds may be too short for any of them
        begun = monotonic()
        found = await check_connections([*mute, good], seconds=3)
        assert monotonic() - begun < 25
        if answered := found.pop() is None:
            break
    assert answered
    assert {type(each) for each in found} == {SourceUnavailable}
    assert all("secret" not in str(each) for each in found)
