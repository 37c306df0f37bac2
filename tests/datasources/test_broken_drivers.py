"""DriverContract sees what a driver does wrong: each of these is SQLite's driver with one promise broken."""

from __future__ import annotations

import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tenantry.datasources import Limits, OpenRows
from tenantry.datasources.engines.sqlite import SQLiteDriver
from tenantry.datasources.results import Result
from tenantry.errors import QueryFailed, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL
from tenantry.testing import DriverContract, EngineCase
from tests.datasources.conftest import sqlite_file
from tests.datasources.engine_cases import sqlite_case

PASSWORD = "pa55w0rd"
PATIENCE = 0.4
RELEASED = threading.Event()
"""Ends the queries that nothing stops."""


class WritingDriver(SQLiteDriver):
    """Opens the file for writing. What gives no rows is still an error, but then it is written."""

    def open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)


class SilentDriver(WritingDriver):
    """Says nothing of what it was not able to do."""

    def open(self) -> sqlite3.Connection:
        connection = super().open()
        connection.execute("pragma query_only = on")
        return connection

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        try:
            return super().fetch(connection, bound)
        except (TenantryError, sqlite3.OperationalError):
            return Result((), [])


class LeakingDriver(SQLiteDriver):
    """Lets settings be set, and keeps them."""

    def open(self) -> sqlite3.Connection:
        connection = super().open()
        connection.set_authorizer(None)
        return connection

    def is_reusable(self, connection: sqlite3.Connection) -> bool:
        return True


class QuotingDriver(SQLiteDriver):
    """Passes on what the engine says."""

    def failure(self, error: Exception) -> TenantryError:
        return QueryFailed(str(error))


class ChainingDriver(SQLiteDriver):
    """Its own message, and the engine's error behind it."""

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        try:
            return super().fetch(connection, bound)
        except sqlite3.Error as error:
            raise QueryFailed("it failed") from error


class BoastingDriver(SQLiteDriver):
    """Shows the password when it is printed."""

    def __repr__(self) -> str:
        return f"<BoastingDriver {PASSWORD}>"


class UnboundedDriver(SQLiteDriver):
    """Takes all rows, under whatever names."""

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        with closing(connection.execute(bound.sql, bound.params or ())) as cursor:
            return Result([column[0] for column in cursor.description], cursor.fetchall())


class ChangingDriver(SQLiteDriver):
    """Normalises texts, as some clients do."""

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        params = tuple(
            unicodedata.normalize("NFC", each) if isinstance(each, str) else each for each in bound.params or ()
        )
        return super().fetch(connection, bound._replace(params=params))


class NamelessDriver(SQLiteDriver):
    """Answers with dicts, which have no names where there are no rows."""

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Any:
        return super().fetch(connection, bound).dicts()


class FirstOnlyDriver(SQLiteDriver):
    """Runs the first of several statements."""

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        first, separator, _ = bound.sql.partition("; ")
        return super().fetch(connection, bound._replace(sql=first) if separator else bound)


class UnstoppableDriver(SQLiteDriver):
    """Stops nothing."""

    def open(self) -> sqlite3.Connection:
        connection = super().open()
        connection.create_function("pause", 0, lambda: RELEASED.wait(60))
        return connection

    def interrupt(self, connection: sqlite3.Connection) -> None: ...


class LateDriver(SQLiteDriver):
    """Gives the rows of the query before, as a client does that leaves an answer unread."""

    before: Result | None = None

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        answer = super().fetch(connection, bound)
        given, self.before = self.before or answer, answer
        return given


class SharingDriver(SQLiteDriver):
    """All connections are one."""

    shared: sqlite3.Connection | None = None

    def open(self) -> sqlite3.Connection:
        self.shared = self.shared or super().open()
        return self.shared


class EmptyTextDriver(SQLiteDriver):
    """Gives an empty text for NULL, as some files do."""

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        answer = super().fetch(connection, bound)
        return Result(answer.names, [tuple("" if each is None else each for each in row) for row in answer.rows])


class GuessingDriver(SQLiteDriver):
    """Says that every column is a UUID."""

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        answer = super().fetch(connection, bound)
        return Result(answer.names, answer.rows, ["uuid"] * len(answer.names))


class RoundingDriver(SQLiteDriver):
    """Streams numbers as floats."""

    def open_rows(self, connection: sqlite3.Connection, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        opened = super().open_rows(connection, bound, session)
        rows = (tuple(float(each) if isinstance(each, int) else each for each in row) for row in opened.rows)
        return replace(opened, rows=rows)


class ListlessDriver(SQLiteDriver):
    """Sends the first value alone, for each."""

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        params = tuple(bound.params or ())
        return super().fetch(connection, bound._replace(params=params[:1] * len(params)))


class StickyDriver(SQLiteDriver):
    """A stop that comes too late stops the next query, of whatever connection."""

    is_stopping = False

    def interrupt(self, connection: sqlite3.Connection) -> None:
        self.is_stopping = True

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        stopped, self.is_stopping = self.is_stopping, False
        if stopped:
            raise sqlite3.OperationalError("interrupted")
        return super().fetch(connection, bound)


class QuotingStreamDriver(SQLiteDriver):
    """Passes on what the engine says, in streams."""

    def open_rows(self, connection: sqlite3.Connection, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        try:
            return super().open_rows(connection, bound, session)
        except sqlite3.Error as error:
            raise QueryFailed(str(error)) from None


BROKEN: list[tuple[type[SQLiteDriver], Callable[..., None], str]] = [
    (WritingDriver, DriverContract.test_what_writes_is_refused, "must refuse this write"),
    (SilentDriver, DriverContract.test_what_writes_is_refused, "must refuse this query"),
    (LeakingDriver, DriverContract.test_a_session_keeps_nothing, "the next query on the connection sees a setting"),
    (UnboundedDriver, DriverContract.test_rows_are_limited, "must refuse this query"),
    (UnboundedDriver, DriverContract.test_bytes_are_limited, "must refuse this query"),
    (UnboundedDriver, DriverContract.test_columns_of_one_name_are_refused, "must refuse this query"),
    (ChangingDriver, DriverContract.test_values_come_back_equal, "comes back as"),
    (NamelessDriver, DriverContract.test_an_empty_result_has_its_columns, r"has the columns \[\]"),
    (FirstOnlyDriver, DriverContract.test_one_statement_only, "must refuse this query"),
    (LateDriver, DriverContract.test_connections_do_not_mix_their_answers, "the rows of another"),
    (SharingDriver, DriverContract.test_closing_one_connection_leaves_the_others, "closed database"),
    (EmptyTextDriver, DriverContract.test_null_is_none_beside_values, "NULL comes back as"),
    (GuessingDriver, DriverContract.test_a_column_says_its_type, "has the type uuid"),
    (RoundingDriver, DriverContract.test_a_stream_gives_the_same_values, "is streamed as"),
    (ListlessDriver, DriverContract.test_a_list_matches_its_members, "matches"),
    (StickyDriver, DriverContract.test_a_stop_after_the_last_row_stops_nothing, "interrupted"),
    (LateDriver, DriverContract.test_queries_are_cancelled_at_any_moment, "the rows of a cancelled one"),
    (UnstoppableDriver, DriverContract.test_a_query_is_stopped_at_its_timeout, "still running"),
    (UnstoppableDriver, DriverContract.test_a_query_is_stopped_from_another_thread, "still running"),
    (UnstoppableDriver, DriverContract.test_it_is_closed_while_queries_run, "still running"),
]
BROKEN_ERRORS: list[tuple[type[SQLiteDriver], str]] = [
    (QuotingDriver, "is shown: no such table"),
    (ChainingDriver, "is shown: no such table"),
    (QuotingStreamDriver, "is shown: no such table"),
    (BoastingDriver, "is shown: <BoastingDriver"),
]


@pytest.fixture
def case_of(tmp_path: Path) -> Iterator[Callable[[type[SQLiteDriver]], EngineCase]]:
    """A case of a broken driver, whose URL has a password."""
    path = tmp_path / "a.db"
    good = sqlite_case(sqlite_file(path, "acme"), "")
    RELEASED.clear()

    def make(kind: type[SQLiteDriver]) -> EngineCase:
        def make_driver(source: RegisteredSource, limits: Limits) -> SQLiteDriver:
            return kind(replace(source, url=f"sqlite:///{path}"), limits)

        case = replace(good, make_driver=make_driver, url=f"own://user:{PASSWORD}@host/name", unreachable_url=None)
        return replace(case, slow="select pause() as v", patience=PATIENCE) if kind is UnstoppableDriver else case

    yield make
    RELEASED.set()


@pytest.mark.parametrize(("kind", "test", "message"), BROKEN)
def test_a_broken_promise_is_seen(
    kind: type[SQLiteDriver], test: Callable[..., None], message: str, case_of: Callable[..., EngineCase]
) -> None:
    """With words that name it."""
    with pytest.raises((AssertionError, sqlite3.Error), match=message):
        test(DriverContract(), case_of(kind))


@pytest.mark.parametrize(("kind", "message"), BROKEN_ERRORS)
def test_an_error_that_shows_something_is_seen(
    kind: type[SQLiteDriver], message: str, case_of: Callable[..., EngineCase], caplog: pytest.LogCaptureFixture
) -> None:
    """In the message, behind it, and where a driver is printed."""
    with pytest.raises(AssertionError, match=message):
        DriverContract().test_an_error_shows_nothing(case_of(kind), caplog)
