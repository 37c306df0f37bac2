from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple

from tenantry.errors import TemplateError
from tenantry.sql.binding.conversions import CONVERSIONS, PATTERNS, placeholder_template
from tenantry.sql.dialects import Dialect
from tenantry.sql.filters.defaults import default_value
from tenantry.sql.filters.registry import SWITCHES, check_filters, check_position, has_default
from tenantry.sql.filters.switch_context import SwitchContext
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import unescape
from tenantry.sql.lexing.tags import (
    NOT_A_FILTER,
    NULLABLE,
    VariableTag,
    read_tag,
)
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.parsing.open_node import OpenNode
from tenantry.sql.parsing.placeholder_forms import PlaceholderForms
from tenantry.sql.parsing.positions import PositionAnalyzer, ReplacedSpan, check_list
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Concat, InList, Node, Position, Value, VariableReference
from tenantry.sql.tenant_guard import is_viewer_input

MAX_TAGS = 1_000
_TOO_MANY_TAGS = f"a SQL template has at most {MAX_TAGS} variables"
MAX_CLAUSE_DEPTH = 8

_NEAR = 300  # lexemes around a tag that decide its position
_TAGGED = frozenset({LexemeKind.TAG, LexemeKind.INTERPOLATED_STRING})


class _Scope(NamedTuple):
    lexemes: Sequence[Lexeme]
    at: int

    def with_argument(self, argument: Sequence[Lexeme]) -> tuple[list[Lexeme], int]:
        before = self.lexemes[max(0, self.at - _NEAR) : self.at]
        return [*before, *argument, *self.lexemes[self.at + 1 : self.at + _NEAR]], len(before)


class _Placed(NamedTuple):
    span: ReplacedSpan
    scope: _Scope
    tag: VariableTag | None  # None for a string


class TreeBuilder:
    def __init__(
        self,
        source: Source,
        dialect: Dialect,
        optional: AbstractSet[str],
        parameters: Mapping[str, Parameter],
    ) -> None:
        self.references: list[VariableReference] = []
        """The template's variables in the order of its text."""
        self.source = source
        self.dialect = dialect
        self.parameters = parameters
        self._forms = PlaceholderForms(source, dialect, parameters)
        self._optional = optional
        self._text = source.text
        self._levels = [OpenNode(0)]
        self._clauses = 0  # number of open clauses
        self._choices: list[VariableReference] = []  # variables that decide the open branches
        self._end = 0  # the text before this offset is in the tree
        self._tags: list[_Placed] = []  # reversed: pop() takes the next one
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

    def build(self, lexemes: Sequence[Lexeme]) -> tuple[Node, ...]:
        tags = [len(lexeme.parts) or 1 for lexeme in lexemes if lexeme.kind in _TAGGED]
        if sum(tags) > 2 * MAX_TAGS or len(tags) > MAX_TAGS:
            raise TemplateError(_TOO_MANY_TAGS)
        self._read(lexemes, lexemes, 0)
        level = self._levels[0]
        level.flush()
        return tuple(level.nodes)

    def _branch(self, reference: VariableReference, scope: _Scope, argument: Sequence[Lexeme]) -> tuple[Node, ...]:
        level = OpenNode(argument[0].start if argument else 0)
        self._levels.append(level)
        self._choices.append(reference)
        tags, self._tags = self._tags, []
        self._read(argument, *scope.with_argument(argument))
        self._tags = tags
        self._choices.pop()
        self._levels.pop()
        level.flush()
        return tuple(level.nodes)

    def _variable(
        self, reference: VariableReference, tag: VariableTag, path: str, position: Position, conversion: str
    ) -> VariableReference:
        self._levels.append(OpenNode(tag.offset))
        self._choices.append(reference)
        form = self._forms.of_compared(tag, path, position)
        found = self.reference(tag, position, path, conversion=conversion, form=form)
        self._choices.pop()
        self._levels.pop()
        return found

    def _read(self, lexemes: Sequence[Lexeme], around: Sequence[Lexeme], first: int) -> None:
        analyzer = PositionAnalyzer(self.source, self.dialect, around)
        placed = [
            self._place(analyzer, _Scope(around, index), lexeme)
            for index, lexeme in enumerate(lexemes, first)
            if lexeme.kind in _TAGGED
        ]
        for each in placed:
            if each.span.position is Position.LIST:
                check_list(self.source, *each.scope, each.span.start, lexemes[0].start)
        self._tags = placed[::-1]
        handlers = self._handlers
        for lexeme in lexemes:
            kind, start, end = lexeme[:3]
            stop = min(end, self._tags[-1].span.start) if self._tags else end
            if kind is LexemeKind.CODE:
                self._code(max(start, self._end), stop)
            elif kind in _TAGGED or start < stop:
                handlers[kind](lexeme)

    def _place(self, analyzer: PositionAnalyzer, scope: _Scope, lexeme: Lexeme) -> _Placed:
        if lexeme.kind is not LexemeKind.TAG:
            return _Placed(analyzer.analyze(scope.at, lexeme), scope, None)
        tag = read_tag(self.source, lexeme)
        if not tag.filters:
            span = analyzer.analyze(scope.at, lexeme)
            return _Placed(span._replace(form=self._forms.of_tag(tag, span, "", *scope)), scope, tag)
        check_filters(self.source, tag, self.parameters)
        if any(each.name in SWITCHES for each in tag.filters):
            return _Placed(analyzer.choice(lexeme), scope, tag)
        span = analyzer.analyze(scope.at, lexeme)
        after_like = analyzer.is_pattern(scope.at)
        check_position(self.source, self.dialect, tag, span.position, after_like=after_like)
        return _Placed(span._replace(form=self._forms.of_tag(tag, span, _conversion(tag), *scope)), scope, tag)

    def _code(self, start: int, stop: int) -> None:
        if start < stop:  # otherwise it is the `in (` or `)` of a list, which is already in the tree
            self._levels[-1].write(self._text[start:stop], start)

    def _copy(self, lexeme: Lexeme) -> None:
        # Removes our escaping backslashes. A block comment becomes a space, and a line comment is dropped.
        text = self._text[lexeme.start : lexeme.end]
        if lexeme.kind is LexemeKind.COMMENT:
            text = " " if text.startswith("/*") else ""
        elif lexeme.kind is LexemeKind.ESCAPE:
            text = text[1:]
        elif lexeme.kind is LexemeKind.STRING:
            text = self._without_escapes(lexeme)
        else:
            text = text.replace("\\{{", "{{")
        if text:
            self._levels[-1].write(text, lexeme.start)

    def _without_escapes(self, lexeme: Lexeme) -> str:
        text, parts = self._text, lexeme.parts
        if not parts:
            return text[lexeme.start : lexeme.end]
        inner = (text[each.start + (each.kind is LexemeKind.ESCAPE) : each.end] for each in parts)
        return text[lexeme.start : parts[0].start] + "".join(inner) + text[parts[-1].end : lexeme.end]

    def _tag(self, _lexeme: Lexeme) -> None:
        span, scope, tag = self._tags.pop()
        if tag is None:  # pragma: no cover  # a TAG has one
            raise AssertionError("a tag without a path")
        if span.position is Position.CHOICE:
            each = next(each for each in tag.filters if each.name in SWITCHES)
            reference = self.reference(tag, span.position)
            context = SwitchContext(
                self.source,
                self.dialect,
                tag,
                each,
                reference,
                self.parameters,
                compile=lambda argument: self._branch(reference, scope, argument.lexemes),
                add_variable=partial(self._variable, reference, tag),
            )
            self._add(SWITCHES[each.name](context), span)
        elif span.position is Position.LIST:
            self._add(InList(self.reference(tag, span.position, form=span.form), span.operator, span.negated), span)
        else:
            self._add_value(tag, span)

    def _add_value(self, tag: VariableTag, span: ReplacedSpan) -> None:
        conversion = _conversion(tag)
        position = Position.PATTERN if conversion in PATTERNS else span.position
        value = Value(self.reference(tag, position, conversion=conversion, cast=span.cast, form=span.form))
        if not conversion:
            self._add(value, span)
            return
        before, after = placeholder_template(conversion, self.dialect).split("{placeholder}")
        self._add(value, span, before, after)

    def _interpolated_string(self, lexeme: Lexeme) -> None:
        span = self._tags.pop().span
        alone = len(lexeme.parts) == 1
        quote = self._text[lexeme.start]
        parts: list[str | VariableReference] = []
        for part in lexeme.parts:
            if part.kind is LexemeKind.TAG:
                inner, cast = self._tag_in_string(part), span.cast if alone else ""
                form = self._forms.of_guarded(inner, lexeme.start)
                parts.append(self.reference(inner, span.position, cast=cast, form=form))
            elif part.kind is LexemeKind.ESCAPE:
                parts.append(self._text[part.start + 1 : part.end])
            else:
                value = unescape(self.source, self.dialect, part, quote, lexeme.backslash)
                if "\0" in value:
                    fix = "remove \\0 from the literal"
                    raise self.source.error(part.start, "a parameter cannot contain a NUL", fix)
                parts.append(value)
        only = parts[0]
        if alone and isinstance(only, VariableReference):
            self._add(Value(only), span)
        else:
            self._add(Concat(tuple(parts), span.cast), span)

    def _tag_in_string(self, lexeme: Lexeme) -> VariableTag:
        tag = read_tag(self.source, lexeme)
        check_filters(self.source, tag, self.parameters)
        check_position(self.source, self.dialect, tag, Position.PART, after_like=False)
        return tag

    def reference(
        self,
        tag: VariableTag,
        position: Position,
        path: str = "",
        *,
        conversion: str = "",
        cast: str = "",
        form: str = "",
    ) -> VariableReference:
        """Add the variable at ``path`` (default: the tag's path) to the innermost open node."""
        if len(self.references) == MAX_TAGS:
            raise TemplateError(_TOO_MANY_TAGS)
        path = path or tag.path
        not_a_filter = tag.filter(NOT_A_FILTER) is not None
        nullable = tag.filter(NULLABLE) is not None
        never_absent = nullable or (path == tag.path and has_default(tag))
        level = self._levels[-1]
        reference = VariableReference(
            path,
            tag.offset,
            position,
            self._clauses,
            not_a_filter,
            not never_absent and self._is_required(path, not_a_filter),
            len(self._choices),
            never_absent,
            default_value(self.source, self.dialect, tag, position, self.parameters) if path == tag.path else None,
            nullable,
            conversion,
            cast,
            form,
        )
        self.references.append(reference)
        level.references.append(reference)
        return reference

    def _is_required(self, path: str, not_a_filter: bool) -> bool:
        level = self._levels[-1]
        if not level.clause and not self._choices:
            return True
        if path in self._optional:
            return False
        if level.clause:
            return not_a_filter
        return not is_viewer_input(path) and all(is_viewer_input(choice.path) for choice in self._choices)

    def _add(self, node: Node, span: ReplacedSpan, opening: str = "", closing: str = "") -> None:
        before = self._text[span.start - 1 : span.start]
        after = self._text[span.end : span.end + 1]
        self._levels[-1].add(node, before, after, opening, closing)
        self._end = span.end

    def _open(self, lexeme: Lexeme) -> None:
        if self._clauses == MAX_CLAUSE_DEPTH:
            fix = "put the clauses next to each other"
            raise self.source.error(lexeme.start, f"optional clauses are at most {MAX_CLAUSE_DEPTH} deep", fix)
        self._levels[-1].flush()
        self._levels.append(OpenNode(lexeme.start, clause=True))
        self._clauses += 1

    def _close(self, lexeme: Lexeme) -> None:
        level = self._levels.pop()
        self._clauses -= 1
        self._levels[-1].nodes.append(level.as_clause(self._text, lexeme))


def _conversion(tag: VariableTag) -> str:
    return next((each.name for each in tag.filters if each.name in CONVERSIONS), "")
