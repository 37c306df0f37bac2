"""Placement: what the SQL around a tag makes of it, decided at compile time and never by the value."""

from __future__ import annotations

from typing import NamedTuple

from tenantry.sql.dialects import Dialect
from tenantry.sql.nodes import Position
from tenantry.sql.pieces import Kind, Piece
from tenantry.sql.source import Source
from tenantry.sql.surroundings import Surroundings, Token

_BEFORE_A_NAME = {
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


class Placement(NamedTuple):
    """The stretch of text that a tag (or the string around it) stands for, and its position."""

    position: Position
    start: int
    end: int
    operator: str = ""
    negated: bool = False


class Placer:
    """Decides for one template, one dialect, tag after tag."""

    def __init__(self, source: Source, dialect: Dialect, pieces: list[Piece]) -> None:
        self._source = source
        self._dialect = dialect
        self._around = Surroundings(source.text, pieces)
        self._has_position = "position" in source.text.lower()

    def place(self, index: int, piece: Piece) -> Placement:
        """Where the tag or the string with tags at ``index`` stands. Raises TemplateError where none can stand."""
        self._refuse_glued(piece)
        if piece.kind is Kind.TAG and self._around.are_of_a_comparison(index):
            return Placement(Position.VALUE, piece.start, piece.end)
        previous = self._around.before(index, 4)
        if piece.kind is Kind.HOLED:
            return self._string(index, piece, previous)
        members = self._members(index, piece, previous)
        if members is not None:
            return members
        self._refuse_name(index, piece, previous)
        self._refuse_typed(piece, previous)
        return Placement(self._value(index, piece, previous), piece.start, piece.end)

    def _refuse_glued(self, piece: Piece) -> None:
        text = self._source.text
        before = text[piece.start - 1 : piece.start]
        after = text[piece.end : piece.end + 1]
        if _in_word(before) or (piece.kind is Kind.TAG and _in_word(after)):
            fix = "write a space beside the variable; a value is never a part of a name"
            raise self._source.error(piece.start, "a variable cannot be a part of a word", fix)

    def _string(self, index: int, piece: Piece, previous: list[Token]) -> Placement:
        first = previous[0].text
        if first in _TYPES or (first == "zone" and previous[2].text in {"with", "without"}):
            kind = "timestamp" if first == "zone" else first
            fix = f"write cast({{{{ name }}}} as {kind})"
            if kind == "interval":
                fix = "write {{ n }} * interval '1 day', with the unit that you need"
            raise self._source.error(
                piece.start, f"a variable cannot stand inside a literal of the form {kind} '…'", fix
            )
        if first == "in":
            raise self._source.error(
                piece.start, "`in` takes a list, not a string", "write in {{ name }}, without quotes"
            )
        if first == "'":
            raise self._source.error(piece.start, "two literals side by side", "put an operator between them")
        if self._value(index, piece, previous) is Position.LIMIT:
            raise self._source.error(
                piece.start, f"`{first}` takes a number, not a string", "write {{ name }} without quotes"
            )
        self._refuse_name(index, piece, previous)
        alone = len(piece.parts) == 1
        return Placement(Position.TEXT if alone else Position.PART, piece.start, piece.end)

    def _members(self, index: int, piece: Piece, previous: list[Token]) -> Placement | None:
        word = previous[0]
        end, rest = piece.end, previous[1:]
        if word.text == "(":
            after = self._around.after(index)
            if after.text != ")":
                return None
            word, rest, end = previous[1], previous[2:], after.end
        if word.text != "in" or rest[0].text == ".":
            return None
        if self._has_position and self._around.function(index) == "position":
            return None  # position('a' in {{ text }})
        negated = rest[0].text == "not"
        start = rest[0].start if negated else word.start
        operator = self._source.text[start : rest[0].end] + " " if negated else ""
        operator += self._source.text[word.start : word.end]
        return Placement(Position.LIST, start, end, operator, negated)

    def _refuse_name(self, index: int, piece: Piece, previous: list[Token]) -> None:
        following = self._around.after(index).text
        if previous[0].text == "." or following == ".":
            raise self._source.error(piece.start, "a variable cannot be a part of a name", _IDENTIFIER_FIX)
        if following == "(":
            raise self._source.error(piece.start, "a variable cannot name a function", _IDENTIFIER_FIX)
        if previous[0].text == "from" and self._is_operator(index, previous):
            return
        self._refuse_named(piece, previous)
        clause = self._around.clause(index) if previous[0].text in {",", "by"} else ""
        if clause == "by" and following not in _OPERATORS:
            problem = "a variable after `order by`, `group by` or `partition by` is a constant, which sorts by nothing"
            raise self._source.error(piece.start, problem, "write the column's name in the template itself")

    def _is_operator(self, index: int, previous: list[Token]) -> bool:
        """Whether ``from`` belongs to ``is distinct from`` or to a function such as ``extract(… from …)``."""
        return previous[1].text == "distinct" or self._around.function(index) in _FROM_FUNCTIONS

    def _refuse_named(self, piece: Piece, previous: list[Token]) -> None:
        word = previous[0].text
        what = "a program" if previous[1].text == "language" else _BEFORE_A_NAME.get(word)
        if what is not None:
            raise self._source.error(piece.start, f"a variable after `{word}` would name {what}", _IDENTIFIER_FIX)

    def _refuse_typed(self, piece: Piece, previous: list[Token]) -> None:
        word = previous[0].text
        if word in _BARE_TYPES and previous[1].text != ".":
            fix = f"write cast({{{{ name }}}} as {word})"
            raise self._source.error(piece.start, f"`{word}` takes a literal, not a parameter", fix)
        if word == "interval" and not self._dialect.interval_takes_value:
            fix = "write {{ n }} * interval '1 day', with the unit that you need"
            raise self._source.error(piece.start, "`interval` takes a literal, not a parameter", fix)
        after_is = word == "is" or (word == "not" and previous[1].text == "is")
        if after_is and not self._dialect.is_takes_value:
            raise self._source.error(piece.start, "`is` takes no parameter", "write = {{ name }}, or is null")

    def _value(self, index: int, piece: Piece, previous: list[Token]) -> Position:
        word = previous[0].text
        if word in {"limit", "offset"} or (word in {"first", "next"} and previous[1].text == "fetch"):
            return Position.LIMIT
        if word == "," and self._around.clause(index) == "limit":
            return Position.LIMIT
        return Position.VALUE


def _in_word(character: str) -> bool:
    return character.isalnum() or character in {"_", "$"} or character >= "\x80"
