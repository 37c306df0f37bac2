"""Observes bound SQL, cache keys, fetched rows, logs, ``sys.stdout`` and ``sys.stderr`` during a leak check."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import IO, Any, Protocol
from unittest.mock import patch

from tenantry.datasources import DataSources
from tenantry.sql import BoundSQL, SQLTemplate

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class Observer(Protocol):
    def bound(self, template: object, bound: BoundSQL) -> None:
        pass

    def key(self, key: str, *, of_group: bool) -> None:
        """``of_group``: the key is for one group only."""

    def rows(self, template: object, rows: Any) -> None:
        pass

    def written(self, where: str, text: str) -> None:
        pass


@contextmanager
def observe(observer: Observer, level: int) -> Iterator[None]:
    """Patch Tenantry and logging in this process to call ``observer``; set the root logger to ``level``."""
    bind, fingerprint, fetch = SQLTemplate.bind, BoundSQL.fingerprint, DataSources.fetch
    handle = logging.Logger.callHandlers

    def observed_bind(self: SQLTemplate, *arguments: Any, **options: Any) -> BoundSQL:
        bound = bind(self, *arguments, **options)
        observer.bound(self, bound)
        return bound

    def observed_fingerprint(self: BoundSQL, **options: Any) -> str:
        key = fingerprint(self, **options)
        observer.key(key, of_group=self.reads_group or options.get("session") is not None)
        return key

    async def observed_fetch(self: DataSources, group: Any, schema: str, template: Any, *arguments: Any) -> Any:
        rows = await fetch(self, group, schema, template, *arguments)
        observer.rows(template, rows)
        return rows

    def observed_record(self: logging.Logger, record: logging.LogRecord) -> None:
        observer.written(f"log of {record.name}", _record_text(record))
        handle(self, record)

    root = logging.getLogger()
    before = root.level
    with ExitStack() as stack:
        stack.enter_context(patch.object(SQLTemplate, "bind", observed_bind))
        stack.enter_context(patch.object(BoundSQL, "fingerprint", observed_fingerprint))
        stack.enter_context(patch.object(DataSources, "fetch", observed_fetch))
        stack.enter_context(patch.object(logging.Logger, "callHandlers", observed_record))
        stack.enter_context(redirect_stdout(_Copy(observer, "stdout", sys.stdout)))
        stack.enter_context(redirect_stderr(_Copy(observer, "stderr", sys.stderr)))
        root.setLevel(level)
        stack.callback(root.setLevel, before)
        yield


class _Copy:
    """Passes writes to a stream, and to the observer."""

    def __init__(self, observer: Observer, name: str, stream: IO[str]) -> None:
        self._observer = observer
        self._name = name
        self._stream = stream

    def write(self, text: str) -> int:
        self._observer.written(self._name, text)
        return self._stream.write(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _record_text(record: logging.LogRecord) -> str:
    extra = [f"{name}={value!r}" for name, value in vars(record).items() if name not in _PLAIN]
    try:
        return "\n".join([logging.Formatter().format(record), *extra])
    except (TypeError, ValueError):  # its arguments do not fit its format string
        return "\n".join([str(record.msg), repr(record.args), *extra])
