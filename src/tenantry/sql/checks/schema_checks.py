"""Whether a template can rely on what a property schema declares: each property that it needs, in a type that it takes.

For a check without a store. What groups really have is told by ``tenantry.sql.checks.coverage``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tenantry.groups import PropertySchema
from tenantry.sql.checks.coverage import expected, needs, takes
from tenantry.sql.checks.findings import Problem, Severity
from tenantry.sql.syntax_tree import VariableReference

_TYPES: Final = {
    "string": "text",
    "integer": "integer",
    "number": "decimal",
    "boolean": "boolean",
    "null": "null",
    "object": "object",
}


def schema_problems(references: Iterable[VariableReference], schema: PropertySchema) -> Iterator[Problem]:
    """What is declared and does not suffice, once for each property. What is not declared is an unknown variable."""
    declared = schema.declared()
    seen: set[tuple[str, str]] = set()
    for path, reference in needs(references):
        if path not in declared:
            continue
        definition, always = declared[path]
        for problem in _of(path, reference, kinds_of(definition), always=always):
            if (path, problem.code) not in seen:
                seen.add((path, problem.code))
                yield problem


def _of(path: str, reference: VariableReference, kinds: set[str], *, always: bool) -> Iterator[Problem]:
    wrong = sorted(kind for kind in kinds - {"null"} if not takes(reference, kind))
    if wrong:
        problem = f"the schema declares {path} as {' or '.join(wrong)}, where the query takes {expected(reference)}"
        fix = "declare the type that the query takes, or change the query"
        yield Problem("property-type", Severity.ERROR, reference.offset, problem, fix, reference.path)
    if not always or "null" in kinds:
        problem = f"the schema lets a group be without {path}, and the query cannot run for it then"
        fix = "require it in the schema, or declare it optional and put what needs it in [[ ]]"
        yield Problem("missing-property", Severity.WARNING, reference.offset, problem, fix, reference.path)


def kinds_of(definition: Mapping[str, Any]) -> set[str]:
    """The types that a definition allows, as ``checks.coverage`` names them; none where it does not say."""
    given = definition.get("type", [])
    kinds: set[str] = set()
    for each in [given] if isinstance(given, str) else given:
        if each != "array":
            kinds.add(_TYPES[each])
        elif "items" in definition:
            kinds.update(f"list of {kind}" for kind in kinds_of(definition["items"]))
    return kinds
