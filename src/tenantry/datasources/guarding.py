"""Guarded tables of data sources (docs/guarded-tables.md): the template that a source runs, and the proof of its
declaration."""

from __future__ import annotations

import json
import logging
from collections import ChainMap
from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Generic

from tenantry.datasources.driver import C, Driver
from tenantry.errors import InvalidSource, NotOneStatement, QueryFailed, TemplateError, TenantryError
from tenantry.groups import Record, RegisteredSource, UserGroup, extend
from tenantry.sql import BoundSQL, SQLTemplate

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables, TableEntry

NEUTRAL: Final = "the data source cannot be used: its operator can see the reason in the log"
"""What viewers read if a declaration is wrong. The full message names tables and columns."""

_log: Final = logging.getLogger("tenantry.datasources")


def declared_tables(source: RegisteredSource) -> GuardedTables | None:
    """Return the declaration of a source, the same object for equal ones; None without one. Raises InvalidSource for
    one that cannot be read or lists no table, and if sqlglot is not installed."""
    if not source.tables:
        return None
    try:
        tables = _read(source.tables)
    except (ValueError, TemplateError) as error:
        problem = error.message if isinstance(error, TemplateError) else "it is not JSON"
        raise _invalid(source, f"cannot be read: {problem}") from None
    if not tables.entries:
        raise _invalid(source, "lists no table, so no query could run")
    return tables


@lru_cache(maxsize=1024)
def _read(text: str) -> GuardedTables:
    from tenantry.sql.guarding import read_tables  # only for sources with a declaration

    return read_tables(json.loads(text))


def guarded_template(
    tables: GuardedTables | None, template: SQLTemplate, group: UserGroup, variables: Mapping[str, Any] | Record
) -> tuple[SQLTemplate, Mapping[str, Any] | Record]:
    """Return the template and the variables that a source with these tables binds for a group.

    Everything that sends a group's SQL to a source calls this. Guards read the group itself, also if the variables
    lack ``user_group`` or hold a copy of it.
    """
    if tables is None:
        return template, variables
    own = group.variables
    if variables is not own and not _holds(variables, own["user_group"]):
        variables = _with_group(variables, own["user_group"])
    return template.guarded(tables), variables


def _holds(variables: Mapping[str, Any] | Record, group: Any) -> bool:
    try:
        return variables["user_group"] is group
    except KeyError:
        return False


def _with_group(variables: Mapping[str, Any] | Record, group: Any) -> Mapping[str, Any] | Record:
    if isinstance(variables, Record):
        return extend(variables, "user_group", group)
    return ChainMap({"user_group": group}, variables)  # type: ignore[arg-type]  # only reads


class DeclarationProof(Generic[C]):
    """Proves a source's declaration on its first connection: each table and column must exist. Thread-safe.

    Connections that open meanwhile wait. After a failure, the next connection repeats the proof.
    """

    def __init__(self, source: RegisteredSource, tables: GuardedTables, driver: Driver[C]) -> None:
        self._source = source
        self._tables = tables
        self._driver = driver
        self._lock = Lock()
        self._is_proved = False

    def check(self, connection: C) -> None:
        """Raises InvalidSource for a wrong declaration; what the driver raises if the source does not answer."""
        if self._is_proved:
            return
        with self._lock:
            if not self._is_proved:
                self._prove(connection)
                self._is_proved = True

    def _prove(self, connection: C) -> None:
        try:
            proofs = self._tables.proof_queries(self._driver.dialect)
        except TemplateError as error:
            raise _invalid(self._source, f"is wrong: {error.message}") from None
        for entry, sql in proofs:
            failure = self._run(connection, BoundSQL(sql, None, self._driver.paramstyle, self._driver.dialect, False))
            if isinstance(failure, QueryFailed | NotOneStatement):
                raise _invalid(self._source, f"is wrong: {_refusal(entry, failure)}")
            if failure is not None:
                raise failure

    def _run(self, connection: C, bound: BoundSQL) -> TenantryError | None:
        try:
            self._driver.fetch(connection, bound)
        except TenantryError as error:
            return error.with_traceback(None)
        except Exception as error:  # noqa: BLE001  # only the driver may read its text
            return self._driver.failure(error)
        return None


def _refusal(entry: TableEntry, error: QueryFailed | NotOneStatement) -> str:
    evidence = error.evidence if isinstance(error, QueryFailed) else None
    return f"the data source refuses the table {entry.name} with {entry.described} ({evidence or error.message})"


def _invalid(source: RegisteredSource, problem: str) -> InvalidSource:
    error = InvalidSource(
        f"the declaration of guarded tables of data source {source.id} {problem}. No query runs on it until you "
        f"correct tables.yaml and run: tenantry data-source update {source.provided_id} --tables tables.yaml",
        field="/tables",
    )
    error.generic_message = NEUTRAL
    _log.error("%s", error.message)
    return error
