from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tenantry.dashboards.definition import DashboardFile
from tenantry.errors import MissingVariable, UnbindableValue
from tenantry.groups import UserGroup
from tenantry.sql.checks import Finding, Located, Severity


def missing_in_texts(dashboard: DashboardFile, group: UserGroup) -> Iterator[Located]:
    parts = [(dashboard.texts, 0), *((panel.view, panel.offset) for panel in dashboard.panels)]
    for definition, offset in parts:
        try:
            definition.substitute(group.variables)
            continue
        except MissingVariable as error:
            names: Iterable[str] = error.names
        except UnbindableValue as error:
            names = [error.name]
        for name in names:
            at = dashboard.source.location(_offset_of(name, dashboard.source.text, offset))
            fix = "give these groups the property, or take the variable out of the text"
            yield at.file, Finding("missing-property", Severity.ERROR, at.line, at.column, "", fix, name)


def _offset_of(name: str, text: str, start: int) -> int:
    found = re.compile(rf"\{{\{{\s*{re.escape(name)}\s*\}}\}}").search(text, start)
    return found.start() if found is not None else start
