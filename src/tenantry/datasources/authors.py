"""Rules for queries of the SQL editor's authors (docs/editor-operating.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tenantry.datasources.query_label import untagged
from tenantry.datasources.url import parse_url
from tenantry.errors import PrivateNameUsed
from tenantry.groups import Environment, RegisteredSource
from tenantry.ports import SourceDirectory
from tenantry.sql import BoundSQL
from tenantry.sql.private_names import SYSTEM_DATABASES, find_private_name

REQUIRED: Final = "required"


def refuse_private_names(registered: RegisteredSource, bound: BoundSQL) -> None:
    """Raise PrivateNameUsed if the query could show secrets of the database server."""
    database = (parse_url(registered.url).database or "").lower()
    if database in SYSTEM_DATABASES:
        problem = (
            f"authors may not query data source {registered.provided_id}, because its URL names the system database "
            f"{database}"
        )
        raise PrivateNameUsed(problem, fix="register a data source whose URL names the database with your tables")
    found = find_private_name(untagged(bound), bound.dialect)
    if found is not None:
        problem = (
            f"authors may not use {found.name}, because it can show users, processes, settings or files of the "
            "database server, or data of other databases"
        )
        raise PrivateNameUsed(problem, fix="query the tables that have the data", name=found.name)


@dataclass(frozen=True, slots=True)
class WithoutTables:
    """A directory of the same data sources as ``directory``, without their declarations of guarded tables. Declarations
    with ``guard: required`` are kept."""

    directory: SourceDirectory

    @property
    def sources(self) -> SourceDirectory:
        return self

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        source = await self.directory.get(environment, reference)
        return source if source is None or is_guard_required(source) else replace(source, tables="")


def is_guard_required(source: RegisteredSource) -> bool:
    return bool(source.declaration.get("guard") == REQUIRED)
