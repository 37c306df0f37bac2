# In doubt, a name is taken for a table, not for a CTE, because guarding a CTE by mistake does no harm.

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tenantry.sql.dialects import Dialect, Identifiers
from tenantry.sql.guarding import grammar
from tenantry.sql.guarding.masked_sql import MaskedSQL, Refused
from tenantry.sql.guarding.names import Name, Path, folded

_LONGEST_NAME: Final = 63  # bytes
_Visible = frozenset[Name]


class TableUse(NamedTuple):
    path: Path
    start: int
    end: int
    alias: bool
    """Whether the author gave the table an alias."""
    only: bool
    """Whether the name follows ``only``."""
    is_whole_query: bool
    """Whether the table is in a select like a guard's: the table is the only item in ``from``, and the select has a
    ``where`` but no joins."""


class Qualified(NamedTuple):
    """A column that is written as ``schema.table.column``. The schema is between the offsets ``start`` and ``end``."""

    table: Path
    start: int
    end: int


@dataclass(slots=True)
class StatementNames:
    tables: list[TableUse] = field(default_factory=list)
    starts: dict[int, Path] = field(default_factory=dict)
    """Position at which a name of a table or CTE begins → the name."""
    calls: set[int] = field(default_factory=set)
    """Positions of the names of functions in ``from``, after the schema if there is one."""
    aliases: set[int] = field(default_factory=set)
    """Positions of the aliases of tables and of the names of CTEs."""
    ctes: dict[str, list[int]] = field(default_factory=dict)
    """Name of a CTE, in the form that ``folded`` returns → the positions of the name."""
    columns: list[Qualified] = field(default_factory=list)


def read_statement(masked: MaskedSQL, dialect: Dialect) -> StatementNames:
    """Find the names in a query. Raises Refused for SQL that is not exactly one query, or has unsupported syntax."""
    return _StatementReader(masked, dialect).read(grammar.parse(masked.sql, dialect.sqlglot_name or dialect.name))


class _StatementReader:
    def __init__(self, masked: MaskedSQL, dialect: Dialect) -> None:
        self._masked = masked
        self._dialect = dialect
        self._found = StatementNames()
        self._open: list[tuple[Any, _Visible, bool]] = []
        self._exp = grammar.types().exp

    def read(self, root: Any) -> StatementNames:
        self._open.append((root, frozenset(), False))
        while self._open:
            node, visible, in_with = self._open.pop()
            problem = grammar.problem_of(node, self._dialect)
            if problem is not None:
                raise Refused(self._near(node), *problem)
            call = grammar.call_in_from(node)
            if call is not None and "start" in call.meta:  # sqlglot gives no position for json_table
                self._found.calls.add(self._start(call))
            if isinstance(node, self._exp.Table):
                self._table(node, visible)
            elif isinstance(node, self._exp.Column):
                self._column(node)
            elif grammar.is_alias(node):
                self._found.aliases.add(self._start(node.this))
            visible, in_with = self._with(node, visible, in_with)
            children = (child for child in node.iter_expressions() if not isinstance(child, self._exp.With))
            self._open += [(child, visible, in_with) for child in children]
        return self._found

    def _with(self, node: Any, visible: _Visible, in_with: bool) -> tuple[_Visible, bool]:
        clause = node.args.get("with_")
        if clause is None:
            return visible, in_with
        if in_with and not self._dialect.nested_with:
            reason = "this `with` is inside a query that has a `with`: MariaDB and MySQL would read different tables"
            raise Refused(self._near(clause), reason, "move the queries of this `with` into the outer one")
        if grammar.is_right_arm(node):
            reason = "in ClickHouse, a `with` after `union`, `except` or `intersect` ends at the next `select`"
            raise Refused(
                self._near(clause), reason, "begin the query with this `with`, or put the queries in brackets"
            )
        if visible and grammar.is_arm(node):
            reason = "in ClickHouse, a `with` inside a `union`, `except` or `intersect` hides the outer `with`"
            raise Refused(self._near(clause), reason, "move the queries of this `with` into the outer one")
        problem = grammar.problem_of(clause, self._dialect)
        if problem is not None:
            raise Refused(self._near(clause), *problem)
        for cte in clause.expressions:
            problem = grammar.problem_of(cte, self._dialect)
            if problem is not None:
                raise Refused(self._near(cte), *problem)
            name = self._cte_name(cte)
            outer = visible - {name}
            for body, is_right_arm in grammar.bodies(cte, self._dialect, recursive=bool(clause.args.get("recursive"))):
                self._open.append((body, outer | {name} if is_right_arm else outer, True))
            if grammar.is_query_cte(cte):
                visible |= {name}
        return visible, True

    def _cte_name(self, cte: Any) -> Name:
        alias = cte.args["alias"]
        start = self._start(alias.this)
        self._found.aliases.add(start)
        name = self._name(alias.this)
        self._found.ctes.setdefault(folded(name.text), []).append(start)
        return name

    def _table(self, node: Any, visible: _Visible) -> None:
        parts = [each for each in (node.args.get("catalog"), node.args.get("db")) if each is not None]
        if isinstance(node.this, self._exp.Func):
            return
        parts.append(node.this)
        if not all(isinstance(each, self._exp.Identifier) for each in parts):
            raise Refused(self._near(node), "this is not the name of a table", "write (select * from …)")
        start, end = self._start(parts[0]), self._end(parts[-1])
        path = self._found.starts[start] = self._path(parts)
        if len(path) == 1 and path[0] in visible:
            return
        whole = grammar.is_whole_query(node)
        alias = node.args.get("alias")
        only = bool(node.args.get("only"))
        self._found.tables.append(TableUse(path, start, end, alias is not None and alias.this is not None, only, whole))

    def _column(self, node: Any) -> None:
        parts = [each for each in (node.args.get("catalog"), node.args.get("db"), node.args.get("table")) if each]
        if len(parts) > 1 and all(isinstance(each, self._exp.Identifier) for each in parts):
            path = tuple(map(self._name, parts))
            self._found.columns.append(Qualified(path, self._start(parts[0]), self._start(parts[-1])))

    def _path(self, parts: list[Any]) -> Path:
        start, end = self._start(parts[0]), self._end(parts[-1])
        if len(parts) > 1 and start == self._start(parts[-1]):  # BigQuery: `p.d.t` in one pair of quotes is three names
            path = tuple(Name(each.name, quoted=True) for each in parts)
            self._check_equal(self._masked.sql[start + 1 : end - 1], ".".join(each.text for each in path), start)
            return path
        return tuple(map(self._name, parts))

    def _name(self, identifier: Any) -> Name:
        start, end = self._start(identifier), self._end(identifier)
        text = self._masked.sql[start:end]
        if text[:1] == "'" or not text:
            raise Refused(
                start, "a string cannot name a table here", "write the name without quotes, or in double quotes"
            )
        if self._dialect.identifiers is Identifiers.FOLDS_LOWER and len(text.encode()) > _LONGEST_NAME:
            raise Refused(start, "PostgreSQL truncates a name of this length", f"use at most {_LONGEST_NAME} bytes")
        name = Name(text[1:-1], quoted=True) if text[0] in '"`' else Name(text, quoted=False)
        self._check_equal(name.text, identifier.name, start)
        return name

    def _check_equal(self, written: str, name: str, start: int) -> None:
        if written != name:  # BigQuery: p-x.d.t, and `p.d`.t
            raise Refused(start, "this name has several pieces", "write each of its parts in quotes")

    def _start(self, node: Any) -> int:
        return self._offset(node, "start")

    def _end(self, node: Any) -> int:
        return self._offset(node, "end") + 1

    def _offset(self, node: Any, key: str) -> int:
        offset = node.meta.get(key)
        if offset is None:
            raise Refused(self._near(node), "the position of this name is not known", "write it more plainly")
        return int(offset)

    def _near(self, node: Any) -> int:
        return min((int(each.meta["start"]) for each in _with_offsets(node)), default=0)


def _with_offsets(node: Any) -> Iterator[Any]:
    return (each for each in node.walk() if "start" in each.meta)
