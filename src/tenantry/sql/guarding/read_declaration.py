from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

from tenantry.errors import TemplateError, did_you_mean, nearest
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.guarding.declaration import SHARED, InvalidTables, Rule, TableEntry, invalid_tables
from tenantry.sql.guarding.grammar import INSTALL, MISSING
from tenantry.sql.guarding.guarded_tables import GuardedTables
from tenantry.sql.guarding.guards import TableGuards
from tenantry.sql.guarding.names import COLUMN_PATH, NAME, PATH
from tenantry.sql.guarding.rewriting import rewrite_condition
from tenantry.sql.template import DEFAULT_DIALECT, SQLTemplate
from tenantry.sql.tenant_guard import is_viewer_input

KEYS: Final = ("tables", "functions", "guard")

VALUE: Final = re.compile(r"(?:in\s+)?\{\{\s*[^\W\d]\w*(?:\.[^\W\d]\w*)*\s*\}\}")
"""The value of a column in a rule: ``{{ path }}`` or ``in {{ path }}``."""
FUNCTION: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_FIELDS: Final = ("id", "name", "environment")
_RULES: Final = "write `shared`, a column, a condition, or columns such as `{erp: '{{ user_group.properties.erp }}'}`"
_VALUES: Final = "write '{{ path }}', 'in {{ path }}' or parent.column; or a condition as the rule of the table"


def read_tables(value: Mapping[str, Any], *, file: str = "") -> GuardedTables:
    """Read a declaration of the form ``{"tables": {…}, "functions": […], "guard": "required"}``. Errors show ``file``.

    Raises InvalidTables if the declaration is malformed, or if it has the key ``tables`` and sqlglot is not installed.
    """
    return _DeclarationReader(file).read(value)


@lru_cache(maxsize=1024)
def read_stored_tables(text: str) -> GuardedTables:
    """Return the declaration of a registered data source. Raises InvalidTables for a malformed declaration, and
    ValueError for invalid JSON."""
    return read_tables(json.loads(text))


class _DeclarationReader:
    def __init__(self, file: str) -> None:
        self._file = file

    def read(self, value: Any) -> GuardedTables:
        if not isinstance(value, Mapping):
            raise self._error((), "must be an object", "write `tables:`, and below it a line for each table")
        for key in value:
            if key not in KEYS:
                fix = did_you_mean(str(key), KEYS).strip() or f"a declaration holds {', '.join(KEYS)}"
                raise self._error((str(key),), "is not a key of a declaration", fix)
        tables = value.get("tables", {})
        if not isinstance(tables, Mapping):
            raise self._error(
                ("tables",), "must be an object", "write a line for each table, as in `orders: customer_id`"
            )
        if "tables" in value and find_spec("sqlglot") is None:  # needed even if `tables` is empty
            raise self._error(("tables",), MISSING, INSTALL)
        entries = tuple(self._entry(name, rule) for name, rule in tables.items())
        self._check_parents({entry.name: entry for entry in entries})
        for entry in entries:
            self._check_condition(entry)
        functions, required = self._functions(value.get("functions", [])), self._required(value)
        made = GuardedTables(entries, functions, required, self._file)
        self._check_circles(made)
        return made

    def _required(self, value: Mapping[str, Any]) -> bool:
        if value.get("guard", "required") != "required":
            raise self._error(("guard",), "must be required", "write `guard: required`, or remove `guard`")
        return "guard" in value

    def _functions(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise self._error(("functions",), "must be a list of names", "functions: [my_function]")
        for number, name in enumerate(value):
            if not isinstance(name, str) or not FUNCTION.fullmatch(name):
                raise self._error(
                    ("functions", str(number)), "must be the name of a function", "functions: [my_function]"
                )
        return tuple(sorted({name.lower() for name in value}))

    def _entry(self, name: Any, rule: Any) -> TableEntry:
        if not isinstance(name, str) or not PATH.fullmatch(name):
            fix = 'write the name as SQL does: orders, main.orders, or "Order Items" in double quotes'
            raise self._error(("tables", str(name)), "is not the name of a table", fix)
        return TableEntry(name, self._rule(name, rule))

    def _rule(self, name: str, rule: Any) -> Rule:
        if isinstance(rule, str) and rule.strip():
            return rule.strip()
        if not isinstance(rule, Mapping) or not rule:
            raise self._error(("tables", name), "is not a rule for the rows of a table", _RULES)
        for column, value in rule.items():
            keys = ("tables", name, str(column))
            if not isinstance(column, str) or not NAME.fullmatch(column):
                raise self._error(keys, "is not the name of a column", "write it without dots")
            if not isinstance(value, str) or not (VALUE.fullmatch(value) or COLUMN_PATH.fullmatch(value)):
                raise self._error(keys, "is neither a value of the group nor a column of a parent table", _VALUES)
        return tuple((column, " ".join(value.split())) for column, value in rule.items())

    def _check_parents(self, entries: Mapping[str, TableEntry]) -> None:
        for entry in entries.values():
            for column, value in entry.rule if isinstance(entry.rule, tuple) else ():
                keys, parent = ("tables", entry.name, column), value.rpartition(".")[0]
                if VALUE.fullmatch(value):
                    continue
                if parent not in entries:
                    near = did_you_mean(parent, entries)
                    raise self._error(keys, f"there is no table {parent}", f"{near}add {parent} to `tables`")
                if entries[parent].is_shared:
                    problem = f"{parent} is shared, so every row of {entry.name} would be shown to every group"
                    raise self._error(keys, problem, f"give {parent} a rule, or write `{entry.name}: {SHARED}`")

    def _check_circles(self, tables: GuardedTables) -> None:
        # Conditions must not read each other's tables in a circle. If this dialect cannot read a condition, its circle
        # is found when a query is compiled.
        try:
            guards = TableGuards(tables, DIALECTS[DEFAULT_DIALECT], rewrite_condition)
        except InvalidTables:  # this dialect reads two names as one table
            return
        for entry in tables.entries:
            try:
                if not entry.is_shared:
                    guards.of(entry)
            except InvalidTables:
                raise
            except TemplateError:
                continue

    def _check_condition(self, entry: TableEntry) -> None:
        if entry.is_shared:
            return
        keys = ("tables", entry.name)
        try:
            condition = entry.condition(DIALECTS[DEFAULT_DIALECT])
            variables = SQLTemplate(f"select * from t where {condition}").variables  # noqa: S608  # only compiled
        except TemplateError as error:
            raise self._error(keys, error.problem, error.fix or _RULES) from None
        for path in (each.path for each in variables):
            if path.startswith("user_group."):
                self._check_of_group(keys, path)
                continue
            if is_viewer_input(path):
                fix = "name a property of the group: {{ user_group.properties.… }}"
                raise self._error(keys, f"{path} is a value that a viewer sends", fix)
            fix = f"write {{{{ user_group.properties.{path} }}}}"
            raise self._error(
                keys, f"{path} is a variable that the program passes, and can differ from the group's value", fix
            )

    def _check_of_group(self, keys: tuple[str, ...], path: str) -> None:
        _, name, *rest = path.split(".")
        if (name in _FIELDS and not rest) or (name == "properties" and rest):
            return
        if name == "properties":
            rest = ["NAME"]
        near = "properties" if rest else nearest(name, _FIELDS)
        meant = ".".join(("user_group", near or f"properties.{name}", *rest))
        held = f"a group has {', '.join(_FIELDS)} and properties.NAME"
        raise self._error(keys, f"{path} is not a value of a group", f"did you mean {meant}? {held}")

    def _error(self, keys: tuple[str, ...], problem: str, fix: str) -> InvalidTables:
        return invalid_tables(keys, problem, fix, self._file)
