"""The driver for trusted sources, which use other SQLAlchemy dialects. Only the rights of the database user keep them
read-only.

Templates use the dialect ``duckdb``, because other engines understand its SQL for lists too: ``in (?, ?)``, and ``in
(select null where false)`` for an empty list.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import create_engine
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from tenantry.datasources import Limits, take_result
from tenantry.datasources.engines import (
    SEVERAL,
    UNHELD,
    Engine,
    check_statement,
    parse_url,
    query_error,
    refusal,
    refuse_dynamic_sql,
    statement_error,
    unreachable_error,
)
from tenantry.errors import InvalidSource, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.results import Result
from tenantry.sql import BoundSQL

_BUFFERED = 1  # rows that SQLAlchemy fetches ahead

# SQL that every engine lexes in the same way: plain strings, quoted names, two kinds of comments, and no character that
# only some engines read as a quote, an escape or a comment. In other SQL, one engine could read a placeholder where
# another reads a part of a string.
_PLAIN = re.compile(
    r"""(?: (?<!\w)(?<![uU]&)'(?!'')(?:[^'\\]|'')*'(?!') | (?<!\w)(?<![uU]&)"(?!"")[^"\\]*+"
          | --[ \t][^\n\r]*+(?=\n|\Z) | /\*(?![!+M])(?:(?!/\*|\*/).)*\*/
          | -(?!-) | /(?!\*) | [^'"\\`\[\]\#$/;-] )*""",
    re.DOTALL | re.VERBOSE,
)


@lru_cache(maxsize=512)
def is_plain(sql: str) -> bool:
    """Return whether every engine lexes this SQL in the same way, as one statement."""
    return _PLAIN.fullmatch(sql.rstrip(" \t\r\n;")) is not None


class TrustedDriver:
    """A Driver over a SQLAlchemy engine. Raises InvalidSource if the dialect or its driver is not installed."""

    dialect = "duckdb"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self._limits = limits
        failed = ""
        try:
            self._engine = create_engine(url, poolclass=NullPool, hide_parameters=True)
        except (SQLAlchemyError, ArgumentError, ImportError, TypeError, ValueError) as error:
            failed = type(error).__name__
        # Raise outside the except clause: otherwise the context would be the caught error, which quotes the password.
        if failed:
            raise InvalidSource(
                f"no SQLAlchemy engine can be made for data source {self.source_id} ({failed}): "
                f"install the package of the dialect {url.drivername!r}, and its driver, with pip"
            )
        self.paramstyle: str = self._engine.dialect.paramstyle

    def open(self) -> Connection:
        """Connect. Raises SourceUnavailable."""
        failure: TenantryError
        try:
            return self._engine.connect()
        except SQLAlchemyError as error:
            failure = unreachable_error(self.source_id, error)
        raise failure

    def fetch(self, connection: Connection, bound: BoundSQL) -> Result:
        """Run one statement in a transaction that is rolled back."""
        check_statement(self.source_id, refusal(bound.sql))
        if not is_plain(bound.sql):
            check_statement(self.source_id, SEVERAL if is_plain(bound.sql.replace(";", " ")) else None)
            raise query_error(
                self.source_id,
                "engines could read this SQL in different ways: on a trusted dialect, use plain quotes and comments; "
                "use no backslash, backtick, square bracket, # or $, and put no letter directly before a quote",
            )
        refuse_dynamic_sql(self.source_id, bound, None)
        try:
            return self._read(connection, bound)
        finally:
            connection.rollback()

    def _read(self, connection: Connection, bound: BoundSQL) -> Result:
        options = {"no_parameters": True, "stream_results": True, "max_row_buffer": _BUFFERED}
        params: Any = bound.params or None
        with connection.exec_driver_sql(bound.sql, params, execution_options=options) as result:
            if not result.returns_rows:
                raise statement_error(self.source_id, "it returns no rows")
            return take_result(self.source_id, list(result.keys()), map(tuple, result), self._limits)

    def failure(self, error: Exception) -> TenantryError:
        original = getattr(error, "orig", None)
        if getattr(error, "connection_invalidated", False):  # the server has closed the connection
            return unreachable_error(self.source_id, original or error)
        state = getattr(original, "sqlstate", None)
        name = type(original or error).__name__
        return query_error(self.source_id, f"{name} (SQLSTATE {state})" if isinstance(state, str) else name)

    def interrupt(self, connection: Connection) -> None:
        """Do nothing: SQLAlchemy's drivers have no common way to stop a query. After a timeout, the connection stays
        occupied until the driver returns."""

    def close(self, connection: Connection) -> None:
        connection.close()

    def shutdown(self) -> None:
        self._engine.dispose()


def check_dialect(url: URL) -> None:
    """Raise InvalidSource for an asynchronous driver, or a dialect that is not installed."""
    missing = False
    try:
        dialect = url.get_dialect()
    except (NoSuchModuleError, ArgumentError, ImportError):
        missing = True
    # Raise outside the except clause: otherwise the context would be the caught error, which quotes the URL.
    if missing:
        raise InvalidSource(
            f"the SQLAlchemy dialect {url.drivername!r} is not installed here: pip install the package that has it",
            field="/url",
        )
    if dialect.is_async:
        raise InvalidSource(
            f"{url.drivername!r} is an asynchronous driver; a trusted data source needs a synchronous one", field="/url"
        )


ENGINE: Final = Engine(
    name="trusted",
    dialect=TrustedDriver.dialect,
    make_driver=TrustedDriver,
    enforcement=UNHELD,
    check_url=check_dialect,
    needs_trust=True,
)
