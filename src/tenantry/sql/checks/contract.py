from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from tenantry.errors import BreaksSavedQuery, InvalidProperties, TenantryError
from tenantry.groups import PropertySchema, Record
from tenantry.sql.binding.bindable_values import MISSING, look_up
from tenantry.sql.checks.lint import references_of
from tenantry.sql.checks.needs import expected, needs, takes, type_of, with_article
from tenantry.sql.syntax_tree import VariableReference
from tenantry.sql.template import SQLTemplate

LISTED: Final = 5
"""Maximum number of broken queries that an error names."""

Properties: TypeAlias = Mapping[str, Any] | Record | None


class BrokenQuery(NamedTuple):
    query: str
    variable: str
    problem: str


class QueryContract:
    """Checks updates of groups against saved queries and the schemas of environments. A query that does not compile is
    ignored."""

    def __init__(
        self,
        queries: Mapping[str, SQLTemplate],
        schemas: Mapping[str, PropertySchema] | None = None,
        *,
        refuses: bool = True,
    ) -> None:
        self.refuses: bool = refuses
        """Whether updates that break the contract are refused, not only reported."""
        self._schemas = schemas or {}
        self._needs: dict[tuple[str, str], tuple[VariableReference, list[str]]] = {}
        for name, template in queries.items():
            for path, reference in needs(references_of(template)):
                found = self._needs.setdefault((path, expected(reference)), (reference, []))
                if name not in found[1]:
                    found[1].append(name)

    def broken_queries(self, before: Properties, after: Properties) -> tuple[BrokenQuery, ...]:
        """Return, in sorted order, the queries that can be bound with ``before`` but not with ``after``."""
        broken: dict[str, BrokenQuery] = {}
        for (path, _), (reference, names) in self._needs.items():
            problem = _problem(path, reference, after)
            if problem is not None:
                for name in names:
                    broken.setdefault(name, BrokenQuery(name, path, problem))
        return tuple(each for each in sorted(broken.values()) if self._runs(each.query, before))

    def _runs(self, query: str, properties: Properties) -> bool:
        return all(
            _problem(path, reference, properties) is None
            for (path, _), (reference, names) in self._needs.items()
            if query in names
        )

    def errors(self, environment: str, before: Properties, after: Properties) -> Iterator[TenantryError]:
        """Yield InvalidProperties if the new properties do not fit the environment's schema, and BreaksSavedQuery if
        they break saved queries."""
        yield from self.schema_errors(environment, after)
        broken = self.broken_queries(before, after)
        if broken:
            named = "; ".join(f"{each.query} needs {each.variable}, which {each.problem}" for each in broken[:LISTED])
            more = f"; and {len(broken) - LISTED} more" if len(broken) > LISTED else ""
            count = f"{len(broken)} saved quer{'y' if len(broken) == 1 else 'ies'}"
            yield BreaksSavedQuery(
                f"with these properties {count} could not run: {named}{more}",
                field=_pointer(_parent(broken[0].variable.split("."), after)),
                queries=[(each.query, each.variable) for each in broken],
            )

    def schema_errors(self, environment: str, properties: Properties) -> Iterator[InvalidProperties]:
        """Yield one InvalidProperties if the schema does not allow the properties."""
        schema = self._schemas.get(environment)
        violations = list(schema.violations(properties)) if schema is not None else []
        if violations:
            path, problem = violations[0]
            more = f"; and {len(violations) - 1} more" if len(violations) > 1 else ""
            name = ".".join(map(str, path)) or "properties"
            yield InvalidProperties(f"{name} {problem}{more}", field=_pointer(_parent(path, properties)))


def _problem(path: str, reference: VariableReference, properties: Properties) -> str | None:
    value = MISSING if properties is None else look_up(properties, path)
    if value is MISSING:
        return "is missing"
    kind = type_of(value)
    if kind == "null":
        return "is null"
    return None if takes(reference, kind) else f"is {with_article(kind)} where the query takes {expected(reference)}"


def _parent(path: Sequence[str | int], properties: Properties) -> Sequence[str | int]:
    value: Any = properties
    for depth, name in enumerate(path):
        try:
            value = value[name]
        except (LookupError, TypeError):
            return path[:depth]
    return path


def _pointer(path: Sequence[str | int]) -> str:
    # A JSON pointer (RFC 6901).
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in ("properties", *path))
