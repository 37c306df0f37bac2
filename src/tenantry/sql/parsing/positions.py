"""Positions: what the SQL around a tag makes of it, decided at compile time and never by the value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.sql_tokens import AFTER_CHOICE, SQLToken, TokenContext
from tenantry.sql.lexing.tags import ONE_OF
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position

_NAME_AFTER = {
    "from": "a table",
    "join": "a table",
    "into": "a table",
    "update": "a table",
    "only": "a table",
    "lateral": "a table",
    "table": "a table",
    "view": "a view",
    "schema": "a schema",
    "database": "a database",
    "index": "an index",
    "set": "a column",
    "as": "an alias or a type",
    "with": "a name",
    "recursive": "a name",
    "collate": "a collation",
    "attach": "a database",
    "use": "a schema",
    "do": "a program",
    "immediate": "a statement",
    "program": "a program",
    "load": "an extension",
    "install": "an extension",
    "infile": "a file",
    "outfile": "a file",
    "dumpfile": "a file",
    "::": "a type",
}
_FROM_FUNCTIONS = frozenset({"extract", "trim", "substring", "overlay", "substr", "position"})
_TYPES = frozenset(
    (
        *("date", "time", "timestamp", "timestamptz", "timetz", "datetime", "interval", "json", "jsonb", "uuid", "xml"),
        *("inet", "cidr", "macaddr", "bytea", "numeric", "decimal", "int", "integer", "bigint", "smallint", "real"),
        *("float", "double", "boolean", "bool", "text", "varchar", "char", "money", "point", "box", "circle", "line"),
    )
)
_BARE_TYPES = frozenset({"date", "time", "timestamp", "timestamptz", "timetz", "datetime"})
_OPERATORS = frozenset("+-*/<>=|&^%#~!") | {"::"}
_IDENTIFIER_FIX = "write the name in the template itself; a value is never an identifier"
_TYPE = r"[A-Za-z_][\w.]*(?:\s+(?:with(?:out)?\s+time\s+zone|varying|precision|unsigned))?(?:\s*\([\d\s,]*\))?(?:\[\])*"
_CAST = re.compile(rf"\s*::\s*({_TYPE})|\s+as\s+({_TYPE})\s*\)", re.IGNORECASE)
_BEFORE_VALUE = re.compile(
    r"(?:[-+*/<>=|&^%#~!(,]|(?<![\w$.])(?:and|or|not|when|then|else|between|i?like|where|having|on|case))\s*+\Z",
    re.IGNORECASE,
)
_BEFORE_CONDITION = frozenset({"where", "having", "on", "and", "or", "not", "when", "qualify", "prewhere"})
_AROUND_AND = frozenset({"between", "and", "or", "where", "having", "on", "when", "then", "else", "select", "not"})
_ITEM_ENDS = frozenset(
    (
        *(
            "",
            ")",
            "]]",
            ";",
            ",",
            "and",
            "or",
            "from",
            "where",
            "group",
            "order",
            "having",
            "limit",
            "offset",
            "fetch",
        ),
        *(
            "union",
            "except",
            "intersect",
            "window",
            "qualify",
            "then",
            "join",
            "left",
            "right",
            "inner",
            "cross",
            "full",
        ),
    )
)


class ReplacedSpan(NamedTuple):
    """The text that a placeholder replaces (a tag, the string around it, or ``in`` with it), and its position. ``cast``
    is the type that it is cast to, where the cast is directly at it."""

    position: Position
    start: int
    end: int
    operator: str = ""
    negated: bool = False
    cast: str = ""


class PositionAnalyzer:
    """Decides the positions of one template's variables in one dialect, tag after tag."""

    def __init__(self, source: Source, dialect: Dialect, lexemes: Sequence[Lexeme]) -> None:
        self._source = source
        self._dialect = dialect
        self._context = TokenContext(source, lexemes)
        self._has_position = "position" in source.text.lower()

    def analyze(self, index: int, lexeme: Lexeme) -> ReplacedSpan:
        """The position of the tag, or of the string with tags, at ``index``. Raises TemplateError where none can be."""
        self._reject_part_of_word(lexeme)
        if lexeme.kind is LexemeKind.TAG and self._context.follows_comparison(index):
            return ReplacedSpan(Position.VALUE, lexeme.start, lexeme.end, cast=self._cast(lexeme))
        previous = self._context.preceding(index, 4)
        if previous[0].text == AFTER_CHOICE:
            self._reject_after_choice(index, lexeme)
        if lexeme.kind is LexemeKind.INTERPOLATED_STRING:
            return self._string(index, lexeme, previous)
        in_list = self._in_list(index, lexeme, previous)
        if in_list is not None:
            return in_list
        self._reject_name(index, lexeme, previous)
        self._reject_typed(lexeme, previous)
        self._reject_bare(index, lexeme, previous)
        position = self._value(index, lexeme, previous)
        return ReplacedSpan(position, lexeme.start, lexeme.end, cast=self._cast(lexeme))

    def _reject_bare(self, index: int, lexeme: Lexeme, previous: list[SQLToken]) -> None:
        """A value alone is no condition, and in ``select`` no column: the author of such a template meant another."""
        following = self._context.following(index).text
        if following not in _ITEM_ENDS:
            return
        words = [token.text for token in previous if token.text != "[["]
        word = words[0] if words else ""
        if following != "," and word in _BEFORE_CONDITION and self._is_condition(index, word):
            fix = "write column = {{ name }}; for a boolean that is given, cast({{ name }} as boolean)"
            raise self._source.error(lexeme.start, "a value alone is not a condition", fix)
        word = previous[0].text
        item = word == "select" or (word in {"distinct", "all"} and previous[1].text == "select")
        if item or (word == "," and self._context.enclosing_clause(index) == "select"):
            fix = "for a column to choose write {{ name | one_of(column, column) }}; for the value {{ name }} as column"
            raise self._source.error(lexeme.start, "a value alone is a constant, and names no column", fix)

    def _is_condition(self, index: int, word: str) -> bool:
        """Whether the word begins a condition: not ``and`` of ``between``, ``is not``, ``when`` of ``case value``."""
        if word == "not":
            return self._context.preceding(index, 2)[1].text != "is"
        if word == "and":
            return self._context.keyword_before(index, _AROUND_AND) != "between"
        return word != "when" or self._context.is_searched_case(index)

    def is_pattern(self, index: int) -> bool:
        """Whether the tag is the whole pattern of ``like``, without an ``escape`` of its own."""
        following = self._context.following(index).text
        before = self._context.preceding(index, 1)[0].text
        return before in {"like", "ilike"} and following != "escape" and following not in _OPERATORS

    def _cast(self, lexeme: Lexeme) -> str:
        """The type that the tag is cast to directly: of ``{{ x }}::date`` and of ``cast({{ x }} as date)``."""
        match = _CAST.match(self._source.text, lexeme.end)
        return "" if match is None else " ".join((match.group(1) or match.group(2)).lower().split())

    def choice(self, lexeme: Lexeme) -> ReplacedSpan:
        """The span of a tag that the author's own SQL replaces: it may be a name, an operator or a keyword, and not a
        part of a word."""
        self._reject_part_of_word(lexeme)
        return ReplacedSpan(Position.CHOICE, lexeme.start, lexeme.end)

    def _reject_part_of_word(self, lexeme: Lexeme) -> None:
        text = self._source.text
        before, after = text[lexeme.start - 1 : lexeme.start], text[lexeme.end : lexeme.end + 1]
        if _in_word(before) or (lexeme.kind is LexemeKind.TAG and _in_word(after)):
            fix = "write a space beside the variable; a value is never a part of a name"
            raise self._source.error(lexeme.start, "a variable cannot be a part of a word", fix)

    def _reject_after_choice(self, index: int, lexeme: Lexeme) -> None:
        """What comes before the variable depends on the choice: each of its texts ends so that a value can follow."""
        before = next(each for each in reversed(self._context.lexemes[:index]) if each.kind is LexemeKind.TAG)
        choice = next(each for each in before.parts if self._source.text.startswith(ONE_OF, each.start))
        texts = [argument.parts[-1] for argument in choice.parts if argument.parts]
        if not all(_BEFORE_VALUE.search(self._source.text, text.start, text.end) for text in texts):
            fix = "write the operator between them in the template, or end each text of the choice with one"
            raise self._source.error(lexeme.start, "a variable directly after a choice", fix)

    def _string(self, index: int, lexeme: Lexeme, previous: list[SQLToken]) -> ReplacedSpan:
        first = previous[0].text
        if first in _TYPES or (first == "zone" and previous[2].text in {"with", "without"}):
            kind = "timestamp" if first == "zone" else first
            fix = f"write cast({{{{ name }}}} as {kind})"
            if kind == "interval":
                fix = self._dialect.interval_fix
            raise self._source.error(
                lexeme.start, f"a variable is not allowed inside a literal of the form {kind} '…'", fix
            )
        if first == "in":
            raise self._source.error(
                lexeme.start, "`in` takes a list, not a string", "write in {{ name }}, without quotes"
            )
        if first == "'":
            raise self._source.error(lexeme.start, "two literals side by side", "put an operator between them")
        if self._value(index, lexeme, previous) is Position.LIMIT:
            raise self._source.error(
                lexeme.start, f"`{first}` takes a number, not a string", "write {{ name }} without quotes"
            )
        self._reject_name(index, lexeme, previous)
        alone = len(lexeme.parts) == 1
        return ReplacedSpan(
            Position.TEXT if alone else Position.PART, lexeme.start, lexeme.end, cast=self._cast(lexeme)
        )

    def _in_list(self, index: int, lexeme: Lexeme, previous: list[SQLToken]) -> ReplacedSpan | None:
        word = previous[0]
        end, rest = lexeme.end, previous[1:]
        if word.text == "(":
            after = self._context.following(index)
            if after.text != ")":
                return None
            word, rest, end = previous[1], previous[2:], after.end
        if word.text != "in" or rest[0].text == ".":
            return None
        if self._has_position and self._context.enclosing_function(index) == "position":
            return None  # position('a' in {{ text }})
        negated = rest[0].text == "not"
        start = rest[0].start if negated else word.start
        operator = self._source.text[start : rest[0].end] + " " if negated else ""
        operator += self._source.text[word.start : word.end]
        return ReplacedSpan(Position.LIST, start, end, operator, negated)

    def _reject_name(self, index: int, lexeme: Lexeme, previous: list[SQLToken]) -> None:
        following = self._context.following(index).text
        if previous[0].text == "." or following == ".":
            raise self._source.error(lexeme.start, "a variable cannot be a part of a name", _IDENTIFIER_FIX)
        if following == "(":
            raise self._source.error(lexeme.start, "a variable cannot name a function", _IDENTIFIER_FIX)
        word = previous[0].text
        if word == "(" and previous[1].text == "table":
            raise self._source.error(lexeme.start, "a variable in `table(…)` would name a table", _IDENTIFIER_FIX)
        if word == "from" and (
            previous[1].text == "distinct" or self._context.enclosing_function(index) in _FROM_FUNCTIONS
        ):
            return  # `is distinct from`, extract(… from …)
        what = "a program" if previous[1].text == "language" else _NAME_AFTER.get(word)
        if what is not None:
            raise self._source.error(lexeme.start, f"a variable after `{word}` would name {what}", _IDENTIFIER_FIX)
        clause = self._context.enclosing_clause(index) if word in {",", "by"} else ""
        if clause == "by" and following not in _OPERATORS:
            problem = "a variable after `order by`, `group by` or `partition by` is a constant, which sorts by nothing"
            raise self._source.error(lexeme.start, problem, "write the column's name in the template itself")

    def _reject_typed(self, lexeme: Lexeme, previous: list[SQLToken]) -> None:
        word = previous[0].text
        if word in _BARE_TYPES and previous[1].text != ".":
            fix = f"write cast({{{{ name }}}} as {word})"
            raise self._source.error(lexeme.start, f"`{word}` takes a literal, not a parameter", fix)
        if word == "interval" and not self._dialect.interval_takes_value:
            fix = self._dialect.interval_fix
            raise self._source.error(lexeme.start, "`interval` takes a literal, not a parameter", fix)
        after_is = word == "is" or (word == "not" and previous[1].text == "is")
        if after_is and not self._dialect.is_takes_value:
            raise self._source.error(lexeme.start, "`is` takes no parameter", "write = {{ name }}, or is null")

    def _value(self, index: int, lexeme: Lexeme, previous: list[SQLToken]) -> Position:
        word = previous[0].text
        if self._dialect.top_takes_value and "top" in {word, previous[1].text}:
            if word == "(":
                return Position.LIMIT
            if word == "top":
                raise self._source.error(lexeme.start, "`top` takes no parameter alone", "write top ({{ name }})")
        if word in {"limit", "offset"} or (word in {"first", "next"} and previous[1].text == "fetch"):
            return Position.LIMIT
        if word == "," and self._context.enclosing_clause(index) == "limit":
            return Position.LIMIT
        return Position.VALUE


def _in_word(character: str) -> bool:
    return character.isalnum() or character in {"_", "$"} or character >= "\x80"
