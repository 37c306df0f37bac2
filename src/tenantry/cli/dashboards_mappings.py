from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from tenantry.cli.sql_check import print_findings
from tenantry.dashboards import DashboardFolder, SavedDashboard
from tenantry.dashboards.checks import schemas_of
from tenantry.errors import InvalidQueries, did_you_mean
from tenantry.groups import RegisteredSource, UserGroup, thaw
from tenantry.ports import Store
from tenantry.sql.checks import NAMED, Finding, Located, Severity, in_groups


class Mappings:
    """Finds schemas that a dashboard reads, but that a group does not map to a registered data source."""

    def __init__(self, sources: Iterable[RegisteredSource]) -> None:
        self._sources = {name for source in sources for name in (source.id, source.provided_id)}
        self._mapped: set[str] = set()
        self._lacking: dict[tuple[str, str], list[str]] = {}
        """(schema, data source) -> ids of groups. The data source is not registered, or "" if the schema is not
        mapped."""
        self._groups = 0

    def add(self, group: UserGroup, seen: Iterable[SavedDashboard]) -> None:
        """Note the schemas that the group lacks. ``seen``: the dashboards and panels that it sees."""
        if group.environment.external_data_sources:
            return
        self._groups += 1
        mapping = thaw(group.mapping) or {}
        self._mapped.update(mapping)
        for schema in {schema for saved in seen for schema in schemas_of(saved)}:
            source = mapping.get(schema) or ""
            if source not in self._sources:
                self._lacking.setdefault((schema, source), []).append(group.provided_id)

    def findings(self) -> Iterator[Located]:
        for (schema, source), ids in sorted(self._lacking.items()):
            named = tuple(ids[:NAMED])
            where = in_groups(len(ids), self._groups, named)
            if source:
                code, what = "unregistered-source", f"is mapped to {source}, which is not registered,"
                fix = f"register the data source {source}, or map the schema to another one"
            else:
                code, what = "unmapped-schema", "is not mapped to a data source"
                near = "" if schema in self._mapped else did_you_mean(schema, self._mapped)
                fix = f"{near}Map it: tenantry group update ID --map {shlex.quote(f'{schema}=')}SOURCE"
            message = f"the schema {schema} {what} {where}; these groups see no data in its panels"
            about = ("", len(ids), self._groups, named)
            yield "mappings of groups", Finding(code, Severity.WARNING, 1, 1, message, fix, *about)


async def print_unmapped(folder: Path, store: Store, group: UserGroup) -> None:
    try:
        saved = DashboardFolder(folder).values()
    except InvalidQueries:  # the editor shows the mistakes
        return
    mappings = Mappings(await store.sources.list(group.environment))
    mappings.add(group, saved)
    print_findings(mappings.findings(), err=True)
