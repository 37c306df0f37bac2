"""Applies and checks declarations of guarded tables (docs/guarded-tables.md)."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias

from tenantry.datasources.declared_tables import declaration_error
from tenantry.datasources.driver import Answer, C, Driver, attempt
from tenantry.datasources.results import Result
from tenantry.errors import NotOneStatement, QueryFailed, TemplateError, TenantryError
from tenantry.groups import Record, RegisteredSource, UserGroup, extend
from tenantry.sql import DIALECTS, BoundSQL, SQLTemplate

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables

Variables: TypeAlias = Mapping[str, Any] | Record

_NAMES: Final = (
    """; correct names that do not exist, and put reserved words in double quotes, as in `'"order"': customer_id`"""
)


def guarded_template(
    tables: GuardedTables | None, template: SQLTemplate, group: UserGroup, variables: Variables
) -> tuple[SQLTemplate, Variables]:
    # All code that sends a group's SQL to a source calls this. Guards get their values from `group` itself, even if the
    # variables lack `user_group` or contain a copy of it.
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
    """Checks a source's declaration on its first connection: each table and column must exist. Thread-safe."""

    # Connections that open during the check wait for it. After a failure, the next connection repeats the check.

    def __init__(self, source: RegisteredSource, tables: GuardedTables, driver: Driver[C]) -> None:
        self._source = source
        self._tables = tables
        self._driver = driver
        self._lock = Lock()
        self._is_proved = False

    def check(self, connection: C) -> None:
        """Check the declaration, unless an earlier check succeeded. Raises InvalidSource for a wrong declaration, and
        the driver's errors if the source does not answer."""
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
            self._answer(connection, sql, f"the table {entry.name} with {entry.described}", _NAMES)
        self._check_functions(connection)

    def _check_functions(self, connection: C) -> None:
        sql = DIALECTS[self._driver.dialect].row_functions
        if not sql:
            return
        answer = self._answer(connection, sql, "to list its functions")
        names = (row["name"] for row in (answer.dicts() if isinstance(answer, Result) else answer))
        unlisted = ", ".join(sorted(name for name in names if name.lower() not in self._tables.functions))
        if unlisted:
            fix = "list those that read no table under `functions`; revoke execute on the others from the source's user"
            problem = f"lack functions that a query can call as `alias.name`, without brackets: {unlisted} ({fix})"
            raise declaration_error(self._source, problem)

    def _answer(self, connection: C, sql: str, refused: str, hint: str = "") -> Answer:
        bound = BoundSQL(sql, None, self._driver.paramstyle, self._driver.dialect, False)
        failure = attempt(partial(self._driver.fetch, connection, bound), self._driver.failure)
        if not isinstance(failure, TenantryError):
            return failure
        if not isinstance(failure, QueryFailed | NotOneStatement):
            raise failure
        evidence = failure.evidence if isinstance(failure, QueryFailed) else None
        problem = f"are wrong: the data source refuses {refused} ({evidence or failure.message}{hint})"
        raise declaration_error(self._source, problem)
