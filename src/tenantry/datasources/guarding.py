"""Guarded tables of data sources (docs/guarded-tables.md): the template that a source runs, and the proof of its
declaration."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from tenantry.datasources.declared_tables import declaration_error
from tenantry.datasources.driver import C, Driver
from tenantry.errors import NotOneStatement, QueryFailed, TemplateError, TenantryError
from tenantry.groups import Record, RegisteredSource, UserGroup, extend
from tenantry.sql import BoundSQL, SQLTemplate

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables, TableEntry

Variables: TypeAlias = Mapping[str, Any] | Record


def guarded_template(
    tables: GuardedTables | None, template: SQLTemplate, group: UserGroup, variables: Variables
) -> tuple[SQLTemplate, Variables]:
    """Return the template and the variables that a source with these tables binds for a group.

    Everything that sends a group's SQL to a source calls this. Guards read the group itself, even if the variables lack
    ``user_group`` or hold a copy of it.
    """
    if tables is None:
        return template, variables
    own = group.variables
    if variables is not own and not _holds(variables, own["user_group"]):
        variables = _with_group(variables, own["user_group"])
    return template.guarded(tables), variables


def _holds(variables: Variables, group: Any) -> bool:
    try:
        return variables["user_group"] is group
    except KeyError:
        return False


def _with_group(variables: Variables, group: Any) -> Variables:
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
        """Raises InvalidSource for a wrong declaration, and the driver's errors if the source does not answer."""
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
            raise declaration_error(self._source, f"are wrong: {error.message}") from None
        for entry, sql in proofs:
            failure = self._run(connection, BoundSQL(sql, None, self._driver.paramstyle, self._driver.dialect, False))
            if isinstance(failure, QueryFailed | NotOneStatement):
                raise declaration_error(self._source, f"are wrong: {_refusal(entry, failure)}")
            if failure is not None:
                raise failure

    def _run(self, connection: C, bound: BoundSQL) -> TenantryError | None:
        try:
            self._driver.fetch(connection, bound)
        except TenantryError as error:
            return error.with_traceback(None)
        except Exception as error:  # noqa: BLE001  # only the driver may read the error's text
            return self._driver.failure(error)
        return None


def _refusal(entry: TableEntry, error: QueryFailed | NotOneStatement) -> str:
    evidence = error.evidence if isinstance(error, QueryFailed) else None
    return f"the data source refuses the table {entry.name} with {entry.described} ({evidence or error.message})"
