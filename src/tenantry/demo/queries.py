"""The demo's queries: one SQL text each, the same for SQLite and DuckDB and for all sixteen groups."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tenantry.demo.airlines import SCHEMA
from tenantry.errors import DataSourceError, MissingVariable, TenantryError, UnbindableValue
from tenantry.groups import extend
from tenantry.sql import SQLTemplate

if TYPE_CHECKING:
    from tenantry.datasources import DataSources
    from tenantry.demo.period import Period
    from tenantry.groups import Record, UserGroup

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a panel has no rows, for the viewer. ``status`` is what the page then answers with."""

    title: str
    detail: str
    status: int


def _load(name: str) -> SQLTemplate:
    return SQLTemplate((files("tenantry.demo") / "sql" / f"{name}.sql").read_text(encoding="utf-8"))


KEY_FIGURES, MONTHS, ROUTES = _load("key_figures"), _load("months"), _load("routes")


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks for one group, with its variables."""

    sources: DataSources
    group: UserGroup
    variables: Record

    async def rows(self, query: SQLTemplate, period: Period) -> Rows | Failure:
        """The rows of a query for a period. What a viewer may read comes back as a Failure, anything else raises."""
        variables = extend(self.variables, "params", period.params)
        try:
            return await self.sources.fetch(self.group, SCHEMA, query, variables)
        except (MissingVariable, UnbindableValue, DataSourceError) as error:
            return Failure(_title(error), _detail(error), error.status)


def _title(error: TenantryError) -> str:
    if isinstance(error, MissingVariable):
        plural = "s" if len(error.names) > 1 else ""
        return f"Missing variable{plural}: {', '.join(error.names)}"
    if isinstance(error, UnbindableValue):
        return f"A variable cannot be used: {error.name}"
    return f"The data source for “{SCHEMA}” gave no answer"


def _detail(error: TenantryError) -> str:
    """For a viewer: the places in the SQL, which differ from panel to panel, are for its author."""
    if isinstance(error, MissingVariable):
        return "This customer has no value for it. Nothing is shown without it: set it, then open this page again."
    return error.message
