"""A declaration says, for each table of a data source, which rows belong to a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tenantry.errors import TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.guarding.names import NAME, PATH, key_of, path_of, written

SHARED: Final = "shared"
"""The rule of a table whose rows every group may read."""
READ_ITSELF: Final = "compare a column of this table with a value of the group"
"""The fix for a condition that reads its own table."""
GROUP: Final = "{{ user_group.id }}"

Rule: TypeAlias = "str | tuple[tuple[str, str], ...]"
"""A table's rule: ``shared``, the name of a column, a condition, or pairs of a column's name and a value."""


class InvalidTables(TemplateError):
    """A declaration of tables is malformed. ``keys`` are the path to the problem, such as ``("tables", "orders")``."""

    def __init__(self, message: str, *, keys: tuple[str, ...], problem: str, fix: str) -> None:
        super().__init__(message, problem=problem, fix=fix)
        self.keys = keys


def invalid_tables(keys: tuple[str, ...], problem: str, fix: str, file: str = "") -> InvalidTables:
    head = f"{file}: " if file else ""
    message = f"{head}{'.'.join(keys) or 'the declaration'}: {problem}\n  fix: {fix}"
    return InvalidTables(message, keys=keys, problem=problem, fix=fix)


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table and the rule for its rows."""

    name: str
    rule: Rule

    @property
    def is_shared(self) -> bool:
        """Whether every group may read the whole table."""
        return self.rule == SHARED

    @property
    def described(self) -> str:
        """The rule in words, for messages."""
        if self.is_shared:
            return "every row"
        if isinstance(self.rule, str):
            return f"the {'column' if NAME.fullmatch(self.rule) else 'condition'} {self.rule}"
        return ", ".join(f"the column {column} ({value})" for column, value in self.rule)

    def condition(self, dialect: Dialect) -> str:
        """Return the condition that selects the group's rows, with values written as tags."""
        if isinstance(self.rule, str) and not NAME.fullmatch(self.rule):
            return self.rule
        pairs = ((self.rule, GROUP),) if isinstance(self.rule, str) else self.rule
        return " and ".join(self._comparison(column, value, dialect) for column, value in pairs)

    def _comparison(self, column: str, value: str, dialect: Dialect) -> str:
        left = written((path_of(self.name)[-1], *path_of(column)), dialect)
        if PATH.fullmatch(value):  # a column of the parent
            *parent, key = path_of(value)
            right = written((parent[-1], key), dialect)
            query = f"select {right} from {written(tuple(parent), dialect)}"  # noqa: S608  # names of the declaration
            return f"{left} in ({query})"
        if value.startswith("in "):
            return f"{left} {value}"
        return dialect.exact_equal.replace("{column}", left).replace("{value}", value)


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declared tables. Errors show ``file``."""

    entries: tuple[TableEntry, ...]
    functions: tuple[str, ...] = ()
    """Functions that the declaration allows, in lower case."""
    required: bool = False
    """Whether the declaration always applies: it cannot be removed, and no author can query without it."""
    file: str = field(default="", compare=False)

    def entry(self, name: str, dialect: Dialect) -> TableEntry | None:
        """Return the entry of a table, or None if the table is not declared. ``name`` may lack the schema."""
        wanted = key_of(path_of(name), dialect)
        return next(
            (each for each in self.entries if key_of(path_of(each.name), dialect)[-len(wanted) :] == wanted), None
        )

    @property
    def where_to_change(self) -> str:
        """The file to edit, or the command to run, to change the declaration."""
        return self.file or "the declaration (for a data source: `tenantry data-source update NAME --tables FILE`)"

    def as_json(self) -> dict[str, Any]:
        """Return a value that ``read_tables`` accepts."""
        tables = {each.name: each.rule if isinstance(each.rule, str) else dict(each.rule) for each in self.entries}
        document: dict[str, Any] = {"tables": tables}
        if self.functions:
            document["functions"] = list(self.functions)
        if self.required:
            document["guard"] = "required"
        return document
