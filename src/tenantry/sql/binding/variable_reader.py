from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from tenantry.errors import InvalidParameter, MissingVariable, UnbindableValue
from tenantry.groups import Record, RecordList
from tenantry.sql.binding.bindable_values import (
    UNREADABLE,
    all_bindable,
    as_text,
    check_of,
    check_scalar,
    getter,
    getter_or_none,
    is_absent,
    list_items,
    look_up,
    type_name,
)
from tenantry.sql.binding.conversions import converter
from tenantry.sql.dialects import Dialect
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Concat, Position, Switch, Tree, Value, VariableReference
from tenantry.sql.tenant_guard import TenantGuard, is_viewer_input

Read: TypeAlias = Callable[[Any], Any]
"""Reads the value of a parameter from the variables. Raises LookupError or TypeError if a variable is missing."""


class VariableReader:
    """Makes functions that read a template's variables. Errors name the variable and the location of its tag."""

    def __init__(self, source: Source, tree: Tree, dialect: Dialect, guard: TenantGuard) -> None:
        self._source = source
        self._dialect = dialect
        self._guard = guard
        self._required = [reference for reference in tree.references if reference.required]

    def require(self, variables: Any, needed: Iterable[VariableReference]) -> None:
        """Check that all required variables and those in ``needed`` have a value. Raises one MissingVariable that
        lists all variables without a value, and TypeError if ``variables`` is not a mapping."""
        if not isinstance(variables, Mapping | Record):
            raise TypeError(f"variables must be a mapping, not {type(variables).__name__}")
        missing: dict[str, str] = {}
        tables: dict[str, str] = {}
        for reference in chain(self._required, needed):
            value = look_up(variables, reference.path)
            if is_absent(value) and reference.of_guard:
                tables[reference.path] = reference.of_guard
            elif is_absent(value):
                at = f"{self._source.location(reference.offset)}"
                state = "null" if value is None else "missing"
                meant = self._guard.meant(reference.path)
                at += f", did you mean {meant}?" if meant is not None else ""
                missing[reference.path] = (
                    f"{missing[reference.path]}, {at}" if reference.path in missing else f"{state} at {at}"
                )
        if tables:
            missing = {path: state for path, state in missing.items() if path not in tables}
            raise _missing_in_group(tables, missing)
        if missing:
            listed = "; ".join(f"{path} ({state})" for path, state in missing.items())
            fix = "".join(f"Write {{{{ {path} }}}}. " for path in filter(None, map(self._guard.meant, missing)))
            raise MissingVariable(
                f"variables without a value: {listed}. {fix}Give each of them a value; if a viewer may leave a "
                "variable out, make it a parameter (params.*) inside [[ ]]",
                names=tuple(missing),
            )

    def choice(self, variables: Any, node: Switch) -> int:
        """Return the number of the branch of ``node`` that its variable chooses. If the value fits no branch, raises
        InvalidParameter for a viewer's value, and UnbindableValue for any other value."""
        value = look_up(variables, node.reference.path)
        try:
            return node.choose(None if is_absent(value) else value)
        except UNREADABLE:
            path = node.reference.path
            problem = f"{path} at {self._source.location(node.reference.offset)}: give {node.expected}"
            if self._guard.is_chosen(path):
                raise InvalidParameter(problem, names=(path,)) from None
            raise UnbindableValue(problem, name=path) from None

    def read(self, node: Value | Concat) -> Read:
        if isinstance(node, Concat):
            parts = [each if isinstance(each, str) else self.text(each) for each in node.parts]
            return lambda values: "".join([part if isinstance(part, str) else part(values) for part in parts])
        reference = node.reference
        if reference.position is Position.TEXT:
            return self.text(reference)
        return self.limit(reference) if reference.position is Position.LIMIT else self.scalar(reference)

    def scalar(self, reference: VariableReference) -> Read:
        if reference.conversion:
            return self._checked(reference, converter(reference.conversion, self._dialect))
        get, refine = getter(reference.path), self._checked(reference, check_scalar)
        if reference.never_absent:
            return refine

        def read(values: Any) -> Any:
            value = get(values)
            certainly_good = check_of(type(value))
            return value if certainly_good is not None and certainly_good(value) else refine(values)

        return read

    def text(self, reference: VariableReference) -> Read:
        return self._checked(reference, as_text)

    def limit(self, reference: VariableReference) -> Read:
        """Return a function that reads an ``int`` of 0 or more."""
        read = self.scalar(reference)

        def read_limit(values: Any) -> int:
            value = read(values)
            if type(value) is not int or value < 0:
                what = "a negative number" if type(value) is int else type_name(value)
                fix = _declaration(reference.path, value, "integer")
                problem = f"`limit` and `offset` must be whole numbers, 0 or greater, not {what}{fix}"
                raise self._error(reference, problem)
            return value

        return read_limit

    def items(self, reference: VariableReference) -> Read:
        """Return a function that reads and copies a list."""

        def convert(value: Any) -> Sequence[Any]:
            if not isinstance(value, list | tuple | RecordList):
                fix = _declaration(reference.path, value, "list of text") or ": give a list, or compare with ="
                raise ValueError(f"`in` takes a list, not {type_name(value)}{fix}")  # noqa: TRY004  # as any refusal
            return list_items(tuple(value))  # a copy, since another thread may change the list

        get, refine = getter(reference.path), self._checked(reference, convert)

        def read(values: Any) -> Sequence[Any]:
            value = get(values)
            kind = type(value)
            copied = tuple(value) if kind is list or kind is tuple else value._values if kind is RecordList else None
            return copied if copied is not None and all_bindable(copied) else refine(values)

        return refine if reference.never_absent else read

    def _checked(self, reference: VariableReference, convert: Callable[[Any], Any]) -> Read:

        def convert_or_refuse(value: Any) -> Any:
            try:
                return convert(value)
            except ValueError as refusal:
                raise self._error(reference, str(refusal)) from None

        if not reference.never_absent:
            get = getter(reference.path)

            def read(values: Any) -> Any:
                value = get(values)
                if value is None:
                    raise LookupError  # raised here, because the JSON conversion would accept None
                return convert_or_refuse(value)

            return read
        get_or_none, default, nullable = getter_or_none(reference.path), reference.default, reference.nullable

        def read_or_default(values: Any) -> Any:
            value = get_or_none(values)
            value = default if value is None else value
            return None if value is None and nullable else convert_or_refuse(value)

        return read_or_default

    def _error(self, reference: VariableReference, problem: str) -> UnbindableValue:
        return UnbindableValue(
            f"{reference.path} at {self._source.location(reference.offset)}: {problem}", name=reference.path
        )


def _missing_in_group(tables: Mapping[str, str], others: Mapping[str, str]) -> MissingVariable:
    listed = "; ".join(f"{path} for the table {table}" for path, table in tables.items())
    properties = ", ".join(path.removeprefix("user_group.properties.") for path in tables)
    more = "; ".join(f"{path} ({state})" for path, state in others.items())
    names = (*tables, *others)
    error = MissingVariable(
        f"the group lacks what the guarded tables of this data source need: {listed}. Give the group the "
        f"{'properties' if len(tables) > 1 else 'property'} {properties}{more and f'. Also without a value: {more}'}",
        names=names,
    )
    error.generic_message = f"variables without a value: {', '.join(names)}"
    return error


def _declaration(path: str, value: Any, kind: str) -> str:
    name = path.removeprefix("params.")
    if not is_viewer_input(path) or "." in name or not isinstance(value, str):
        return ""
    return f": declare it: `params: {{{name}: {kind}}}`"
