from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from tenantry.datasources.session import SessionTemplate
from tenantry.errors import MissingVariable, UnbindableValue
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.sql.checks import NAMED, Finding, Severity, in_groups

_WRONG: Final[dict[type[Exception], tuple[str, str, str]]] = {
    MissingVariable: ("missing-property", "is missing", "give these groups the property"),
    UnbindableValue: (
        "property-type",
        "is a list, an object or empty,",
        "give these groups one value that is not empty",
    ),
}
"""The code, problem and fix of a finding, by the error that ``SessionTemplate.bind`` raises."""


@dataclass(slots=True)
class _Variable:
    source: RegisteredSource
    number: int
    name: str
    tag: str
    template: SessionTemplate
    groups: int = 0
    refused: dict[type[Exception], list[str]] = field(default_factory=dict)

    def add(self, group: UserGroup) -> None:
        self.groups += 1
        try:
            self.template.bind(group)
        except (MissingVariable, UnbindableValue) as error:
            self.refused.setdefault(type(error), []).append(group.provided_id)

    def findings(self) -> Iterator[Finding]:
        path = self.tag.strip("{} ")
        for kind, ids in self.refused.items():
            code, problem, fix = _WRONG[kind]
            named = tuple(ids[:NAMED])
            message = (
                f"{self.name} is set from {path}, which {problem} {in_groups(len(ids), self.groups, named)}; their "
                "queries do not run on this data source"
            )
            yield Finding(code, Severity.ERROR, self.number, 1, message, fix, path, len(ids), self.groups, named)


class SessionCheck:
    """Finds groups whose properties do not fit their sources' session variables. Raises InvalidSource for invalid
    session variables."""

    def __init__(self, sources: Iterable[RegisteredSource]) -> None:
        self._variables = [
            _Variable(source, number, name, tag, SessionTemplate(replace(source, session=((name, tag),))))
            for source in sources
            for number, (name, tag) in enumerate(source.session, 1)
        ]

    def add(self, group: UserGroup) -> None:
        mapping = group.mapping
        if mapping is None or not self._variables:
            return
        references = {mapping[schema] for schema in mapping}
        for variable in self._variables:
            if not references.isdisjoint((variable.source.id, variable.source.provided_id)):
                variable.add(group)

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """Yield (data source, finding). A finding's line is the position of its session variable, from 1."""
        for variable in self._variables:
            for finding in variable.findings():
                yield f"data source {variable.source.provided_id}", finding
