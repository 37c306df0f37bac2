from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tenantry.dashboards import Access, SavedDashboard
from tenantry.errors import did_you_mean
from tenantry.groups import UserGroup
from tenantry.sql.checks import NAMED, Finding, Located, Severity, in_groups


@dataclass(slots=True)
class _Part:
    saved: SavedDashboard
    what: str
    path: str
    offset: int
    count: int = 0
    named: list[str] = field(default_factory=list)
    """Ids of the first groups that see this dashboard or panel."""


class Audience:
    def __init__(self, dashboards: Mapping[str, SavedDashboard], may_open: str | None) -> None:
        self._dashboards = dashboards
        self._access = Access(dashboards, may_open)
        self._may_open = may_open
        self._parts: dict[tuple[str, str], _Part] = {}
        for name, saved in dashboards.items():
            when = saved.dashboard.when
            path, offset = ("", 0) if when is None else (when.path, when.offset)
            if path or may_open is not None:
                self._parts[name, ""] = _Part(saved, "dashboard", path or may_open or "", offset)
            for panel in saved.dashboard.panels:
                if panel.when is not None:
                    self._parts[name, panel.id] = _Part(saved, "panel", panel.when.path, panel.when.offset)

    def everyone(self) -> list[SavedDashboard]:
        found = [(saved, self._access.in_frame(name)) for name, saved in self._dashboards.items()]
        return [replace(saved, dashboard=part) for saved, part in found if part is not None]

    def add(self, group: UserGroup) -> list[SavedDashboard]:
        found = {name: self._access.find(name, group) for name in self._dashboards}
        for (name, panel_id), part in self._parts.items():
            saved = found[name]
            if saved is not None and (not panel_id or saved.dashboard.panel(panel_id) is not None):
                part.count += 1
                part.named += [group.provided_id] if part.count <= NAMED else []
        return [saved for saved in found.values() if saved is not None]

    def findings(self, total: int, properties: Collection[str]) -> Iterator[Located]:
        """For each dashboard or panel that has a condition, yield a note that says which of the ``total`` groups see
        it. If no group sees it, yield a warning, unless ``total`` is 0. ``properties``: names of all properties of the
        groups."""
        for part in self._parts.values():
            at = part.saved.dashboard.source.location(part.offset)
            if part.count:
                message = f"this {part.what} is shown {in_groups(part.count, total, part.named)}"
                about = (part.path, part.count, total, tuple(part.named))
                yield at.file, Finding("shown-to", Severity.NOTE, at.line, at.column, message, "", *about)
            elif total:
                message = f"no group sees this {part.what}"
                fix = self._fix(part, properties)
                yield at.file, Finding("shown-to-none", Severity.WARNING, at.line, at.column, message, fix, part.path)

    def _fix(self, part: _Part, properties: Collection[str]) -> str:
        near = "" if part.path in properties else did_you_mean(part.path, properties)
        if part.what == "dashboard" and self._may_open is not None:
            name, when = part.saved.dashboard.name, part.saved.dashboard.when
            also = "" if when is None else f" that has one of the values listed here in the property {when.path}"
            return f"{near}Add {name} to the property {self._may_open} of a group{also}"
        return f"{near}Give groups the property {part.path} with a value that is listed here, or correct this line"
