"""The part of sqlglot's grammar that we support."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any, Final

from tenantry.sql.dialects import Dialect
from tenantry.sql.guarding.masked_sql import Refused

INSTALL: Final = "pip install 'tenantry[guard]'"
"""Command that installs sqlglot."""
MISSING: Final = "guarded tables need the library sqlglot, which is not installed"

_SUBQUERY: Final = "write (select * from …)"
_ARGUMENTS: Final = {
    "Select": """with_ distinct expressions limit offset from_ joins laterals where group having qualify windows order
        operation_modifiers""",
    "SetOperation": "with_ this expression distinct by_name order limit offset",
    "Subquery": "with_ this alias joins order limit offset pivots wrapped",
    "Table": "this alias db catalog joins only ordinality",
    "From": "this",
    "Join": "this on using method side kind global_ expressions",
    "Lateral": "this alias ordinality outer cross_apply view",
    "Unnest": "expressions alias offset",
    "Values": "expressions alias order limit offset",
    "With": "expressions recursive",
    "CTE": "this alias scalar materialized",
    "TableAlias": "this columns",
    "In": "this expressions query unnest is_global",
}
"""Type of sqlglot node that concerns tables → the arguments that it may have. Others, such as ``for update`` or
``sample``, are refused."""
_OTHERS: Final = """
    Alias Aliases Condition Func Identifier Star Var DataType DataTypeParam ColumnDef Tuple Ordered Order Group Having
    Where Limit Offset Fetch Qualify Window WindowSpec Distinct Filter WithinGroup IgnoreNulls RespectNulls Interval
    IntervalSpan Cube Rollup GroupingSets Lambda PropertyEQ Kwarg Slice Bracket Collate AtTimeZone Escape Pivot
    JSONSchema JSONColumnDef JSONPath JSONKeyValue FormatJson OnCondition LimitOptions WithFill UnpivotColumns
    PivotAlias JSONPathPart HavingMax Opclass CharacterSet Case If Parameter SessionParameter
"""
_NAMED: Final = {
    "Pivot": "pivot of a table",
    "Final": "final",
    "TableSample": "sample",
    "PreWhere": "prewhere",
    "Lock": "for update",
    "Into": "select … into",
    "Hint": "a hint",
}
_BUGS: Final = (
    *(ValueError, TypeError, LookupError, AttributeError, AssertionError, ArithmeticError, RuntimeError),
    *(NameError, StopIteration, re.error),
)
"""Exceptions that bugs of sqlglot raise. SQL that causes one is refused."""

_is_parsing: ContextVar[bool] = ContextVar("is_parsing", default=False)


def parse(sql: str, dialect: str) -> Any:
    """Parse one query. Raises Refused for every error of sqlglot, and for SQL that is not exactly one query."""
    import sqlglot
    from sqlglot.errors import ErrorLevel, SqlglotError

    # The log messages of sqlglot could contain secrets.
    logging.getLogger("sqlglot").addFilter(_is_of_others)  # adding a filter again has no effect
    was_parsing = _is_parsing.set(True)
    try:
        statements = [each for each in sqlglot.parse(sql, read=dialect, error_level=ErrorLevel.IMMEDIATE) if each]
    except RecursionError:
        raise Refused(0, "this SQL is nested too deeply", "write it with fewer levels") from None
    except (SqlglotError, *_BUGS) as error:
        raise _unreadable(sql, error) from None
    finally:
        _is_parsing.reset(was_parsing)
    if not statements:
        raise Refused(0, "there is no query", "write a query")
    if len(statements) != 1:
        raise Refused(0, "a query of guarded tables must be one statement", "remove the other statements")
    if not isinstance(statements[0], types().queries):
        problem = f"only a query can read guarded tables, not {type(statements[0]).__name__.lower()}"
        raise Refused(0, problem, "write a select")
    return statements[0]


def _is_of_others(_: logging.LogRecord) -> bool:
    # sqlglot logs commands that it does not know, and literals in them can be secrets.
    return not _is_parsing.get()


def _unreadable(sql: str, error: Exception) -> Refused:
    details = (getattr(error, "errors", None) or [{}])[0]
    reported = str(details.get("description") or type(error).__name__).partition(" but got <")[0]
    if reported.startswith("Required keyword"):
        reported = "a part of this expression is missing"
    elif reported.startswith("Invalid expression"):  # "Invalid expression / Unexpected token"
        reported = "a word or sign is not expected here"
    line, column, token = details.get("line") or 1, details.get("col") or 0, details.get("highlight") or ""
    start = sum(map(len, sql.splitlines(keepends=True)[: line - 1]))
    problem = f"this SQL cannot be read: {reported[:1].lower()}{reported[1:]}"
    fix = (
        "correct it; if your database accepts it, write plainer SQL, because Tenantry must read SQL to guard its tables"
    )
    return Refused(start + max(0, column - len(token)), problem, fix)


class _Types:
    def __init__(self) -> None:
        try:
            from sqlglot import exp
        except ModuleNotFoundError:
            raise Refused(0, MISSING, INSTALL) from None
        self.exp: Any = exp
        self.queries = (exp.Select, exp.SetOperation, exp.Subquery)
        self.structures = {getattr(exp, name): frozenset(text.split()) for name, text in _ARGUMENTS.items()}
        self.others = tuple(getattr(exp, name) for name in _OTHERS.split())
        self.from_parents = (exp.From, exp.Join, exp.Subquery)


@cache
def types() -> _Types:
    """Import sqlglot and return its types. Raises Refused if sqlglot is not installed."""
    return _Types()


def problem_of(node: Any, dialect: Dialect) -> tuple[str, str] | None:
    known = types()
    exp = known.exp
    allowed = next((known.structures[each] for each in type(node).__mro__ if each in known.structures), None)
    if allowed is not None:
        extra = next((key for key, value in node.args.items() if value and key not in allowed), None)
        return _refused_argument(node, extra) if extra is not None else _problem_of_structure(node, dialect)
    if not isinstance(node, known.others):
        name = _NAMED.get(type(node).__name__, type(node).__name__.lower())
        return f"{name} is not supported with guarded tables", _SUBQUERY
    if isinstance(node, exp.Pivot) and not isinstance(node.parent, exp.Subquery):
        return "a pivot of a table cannot be guarded", "write (select * from …) in place of its name"
    if isinstance(node, exp.Column) and node.name.lower() in dialect.row_ids:
        return f"{node.name} is NULL in a guarded table", "select the key of the table by its own name"
    return None


def _refused_argument(node: Any, key: str) -> tuple[str, str]:
    value = node.args[key]
    first = value[0] if isinstance(value, list) else value
    name = _NAMED.get(type(first).__name__, key.strip("_").replace("_", " "))
    if key == "prewhere":
        return "`prewhere` is not supported with guarded tables", "write `where`"
    if isinstance(node, types().exp.In):
        return "a name after `in` is a table on some engines and a column on others", "write `in (select … from …)`"
    if key == "pivots":
        return "a pivot of a table cannot be guarded", "write (select * from …) in place of its name"
    return f"{name} is not supported with guarded tables", f"remove it, or {_SUBQUERY}"


def _problem_of_structure(node: Any, dialect: Dialect) -> tuple[str, str] | None:
    exp = types().exp
    if isinstance(node, exp.Table) and not isinstance(node.parent, types().from_parents):
        return "a table is not expected here", _SUBQUERY
    if isinstance(node, exp.Subquery) and not isinstance(node.this, (*types().queries, exp.Table, exp.Values)):
        return f"{type(node.this).__name__.lower()} is not supported with guarded tables", _SUBQUERY
    if isinstance(node, exp.CTE) and not (is_query_cte(node) or node.args.get("scalar")):
        return f"a `with` may contain only queries, not {type(node.this).__name__.lower()}", "write a select"
    if isinstance(node, exp.In) and dialect.in_reads_tables:
        items = node.expressions
        if len(items) == 1 and isinstance(items[0].unnest(), exp.Column | exp.Identifier | exp.Dot):
            return "ClickHouse reads a name after `in` as a table", "write `in (select … from …)`"
    return None


def is_query_cte(cte: Any) -> bool:
    return isinstance(cte.this, types().queries) and not cte.args.get("scalar")


def bodies(cte: Any, dialect: Dialect, *, recursive: bool) -> Iterator[tuple[Any, bool]]:
    """Yield the parts of a CTE's query, and for each part whether it may read the CTE itself. Only a recursive union
    has two parts."""
    exp = types().exp
    body = cte.this
    is_union = isinstance(body, exp.Union) and not body.args.get("by_name")  # DuckDB does not repeat a union by name
    if not recursive or not is_union or body.args.get("with_") is not None:
        yield body, False
        return
    problem = problem_of(body, dialect)
    if problem is not None:
        raise Refused(0, *problem)
    for child in body.iter_expressions():
        yield child, child is body.args["expression"]


def is_whole_query(table: Any) -> bool:
    """See ``TableUse.is_whole_query``."""
    exp = types().exp
    parent = table.parent
    select = parent.parent if isinstance(parent, exp.From) else None
    return isinstance(select, exp.Select) and select.args.get("where") is not None and not select.args.get("joins")


def call_in_from(node: Any) -> Any:
    """Return the function that an item of ``from`` or ``join`` calls, or None."""
    exp = types().exp
    call = node.this if isinstance(node, exp.Table | exp.Lateral) else None
    return call if isinstance(call, exp.Func) else None


def is_alias(node: Any) -> bool:
    exp = types().exp
    if not isinstance(node, exp.TableAlias) or node.this is None:
        return False
    # For `union values (1)`, sqlglot adds an alias that has no position.
    return "start" in node.this.meta or not isinstance(node.parent, exp.Values)


def is_right_arm(query: Any) -> bool:
    """Whether a query directly follows ``union``, ``except`` or ``intersect``, without parentheses."""
    return isinstance(query.parent, types().exp.SetOperation) and query.arg_key == "expression"


def is_arm(query: Any) -> bool:
    """Whether a query, with or without parentheses, is one side of a ``union``, ``except`` or ``intersect``."""
    while isinstance(query.parent, types().exp.Subquery):
        query = query.parent
    return isinstance(query.parent, types().exp.SetOperation)
