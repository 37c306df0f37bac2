from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from tenantry.errors import Edit, did_you_mean, misspelt
from tenantry.groups import RESERVED_NAMES, PropertySchema, RecordList
from tenantry.sql.checks.findings import Problem, Severity
from tenantry.sql.syntax_tree import Clause, Position, Switch, VariableReference, references_in, walk
from tenantry.sql.template import SQLTemplate, tree_of
from tenantry.sql.tenant_guard import is_viewer_input

GROUP_FIELDS: Final = frozenset({"user_group.id", "user_group.name", "user_group.environment"})
"""Paths that every group has; their values are strings."""

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
    """Return the path without ``user_group.properties.``, or None for a path that is not a property."""
    if path.startswith(_PREFIX):
        return path[len(_PREFIX) :]
    return None if path.partition(".")[0] in RESERVED_NAMES else path


def type_of(value: Any) -> str:
    """Return the name of a value's type, such as ``text`` or ``list of integer``."""
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
    if reference.conversion == "json" or reference.position is Position.CHOICE:
        return True
    if reference.position is Position.LIST or reference.conversion == "array":
        return kind == "list" or kind in _LISTS
    if reference.position is Position.LIMIT:
        return kind == "integer"
    return kind in SCALARS


_LISTS = frozenset({f"list of {scalar}" for scalar in SCALARS} | {"list of mixed"})


def expected(reference: VariableReference) -> str:
    if reference.conversion == "json" or reference.position is Position.CHOICE:
        return "any value"
    if reference.position is Position.LIST or reference.conversion == "array":
        return "a list without null"
    return "an integer" if reference.position is Position.LIMIT else "one value"


def fix_of_type(reference: VariableReference, kinds: Collection[str], otherwise: str) -> str:
    """Return the fix for a query that cannot take values of the types ``kinds``. If all types are lists and the query
    takes one value, the fix is to write ``in``. If not, the fix is ``otherwise``."""
    are_lists = all(kind.startswith("list") for kind in kinds)
    if are_lists and not reference.of_guard and expected(reference) == "one value":
        return f"write `in {{{{ {reference.path} }}}}`, which takes a list"
    return otherwise


class UnknownField(NamedTuple):
    problem: str
    fix: str
    edit: Edit


def unknown_field(path: str) -> UnknownField | None:
    """Return the problem of a path such as ``user_group.nam``, or None if ``user_group`` has the field."""
    prefix, _, name = path.partition(".")
    if prefix != "user_group" or not name or property_path(path) is not None or path in GROUP_FIELDS:
        return None
    problem = f"there is no {path}: user_group has {', '.join(sorted(GROUP_FIELDS))} and properties"
    names = [*(each.partition(".")[2] for each in GROUP_FIELDS), "properties"]
    written = name.partition(".")[0]
    fix = did_you_mean(written, names).strip() or f"write user_group.properties.{name}"
    edit = misspelt(written, names, prefix="user_group.") or Edit(path, f"user_group.properties.{name}")
    return UnknownField(problem, fix, edit)


def needs(references: Iterable[VariableReference]) -> Iterator[tuple[str, VariableReference]]:
    for reference in references:
        path = property_path(reference.path)
        if path is not None and reference.required and not is_viewer_input(reference.path):
            yield path, reference


def with_article(kind: str) -> str:
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
    """Yield a problem for each property that a query needs, if the schema makes the property optional or gives it a
    wrong type."""
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
        fix = fix_of_type(reference, wrong, "declare the type that the query takes, or change the query")
        yield Problem("property-type", Severity.ERROR, reference.offset, problem, fix, reference.path)
    if not always or "null" in kinds:
        problem = f"the schema lets a group lack {path}, and then the query cannot run for that group"
        fix = "require it in the schema, or declare it optional and put the SQL that needs it in [[ ]]"
        if reference.of_guard:
            fix = f"require it in the schema: the guarded tables need it for the table {reference.of_guard}"
        yield Problem("missing-property", Severity.WARNING, reference.offset, problem, fix, reference.path)


def kinds_of(definition: Mapping[str, Any]) -> set[str]:
    """Return the types that a property's definition allows, or an empty set if the definition names no type."""
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
    """Whether a template can be bound without ``params.name``. If ``params.name`` is a range of which only one end is
    missing, ``left`` contains the other end.

    Raises TemplateError if the template does not compile.
    """
    path = f"params.{name}"
    there = {f"{path}.{end}" for end in left or ()}
    for node, around in walk(tree_of(template).nodes):
        if any(isinstance(outer, Switch) and outer.reference.path == path for outer in around):
            continue  # an absent value chooses a branch too
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
