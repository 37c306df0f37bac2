"""The parser: template text to a tree. One method a kind of piece, so that a new construct is a new method."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tenantry.errors import TemplateError
from tenantry.sql.brackets import match_brackets
from tenantry.sql.dialects import Dialect
from tenantry.sql.dynamic_sql import refuse_column_names, refuse_dynamic_sql
from tenantry.sql.lexer import lex
from tenantry.sql.literals import unescape
from tenantry.sql.marks import find_marks
from tenantry.sql.nodes import Clause, Composed, Hole, Members, Node, Position, Text, Tree, Value
from tenantry.sql.pieces import Kind, Piece
from tenantry.sql.placement import Placement, Placer
from tenantry.sql.source import Source
from tenantry.sql.whole_clauses import refuse_broken_clauses

MOST_TAGS = 1_000
"""Tags in one template."""
DEEPEST = 8
"""Optional clauses within one another."""

PATH = re.compile(r"[^\W\d_]\w*(?:\.[^\W\d_]\w*)*")
NOT_A_FILTER = "not_a_filter"
"""The one filter of the language: says that the variable restricts no rows, so that its clause may be left out."""
_SPACES = frozenset(" \t\r\n") | {""}
_NO_SPACE_BEFORE = frozenset(" \t\r\n(,")
_NO_SPACE_AFTER = frozenset(" \t\r\n),;")


def parse(source: Source, dialect: Dialect, optional: AbstractSet[str] = frozenset()) -> Tree:
    """Parses a template by the rules of a dialect; ``optional`` are the paths that the group may lack.

    Raises TemplateError with the line, a caret and the fix.
    """
    pieces = lex(source, dialect)
    if "[[" in source.text:
        pieces = match_brackets(source, dialect, pieces)
    refuse_dynamic_sql(source, dialect, pieces)
    refuse_column_names(source, dialect, pieces)
    if "[[" in source.text:
        refuse_broken_clauses(source, pieces)
    marks, slices = find_marks(source.text, pieces)
    parser = _Parser(source, dialect, pieces, slices, optional)
    return Tree(parser.parse(), tuple(parser.holes), marks)


@dataclass(slots=True)
class _Level:
    """The template itself, or an optional clause that is still open at ``start``."""

    start: int
    nodes: list[Node] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def flush(self) -> None:
        if self.text:
            self.nodes.append(Text("".join(self.text)))
            self.text = []


class _Parser:
    def __init__(
        self,
        source: Source,
        dialect: Dialect,
        pieces: list[Piece],
        slices: tuple[int, ...],
        optional: AbstractSet[str],
    ) -> None:
        self.holes: list[Hole] = []
        self._optional = optional
        self._source = source
        self._text = source.text
        self._pieces = pieces
        self._slices = list(reversed(slices))  # the next one is taken from the end
        self._levels = [_Level(0)]
        self._done = 0  # the text before this offset is in the tree
        self._placements = self._place(Placer(source, dialect, pieces))
        self._handlers = {
            Kind.COMMENT: self._comment,
            Kind.OPEN: self._open,
            Kind.CLOSE: self._close,
            Kind.ESCAPE: self._escape,
            Kind.TAG: self._tag,
            Kind.HOLED: self._holed,
            Kind.QUOTED: self._quoted,
            Kind.STRING: self._quoted,
            Kind.LEFT: self._bracket,
            Kind.RIGHT: self._bracket,
        }

    def _place(self, placer: Placer) -> list[Placement]:
        tags = [
            (i, piece) for i, piece in enumerate(self._pieces) if piece.kind is Kind.TAG or piece.kind is Kind.HOLED
        ]
        if sum(max(1, len(piece.parts)) for _, piece in tags) > 2 * MOST_TAGS or len(tags) > MOST_TAGS:
            raise TemplateError(f"a SQL template has at most {MOST_TAGS} variables")
        return [placer.place(index, piece) for index, piece in tags]

    def parse(self) -> tuple[Node, ...]:
        """The nodes of the whole text; ``holes`` is filled on the way."""
        self._placements.reverse()  # the next one is taken from the end
        handlers = self._handlers
        for piece in self._pieces:
            kind, start, end, *_ = piece
            if end <= self._done:
                continue
            tag = kind is Kind.TAG or kind is Kind.HOLED
            stop = min(end, self._placements[-1].start) if self._placements else end
            if kind is Kind.CODE:
                self._code(max(start, self._done), stop)
            elif tag or start < stop:
                handlers[kind](piece)
        level = self._levels[0]
        level.flush()
        return tuple(level.nodes)

    def _code(self, start: int, stop: int) -> None:
        if start >= stop:
            return  # all of it belongs to a list: `in (` or `)`
        text = self._levels[-1].text
        while self._slices and self._slices[-1] < stop:
            offset = self._slices.pop()
            if offset >= start:
                text += [self._text[start : offset + 1], " "]  # a[1: n]: no driver takes this for a placeholder
                start = offset + 1
        text.append(self._text[start:stop])

    def _bracket(self, piece: Piece) -> None:
        self._levels[-1].text.append(self._text[piece.start : piece.end])

    def _comment(self, piece: Piece) -> None:
        if self._text.startswith("/*", piece.start):
            self._levels[-1].text.append(" ")

    def _escape(self, piece: Piece) -> None:
        self._levels[-1].text.append(self._text[piece.start + 1 : piece.end])

    def _quoted(self, piece: Piece) -> None:
        self._levels[-1].text.append(self._text[piece.start : piece.end].replace("\\{{", "{{"))

    def _tag(self, piece: Piece) -> None:
        placement = self._placements.pop()
        hole = self._hole(piece, placement.position)
        if placement.position is Position.LIST:
            self._add(Members(hole, placement.operator, placement.negated), placement)
        else:
            self._add(Value(hole), placement)

    def _holed(self, piece: Piece) -> None:
        placement = self._placements.pop()
        quote = self._text[piece.start]
        parts: list[str | Hole] = []
        for part in piece.parts:
            if part.kind is Kind.TAG:
                parts.append(self._hole(part, placement.position))
            elif part.kind is Kind.ESCAPE:
                parts.append(self._text[part.start + 1 : part.end])
            else:
                parts.append(self._literal(part, quote, piece.backslash))
        only = parts[0]
        alone = len(parts) == 1 and isinstance(only, Hole)
        self._add(Value(only) if alone and isinstance(only, Hole) else Composed(tuple(parts)), placement)

    def _literal(self, part: Piece, quote: str, backslash: bool) -> str:
        value = unescape(self._text[part.start : part.end], quote, backslash)
        if "\0" in value:
            raise self._source.error(part.start, "a NUL cannot stand in a parameter", "remove \\0 from the literal")
        return value

    def _hole(self, piece: Piece, position: Position) -> Hole:
        path, not_a_filter = _path(self._source, piece)
        clauses = len(self._levels) - 1
        required = clauses == 0 or (not_a_filter and path not in self._optional)
        hole = Hole(path, piece.start, position, clauses, not_a_filter, required)
        self.holes.append(hole)
        self._levels[-1].holes.append(hole)
        return hole

    def _add(self, node: Node, placement: Placement) -> None:
        """Adds a placeholder, with a space on either side where the text has none: ``1-{{ x }}`` is no comment."""
        level = self._levels[-1]
        before = self._text[placement.start - 1 : placement.start]
        after = self._text[placement.end : placement.end + 1]
        if before and before not in _NO_SPACE_BEFORE:
            level.text.append(" ")
        level.flush()
        level.nodes.append(node)
        if after and after not in _NO_SPACE_AFTER:
            level.text.append(" ")
        self._done = placement.end

    def _open(self, piece: Piece) -> None:
        if len(self._levels) > DEEPEST:
            fix = "put the clauses beside each other"
            raise self._source.error(piece.start, f"optional clauses are at most {DEEPEST} deep", fix)
        self._levels[-1].flush()
        self._levels.append(_Level(piece.start))

    def _close(self, piece: Piece) -> None:
        level = self._levels.pop()
        level.flush()
        before, after = self._text[level.start - 1 : level.start], self._text[piece.end : piece.end + 1]
        first, last = self._text[level.start + 2], self._text[piece.start - 1]
        opening, closing, dropped = _gap(before, first), _gap(last, after), _gap(before, after)
        clause = Clause(tuple(level.nodes), tuple(level.holes), opening, closing, dropped, level.start)
        self._levels[-1].nodes.append(clause)


def _gap(before: str, after: str) -> str:
    """The space that two characters need between them, if neither is one."""
    return "" if before in _SPACES or after in _SPACES else " "


def _path(source: Source, piece: Piece) -> tuple[str, bool]:
    """The path in a tag, names joined by dots, and whether it is marked ``not_a_filter``.

    Raises TemplateError that says what else it looks like.
    """
    inside = source.text[piece.start + 2 : piece.end - 2].strip()
    if PATH.fullmatch(inside):
        return inside, False
    if not inside:
        raise source.error(piece.start, "an empty tag", "name a variable: {{ region }}")
    path, bar, name = (part.strip() for part in inside.partition("|"))
    if PATH.fullmatch(path) and name == NOT_A_FILTER:
        return path, True
    if bar:
        problem = f"the language has one filter, {NOT_A_FILTER}, and none with arguments"
        raise source.error(piece.start, problem, "name the variable alone: {{ region }}")
    raise source.error(
        piece.start,
        "a tag holds one path: names joined by dots",
        "write {{ name }} or {{ user_group.properties.name }}; no calls, indexes, operators or leading underscores",
    )
