from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tenantry.dashboards.definition import DashboardFile
from tenantry.errors import MissingVariable, UnbindableValue, did_you_mean, misspelt
from tenantry.groups import UserGroup
from tenantry.sql.checks import Finding, Located, PropertyTypes, Severity, in_groups, property_path, unknown_field

_FIX: Final = "give these groups the property, or take the variable out of the text"


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
            yield at.file, Finding("missing-property", Severity.ERROR, at.line, at.column, "", _FIX, name)


def uncovered_texts(dashboard: DashboardFile, types: PropertyTypes) -> Iterator[Located]:
    """Yield a finding for each property that the texts name and that some groups lack."""
    parts = [(dashboard.texts, 0), *((panel.view, panel.offset) for panel in dashboard.panels)]
    for definition, start in parts if len(types) else ():
        for name in dict.fromkeys(each.text for each in definition.paths):
            path, field = property_path(name), unknown_field(name)
            at = dashboard.source.location(_offset_of(name, dashboard.source.text, start))
            if field is not None:
                about = ("unknown-variable", Severity.ERROR, at.line, at.column, field.problem, field.fix, name)
                yield at.file, Finding(*about, edit=field.edit)
            elif path is None:
                continue
            elif path not in types.paths:
                message = f"no group has the property {path}"
                fix = did_you_mean(path, types.paths) or "add it to the groups, or take the variable out of the text"
                about = ("unknown-variable", Severity.ERROR, at.line, at.column, message, fix.strip(), name)
                yield at.file, Finding(*about, edit=misspelt(path, types.paths))
            elif path in types and (missing := types.without(path)):
                named, total = types.named(missing), len(types)
                message = f"{name} is missing {in_groups(len(missing), total, named)}"
                about = ("missing-property", Severity.ERROR, at.line, at.column, message, _FIX, name)
                yield at.file, Finding(*about, len(missing), total, named)


def _offset_of(name: str, text: str, start: int) -> int:
    found = re.compile(rf"\{{\{{\s*{re.escape(name)}\s*\}}\}}").search(text, start)
    return found.start() if found is not None else start
