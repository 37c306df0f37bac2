"""What a template needs: of which properties and of which types, and which parameters it can lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from tenantry.groups import PropertySchema, RecordList
from tenantry.sql.checks.findings import Problem, Severity
from tenantry.sql.syntax_tree import Clause, Position, Switch, VariableReference, references_in, walk
from tenantry.sql.template import SQLTemplate
from tenantry.sql.tenant_guard import is_viewer_input

GROUP_FIELDS: Final = frozenset({"user_group.id", "user_group.name", "user_group.environment"})
"""Paths that every group has, each of them a text."""

_PREFIX = "user_group.properties."


_SCALARS: Final[dict[type, str]] = {
    str: "text",
    bool: "boolean",
    int: "integer",
    float: "decimal",
    Decimal: "decimal",
    type(None): "null",
}
SCALARS: Final = ("text", "boolean", "integer", "decimal")
NUMBERS: Final = frozenset({"integer", "decimal"})


def property_path(path: str) -> str | None:
    """The property that a variable's path names: ``region`` for itself and for ``user_group.properties.region``; None
    for a path that is no property."""
    if path.startswith(_PREFIX):
        return path[len(_PREFIX) :]
    return None if path.partition(".")[0] in {"user_group", "params"} else path


def type_of(value: Any) -> str:
    """``text``, ``boolean``, ``integer``, ``decimal``, ``null``, ``object``, or ``list of …`` (``list`` if empty)."""
    scalar = _SCALARS.get(type(value))
    if scalar is not None:
        return scalar
    if isinstance(value, list | tuple | RecordList):
        kinds = {type_of(item) for item in value}
        if len(kinds) > 1 and kinds <= NUMBERS:
            return "list of decimal"
        return "list" if not kinds else f"list of {kinds.pop() if len(kinds) == 1 else _mixed(kinds)}"
    return "object"


def _mixed(kinds: set[str]) -> str:
    if "null" in kinds:
        return "null and others"
    return "mixed" if kinds <= {*SCALARS} else "objects and others"


def takes(reference: VariableReference, kind: str) -> bool:
    """Whether a value of this type can be bound where the reference stands. What a choice takes is known to nobody but
    itself."""
    if reference.conversion == "json" or reference.position is Position.CHOICE:
        return True
    if reference.position is Position.LIST or reference.conversion == "array":
        return kind == "list" or kind in _LISTS
    if reference.position is Position.LIMIT:
        return kind == "integer"
    return kind in SCALARS


_LISTS = frozenset({f"list of {scalar}" for scalar in SCALARS} | {"list of mixed"})


def expected(reference: VariableReference) -> str:
    """What the reference takes, for people; different for references that ``takes`` tells apart."""
    if reference.conversion == "json" or reference.position is Position.CHOICE:
        return "any value"
    if reference.position is Position.LIST or reference.conversion == "array":
        return "a list without null"
    return "an integer" if reference.position is Position.LIMIT else "one value"


def needs(references: Iterable[VariableReference]) -> Iterator[tuple[str, VariableReference]]:
    """The properties that a template cannot be bound without, and a reference to each, in the order of the text."""
    for reference in references:
        path = property_path(reference.path)
        if path is not None and reference.required and not is_viewer_input(reference.path):
            yield path, reference


def with_article(kind: str) -> str:
    """A type in a sentence: ``an integer``, ``a list of text``."""
    return {"text": "text", "integer": "an integer", "object": "an object"}.get(kind, f"a {kind}")


# --- by a schema ------------------------------------------------------------------------------------------------------


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


# --- parameters -------------------------------------------------------------------------------------------------------


def can_lack(template: SQLTemplate, name: str, left: Mapping[str, Any] | None = None) -> bool:
    """Whether each tag that reads ``params.name`` is in an optional clause, has a default of its own, or chooses a part
    of the text that needs no value, as ``within`` and ``matches`` do. ``left``: the ends of a range that are there; a
    clause that is dropped for want of the other one must not hold them.

    Raises TemplateError for a text that cannot be compiled.
    """
    path = f"params.{name}"
    there = {f"{path}.{end}" for end in left or ()}
    for node, around in walk(template._own_tree().nodes):
        if any(isinstance(outer, Switch) and outer.reference.path == path for outer in around):
            continue  # a part of the text that is chosen by what is there
        clauses = [outer for outer in around if isinstance(outer, Clause)]
        for reference in references_in([node]):
            if reference.path != path and not reference.path.startswith(f"{path}."):
                continue
            value = left if reference.path == path else (left or {}).get(reference.path.rpartition(".")[2])
            if isinstance(node, Switch) and not clauses and not _chooses(node, value):
                return False
            if isinstance(node, Switch) or value is not None or reference.never_absent:
                continue
            if not clauses or any(other.path in there for clause in clauses for other in clause.references):
                return False
    return True


def _chooses(switch: Switch, value: Any) -> bool:
    try:
        switch.choose(value)
    except (LookupError, TypeError):
        return False
    return True
