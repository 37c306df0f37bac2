"""``tenantry`` with points at which it can be made to fail, from outside, while it runs.

The file that ``FAILPOINT`` names says what happens at the next write: ``full`` and ``read-only`` (SQLite's own
limits), ``die before commit`` (the odd word stands, nothing is committed), ``die after commit`` (committed, the odd
word stands).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import Connection, Engine, event

from tenantry.cache.slots.table import SlotTable
from tenantry.cli import main


def _asked() -> str:
    try:
        return Path(os.environ["FAILPOINT"]).read_text()
    except FileNotFoundError:
        return ""


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise SystemExit  # not reached


@event.listens_for(Engine, "begin")
def _limit(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    raw: Any = connection.connection.driver_connection
    pages = raw.execute("pragma page_count").fetchone()[0] if _asked() == "full" else 1_073_741_823
    raw.execute(f"pragma max_page_count = {pages}").close()
    raw.execute(f"pragma query_only = {int(_asked() == 'read-only')}").close()


@event.listens_for(Engine, "commit")
def _before_commit(connection: Connection) -> None:
    if _asked() == "die before commit":
        _die()


_announcing = SlotTable.writing


@contextmanager
def _writing(table: SlotTable, handle: bytes) -> Iterator[None]:
    """``SlotTable.writing`` itself, with a death between the commit and the new version."""
    with _announcing(table, handle):
        yield
        if _asked() == "die after commit":
            _die()


if __name__ == "__main__":
    SlotTable.writing = _writing  # type: ignore[method-assign,assignment]
    main()
