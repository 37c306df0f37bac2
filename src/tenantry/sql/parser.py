"""The parser: template text to a tree. One method for each kind of lexeme, so that a new construct is a new method."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tenantry.errors import TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.dynamic_sql import check_column_names, check_dynamic_sql
from tenantry.sql.lexer import Lexeme, LexemeKind, lex, unescape
from tenantry.sql.optional_clauses import check_clauses, match_brackets
from tenantry.sql.paramstyles import find_placeholder_conflicts
from tenantry.sql.positions import PositionAnalyzer, ReplacedSpan
from tenantry.sql.syntax_tree import (
    Clause,
    Concat,
    InList,
    Node,
    Position,
    Source,
    Text,
    Tree,
    Value,
    VariableReference,
)

MAX_TAGS = 1_000
"""Tags in one template."""
MAX_CLAUSE_DEPTH = 8
"""Optional clauses within one another."""

PATH = re.compile(r"[^\W\d_]\w*(?:\.[^\W\d_]\w*)*")
NOT_A_FILTER = "not_a_filter"
"""The one filter of the language: the variable restricts no rows, so its clause may be left out."""
_TAGGED = frozenset({LexemeKind.TAG, LexemeKind.INTERPOLATED_STRING})
_SPACES = frozenset(" \t\r\n") | {""}
_NO_SPACE_BEFORE = frozenset(" \t\r\n(,")
_NO_SPACE_AFTER = frozenset(" \t\r\n),;")


def parse(source: Source, dialect: Dialect, optional: AbstractSet[str] = frozenset()) -> Tree:
    """Parses a template by the rules of a dialect; ``optional`` are the paths that the group may lack.

    Raises TemplateError with the line, a caret and the fix.
    """
    lexemes = lex(source, dialect)
    if "[[" in source.text:
        lexemes = match_brackets(source, dialect, lexemes)
    check_dynamic_sql(source, dialect, lexemes)
    check_column_names(source, dialect, lexemes)
    if "[[" in source.text:
        check_clauses(source, lexemes)
    conflicts, slices = find_placeholder_conflicts(source.text, lexemes)
    parser = _Parser(source, dialect, lexemes, slices, optional)
    return Tree(parser.parse(), tuple(parser.references), conflicts)


@dataclass(slots=True)
class _Level:
    """The template itself, or an optional clause that is still open at ``start``."""

    start: int
    nodes: list[Node] = field(default_factory=list)
    references: list[VariableReference] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def flush(self) -> None:
        """Makes a node of the text so far."""
        if self.text:
            self.nodes.append(Text("".join(self.text)))
            self.text = []


class _Parser:
    def __init__(
        self,
        source: Source,
        dialect: Dialect,
        lexemes: list[Lexeme],
        slices: tuple[int, ...],
        optional: AbstractSet[str],
    ) -> None:
        self.references: list[VariableReference] = []
        self._optional = optional
        self._source = source
        self._text = source.text
        self._lexemes = lexemes
        self._slices = list(reversed(slices))  # the next one is taken from the end
        self._levels = [_Level(0)]
        self._end = 0  # the text before this offset is in the tree
        analyzer = PositionAnalyzer(source, dialect, lexemes)
        tags = [(index, lexeme) for index, lexeme in enumerate(lexemes) if lexeme.kind in _TAGGED]
        if sum(max(1, len(lexeme.parts)) for _, lexeme in tags) > 2 * MAX_TAGS or len(tags) > MAX_TAGS:
            raise TemplateError(f"a SQL template has at most {MAX_TAGS} variables")
        self._spans = [analyzer.analyze(index, lexeme) for index, lexeme in tags]
        self._spans.reverse()  # the next one is taken from the end
        self._handlers = {
            LexemeKind.COMMENT: self._copy,
            LexemeKind.CLAUSE_START: self._open,
            LexemeKind.CLAUSE_END: self._close,
            LexemeKind.ESCAPE: self._copy,
            LexemeKind.TAG: self._tag,
            LexemeKind.INTERPOLATED_STRING: self._interpolated_string,
            LexemeKind.QUOTED: self._copy,
            LexemeKind.STRING: self._copy,
            LexemeKind.LEFT_BRACKET: self._copy,
            LexemeKind.RIGHT_BRACKET: self._copy,
        }

    def parse(self) -> tuple[Node, ...]:
        """The nodes of the whole text; ``references`` is filled on the way."""
        handlers = self._handlers
        for lexeme in self._lexemes:
            kind, start, end, *_ = lexeme
            if end <= self._end:
                continue
            stop = min(end, self._spans[-1].start) if self._spans else end
            if kind is LexemeKind.CODE:
                self._code(max(start, self._end), stop)
            elif kind in _TAGGED or start < stop:
                handlers[kind](lexeme)
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

    def _copy(self, lexeme: Lexeme) -> None:
        """The author's own text. Backslashes that protect our characters go; a comment is a space or nothing."""
        text = self._text[lexeme.start : lexeme.end]
        if lexeme.kind is LexemeKind.COMMENT:
            text = " " if text.startswith("/*") else ""
        elif lexeme.kind is LexemeKind.ESCAPE:
            text = text[1:]
        else:
            text = text.replace("\\{{", "{{")
        if text:
            self._levels[-1].text.append(text)

    def _tag(self, lexeme: Lexeme) -> None:
        span = self._spans.pop()
        reference = self._reference(lexeme, span.position)
        if span.position is Position.LIST:
            self._add(InList(reference, span.operator, span.negated), span)
        else:
            self._add(Value(reference), span)

    def _interpolated_string(self, lexeme: Lexeme) -> None:
        span = self._spans.pop()
        quote = self._text[lexeme.start]
        parts: list[str | VariableReference] = []
        for part in lexeme.parts:
            if part.kind is LexemeKind.TAG:
                parts.append(self._reference(part, span.position))
            elif part.kind is LexemeKind.ESCAPE:
                parts.append(self._text[part.start + 1 : part.end])
            else:
                value = unescape(self._text[part.start : part.end], quote, lexeme.backslash)
                if "\0" in value:
                    fix = "remove \\0 from the literal"
                    raise self._source.error(part.start, "a parameter cannot hold a NUL", fix)
                parts.append(value)
        only = parts[0]
        alone = len(parts) == 1 and isinstance(only, VariableReference)
        self._add(Value(only) if alone and isinstance(only, VariableReference) else Concat(tuple(parts)), span)

    def _reference(self, lexeme: Lexeme, position: Position) -> VariableReference:
        path, not_a_filter = _path(self._source, lexeme)
        clauses = len(self._levels) - 1
        required = clauses == 0 or (not_a_filter and path not in self._optional)
        reference = VariableReference(path, lexeme.start, position, clauses, not_a_filter, required)
        self.references.append(reference)
        self._levels[-1].references.append(reference)
        return reference

    def _add(self, node: Node, span: ReplacedSpan) -> None:
        """Adds a placeholder, with a space on either side where the text has none: ``1-{{ x }}`` is no comment."""
        level = self._levels[-1]
        before = self._text[span.start - 1 : span.start]
        after = self._text[span.end : span.end + 1]
        if before and before not in _NO_SPACE_BEFORE:
            level.text.append(" ")
        level.flush()
        level.nodes.append(node)
        if after and after not in _NO_SPACE_AFTER:
            level.text.append(" ")
        self._end = span.end

    def _open(self, lexeme: Lexeme) -> None:
        if len(self._levels) > MAX_CLAUSE_DEPTH:
            fix = "put the clauses beside each other"
            raise self._source.error(lexeme.start, f"optional clauses are at most {MAX_CLAUSE_DEPTH} deep", fix)
        self._levels[-1].flush()
        self._levels.append(_Level(lexeme.start))

    def _close(self, lexeme: Lexeme) -> None:
        level = self._levels.pop()
        level.flush()
        before, after = self._text[level.start - 1 : level.start], self._text[lexeme.end : lexeme.end + 1]
        first, last = self._text[level.start + 2], self._text[lexeme.start - 1]
        opening, closing, dropped = (
            _space_between(before, first),
            _space_between(last, after),
            _space_between(before, after),
        )
        clause = Clause(tuple(level.nodes), tuple(level.references), opening, closing, dropped, level.start)
        self._levels[-1].nodes.append(clause)


def _space_between(before: str, after: str) -> str:
    """The space that two characters need between them, if neither is one."""
    return "" if before in _SPACES or after in _SPACES else " "


def _path(source: Source, lexeme: Lexeme) -> tuple[str, bool]:
    """The path in a tag, names joined by dots, and whether it is marked ``not_a_filter``.

    Raises TemplateError that says what else it looks like.
    """
    inside = source.text[lexeme.start + 2 : lexeme.end - 2].strip()
    if PATH.fullmatch(inside):
        return inside, False
    if not inside:
        raise source.error(lexeme.start, "an empty tag", "name a variable: {{ region }}")
    path, bar, name = (part.strip() for part in inside.partition("|"))
    if PATH.fullmatch(path) and name == NOT_A_FILTER:
        return path, True
    if bar:
        problem = f"the language has one filter, {NOT_A_FILTER}, and none with arguments"
        raise source.error(lexeme.start, problem, "name the variable alone: {{ region }}")
    raise source.error(
        lexeme.start,
        "a tag holds one path: names joined by dots",
        "write {{ name }} or {{ user_group.properties.name }}; no calls, indexes, operators or leading underscores",
    )
