"""Checks a statement a second time, word by word: the tables after ``from``, ``join`` and commas, and the functions
that are called."""

# This does not depend on sqlglot's parser, which can mistake a table for something else.

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, NamedTuple

from tenantry.errors import did_you_mean, misspelt
from tenantry.sql.dialects import Dialect
from tenantry.sql.guarding.masked_sql import MaskedToken, Refused
from tenantry.sql.lexing.lexemes import word_set

_SUBQUERY: Final = "write (select * from …)"
_JOINS: Final = frozenset({"from", "join", "straight_join", "apply"})
_SET_OPERATIONS: Final = frozenset({"union", "except", "intersect"})
_BEFORE_OPERAND: Final = word_set(
    """as on and or xor not in is like ilike between div mod from join case when then else where having qualify = < > +
    - * / % | & ^ ~ ! : :: -> ? @ # . ,"""
)
"""After one of these, a word is the name of a column or an alias, not a keyword."""
_CLOSED_BY: Final = {"(": ")", "[": "]", "{": "}"}
_BEGIN_QUERY: Final = frozenset({"select", "with", "from", "values", "table"})
_RETURNS_ROWS: Final = re.compile("json_table|xmltable|jsonb?_(?:each|to_record|populate_record).*")
_FROM_IN_CALL: Final = frozenset({"extract", "substring", "substr", "trim", "ltrim", "rtrim", "overlay"})
_REFUSED: Final = {
    "table": ("the command `table` is not supported with guarded tables", _SUBQUERY),
    "summarize": ("`summarize` is not supported with guarded tables", _SUBQUERY),
    "describe": ("`describe` is not supported with guarded tables", _SUBQUERY),
}


_SYNTAX: Final = word_set(
    """
    all and any apply as between by case columns cube distinct div else end escape except exclude exists fetch
    filter for from group having ilike in intersect interval is join lateral like limit materialized mod not offset
    on or over pivot qualify replace return rollup select sets some straight_join then top union unpivot using
    values when where with within xor
    """
)
_TYPES: Final = word_set(
    """
    array binary bit char character datetime datetime64 decimal double fixedstring float list lowcardinality map
    nullable numeric row struct time timestamp tuple varbinary varchar varying
    """
)


def _is_inside(token: MaskedToken) -> bool:
    return token.text != ")"


class Functions(NamedTuple):
    """The functions that SQL may call, in lower case: ``scalar`` in expressions, ``tables`` in ``from``."""

    scalar: AbstractSet[str]
    tables: AbstractSet[str]
    known: Sequence[str] = ()
    """Names to suggest for a misspelt function."""
    declared_in: str = "the declaration of the tables"


class Positions(NamedTuple):
    """Positions of the names that sqlglot found, as in StatementNames. ``tables`` has names of tables and CTEs."""

    tables: AbstractSet[int]
    calls: AbstractSet[int]
    aliases: AbstractSet[int]


@dataclass(slots=True)
class _OpenBracket:
    opened_by: str = ""
    in_from: bool = False
    expects: bool = False
    """Whether a table, or something else that ``from`` reads, comes next."""
    is_query: bool = False
    has_lambda: bool = False


class WordCheck:
    """Checks that the tokens name the same tables that sqlglot found, and call only ``functions``. If ``is_trusted``
    returns true for a call's position, the call is not checked. ``run`` raises Refused."""

    def __init__(
        self,
        tokens: Sequence[MaskedToken],
        dialect: Dialect,
        functions: Functions,
        found: Positions,
        is_trusted: Callable[[int], bool],
    ) -> None:
        self._tokens = tokens
        self._dialect = dialect
        self._functions = functions
        self._found = found
        self._items: set[int] = set()
        self._is_trusted = is_trusted
        self._levels = [_OpenBracket()]
        self._attributes: list[int] = []
        self._values: dict[str, set[str]] = {}

    def run(self) -> None:
        at = 0
        while at < len(self._tokens):
            at = self._read(at)
        if self._levels[-1].expects:
            raise Refused(self._tokens[-1].start, "this query ends where a table is expected", "complete it")
        if self._dialect.dynamic_functions.attributes:
            for at in self._attributes:
                self._check_attribute(at)
        unseen = (self._found.tables | self._found.calls) - self._items
        if unseen:
            raise Refused(min(unseen), "an engine may take this for something other than a table", _SUBQUERY)

    def _read(self, at: int) -> int:
        token, level = self._tokens[at], self._levels[-1]
        if token.text in _CLOSED_BY:
            expects = level.expects and token.text == "(" and not self._begins_query(at + 1)
            level.expects = False
            self._levels.append(_OpenBracket(self._text(at - 1), in_from=expects, expects=expects))
        elif token.text in _CLOSED_BY.values() and len(self._levels) > 1:
            if level.expects:
                raise Refused(token.start, "a table is expected here", _SUBQUERY)
            self._levels.pop()
        elif level.expects:
            return self._item(at)
        elif token.text == "," and level.in_from:
            level.expects = True
        elif self._dialect.named_lambdas and token.text in {"->", "as"}:
            self._lambda(token, level)
        elif token.is_name and self._text(at - 1) != ".":
            self._word(at, token, level)
        if token.is_name and self._text(at + 1) == "(":
            self._call(at, self._functions.scalar)
        elif token.is_name and self._text(at - 1) == "." and not self._is_trusted(token.start):
            self._attributes.append(at)
        return at + 1

    def _value_of_call(self, at: int) -> None:
        # A call in `from` may return one value. Its only column then has the name of the alias, or the name in the
        # column list.
        name, depth, end = self._name(at), 1, at + 2
        while depth and end < len(self._tokens):
            depth += (self._text(end) == "(") - (self._text(end) == ")")
            end += 1
        while self._text(end) in {"with", "ordinality", "as"}:
            end += 1
        for alias, last in ((name, at), (self._name(end), end)):
            columns = {alias}
            if last == end and self._text(end + 1) == "(":
                columns = {token.text.strip('"') for token in takewhile(_is_inside, self._tokens[end + 2 :])}
            self._values[alias] = self._values.get(alias, columns) & columns

    def _check_attribute(self, at: int) -> None:
        # PostgreSQL reads value.name as name(value) if the value has no such column. A value is an expression in
        # brackets, or the alias of a function that does not return rows.
        first = at
        while self._text(first - 1) == ".":
            first -= 2
        token, name = self._tokens[at], self._name(at)
        columns = set() if self._text(first) in {")", "]"} else self._values.get(self._name(first))
        if first == at or columns is None or name in {"ordinality", *columns} or name in self._functions.scalar:
            return
        fix = f"if {name} is a column or a safe function, add {name} to `functions` in {self._functions.declared_in}"
        raise Refused(token.start, f"{name} can be a function here, and that function may read a table", fix)

    def _lambda(self, token: MaskedToken, level: _OpenBracket) -> None:
        # A lambda with a name replaces the function of that name. With the name `equals`, it would replace the = of a
        # guard.
        level.has_lambda = level.has_lambda or token.text == "->"
        in_call = level.opened_by[:1].isalpha() and level.opened_by not in _SYNTAX
        if level.has_lambda and (token.text == "as" or not in_call):
            raise Refused(
                token.start,
                "guarded tables do not allow a lambda with a name",
                "write the lambda as an argument of a function",
            )

    def _word(self, at: int, token: MaskedToken, level: _OpenBracket) -> None:
        word = token.text
        if word in _REFUSED and self._next_is_name(at) and self._text(at - 1) != "as":
            raise Refused(token.start, *_REFUSED[word])
        if self._ends_from(at):
            level.in_from = False
            level.is_query = level.is_query or word == "select"
        elif word in _JOINS and not self._is_other_from(at, level):
            level.in_from = level.expects = not self._is_array_join(at)

    def _ends_from(self, at: int) -> bool:
        """Whether a word begins a clause in which commas do not separate tables. When in doubt, False."""
        word, after = self._text(at), self._text(at + 1)
        if self._text(at - 1) in _BEFORE_OPERAND:
            return False
        if word in {"group", "order"}:
            return after == "by"
        if word == "window":
            return self._next_is_name(at) and self._text(at + 2) == "as"
        if word in _SET_OPERATIONS:
            return after in {"all", "distinct", "values", "by"}
        return word in {"select", "limit"}

    def _is_array_join(self, at: int) -> bool:
        if not self._dialect.array_joins or self._text(at) != "join" or self._text(at - 1) != "array":
            return False
        return self._tokens[at - 1].start not in self._items and self._text(at - 2) not in _BEFORE_OPERAND

    def _begins_query(self, at: int) -> bool:
        return self._text(at) in _BEGIN_QUERY and (self._text(at) != "values" or self._text(at + 1) == "(")

    def _is_other_from(self, at: int, level: _OpenBracket) -> bool:
        if self._text(at) != "from":
            return False
        before = self._text(at - 2)
        if self._text(at - 1) == "distinct" and (before if before != "not" else self._text(at - 3)) == "is":
            return True
        return level.opened_by in _FROM_IN_CALL and not level.is_query

    def _item(self, at: int) -> int:
        token, level = self._tokens[at], self._levels[-1]
        if token.text in {"lateral", "only"} and token.start not in self._found.tables:
            return at + 1
        if token.text == "values" and self._text(at + 1) == "(":
            level.expects = False
            return at + 1
        if not token.is_name:
            raise Refused(token.start, "this is not the name of a table", _SUBQUERY)
        level.expects = False
        self._items.add(token.start)
        end = at
        while self._text(end + 1) == "." and self._next_is_name(end + 1):
            end += 2
        if self._text(end + 1) == "(":
            self._items.add(self._tokens[end].start)
            self._call(end, self._functions.tables)
            if not _RETURNS_ROWS.fullmatch(self._text(end)):
                self._value_of_call(end)
        elif token.start not in self._found.tables:
            raise Refused(token.start, "engines read a table here that cannot be guarded", _SUBQUERY)
        elif self._text(end + 1) == "*":
            raise Refused(self._tokens[end + 1].start, "a table with * cannot be guarded", "remove the *")
        return end + 1

    def _call(self, at: int, allowed: AbstractSet[str]) -> None:
        token = self._tokens[at]
        name, path = self._name(at), self._path(at)
        if self._is_trusted(token.start) or path in allowed:
            return
        if token.start in self._found.aliases or (name == token.text and self._is_syntax(at, name)):
            return
        problem = f"the function {path} may read a table"
        known = self._functions.known if path == name else ()
        fix = f"if it is safe, add {path} to `functions` in {self._functions.declared_in}"
        near = did_you_mean(name, known)
        raise Refused(token.start, problem, f"{near}Otherwise, {fix}" if near else fix, misspelt(name, known))

    def _is_syntax(self, at: int, word: str) -> bool:
        before = self._text(at - 1)
        return before != "." and (word in _SYNTAX or word in _TYPES or before in {"as", "::"})

    def _path(self, at: int) -> str:
        names = [self._name(at)]
        while self._text(at - 1) == ".":
            at -= 2
            names.append(self._name(at))
        return ".".join(reversed(names))

    def _name(self, at: int) -> str:
        return self._text(at).strip('"`')

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _next_is_name(self, at: int) -> bool:
        return at + 1 < len(self._tokens) and self._tokens[at + 1].is_name
