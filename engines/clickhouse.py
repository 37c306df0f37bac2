"""A real ClickHouse for the whole test session: chdb, its engine as a library, in a child process of its own.

The library takes over signal handlers and memory of the process that loads it, so that is never this one. It needs
530 MB on disk, and a second or two to start.

``python -m engines.clickhouse`` is the child: it reads one query a line, as JSON, and answers each with a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

from tenantry.sql import BoundSQL

_NOT_LOGGED = (
    *("log_queries", "log_profile_events", "query_profiler_real_time_period_ns", "query_profiler_cpu_time_period_ns"),
    "memory_profiler_step",
)
"""Half the work of a small query is to note what it did."""
_TYPES = {str: "String", int: "Int64", float: "Float64", bool: "Bool"}


class ClickHouseError(Exception):
    """The engine's own message."""


class ClickHouse:
    """One engine without a network and without a disk of its own."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self._to, self._from = child.stdin, child.stdout

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        """The rows of a query; its parameters are those of ``{name:Type}``. Raises ClickHouseError."""
        self._to.write(json.dumps([sql, dict(parameters or {})]) + "\n")
        self._to.flush()
        answer = json.loads(self._from.readline())
        if "error" in answer:
            raise ClickHouseError(answer["error"])
        rows: list[list[Any]] = answer["rows"]
        return rows

    def run(self, bound: BoundSQL) -> list[list[Any]]:
        """The rows of a bound template of paramstyle ``pyformat``, its values bound by the server."""
        assert bound.paramstyle == "pyformat"
        params = bound.params or {}
        assert isinstance(params, dict)
        written = {name: f"{{{name}:{_type(value)}}}" for name, value in params.items()}
        texts = {name: _text(value) for name, value in params.items()}
        return self.query(bound.sql % written if written else bound.sql, texts)


_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def _text(value: Any) -> str:
    """A value as the server reads it: a text with tabs and line ends escaped, an array of literals."""
    if isinstance(value, list | tuple):
        literals = (
            "'" + item.translate(_ESCAPES).replace("'", "\\'") + "'" if isinstance(item, str) else str(item)
            for item in value
        )
        return f"[{', '.join(literals)}]"
    return str(value).translate(_ESCAPES)


def _type(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"Array({_type(value[0]) if value else 'Nothing'})"
    return _TYPES[type(value)]


@contextmanager
def running() -> Iterator[ClickHouse]:
    """Starts the engine, and stops it at the end."""
    command = [sys.executable, "-m", "engines.clickhouse"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    try:
        yield ClickHouse(child)
    finally:
        child.kill()  # it keeps everything in memory, and would take up to 20 seconds to end by itself
        child.communicate()


def require_chdb() -> None:
    """For a fixture or a test: skips it where chdb is not installed, and fails it with CI=true."""
    if find_spec("chdb") is None:
        problem = "chdb is not installed: pip install chdb"
        if os.environ.get("CI") == "true":
            pytest.fail(problem)
        pytest.skip(problem)


@pytest.fixture(scope="session")
def clickhouse() -> Iterator[ClickHouse]:
    """A running ClickHouse. Skips where chdb is not installed."""
    require_chdb()
    with running() as engine:
        yield engine


def _serve() -> None:
    import chdb.session

    with chdb.session.Session(":memory:") as session:
        for setting in _NOT_LOGGED:
            session.query(f"set {setting} = 0")
        for line in sys.stdin:
            sql, parameters = json.loads(line)
            try:
                text = str(session.query(sql, "JSONCompact", params=parameters))
                answer = {"rows": json.loads(text)["data"] if text else []}
            except (RuntimeError, ValueError) as error:  # an error in the middle of the rows breaks the JSON
                answer = {"error": str(error)}
                if "In scope" not in str(error):  # then it is one of the text, and there were no rows
                    session.query("select 1", "JSONCompact")  # rows before the error would be before the next answer
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _serve()
