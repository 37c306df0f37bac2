from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, count, dropwhile, takewhile
from typing import NamedTuple

from tenantry.errors import Edit
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind, word_set
from tenantry.sql.lexing.sql_tokens import AFTER_CHOICE, TokenContext
from tenantry.sql.lexing.tags import ONE_OF, is_choice
from tenantry.sql.parsing.constant_expressions import ConstantExpression, find_constant_expression, parentheses_around
from tenantry.sql.parsing.possible_contexts import PossibleContexts
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position

_NAMES = {
    "a table": "from join into update only lateral table",
    "a view": "view",
    "a schema": "schema use",
    "a database": "database attach",
    "an index": "index",
    "a column": "set",
    "an alias or a type": "as",
    "a name": "with recursive",
    "a collation": "collate",
    "a program": "do program",
    "a statement": "immediate",
    "an extension": "load install",
    "a file": "infile outfile dumpfile",
    "a type": "::",
}
_NAME_AFTER = {word: what for what, after in _NAMES.items() for word in after.split()}
_FROM_FUNCTIONS = frozenset({"extract", "trim", "substring", "overlay", "substr", "position"})
_TYPES = word_set(
    """date time timestamp timestamptz timetz datetime interval json jsonb uuid xml inet cidr macaddr bytea numeric
    decimal int integer bigint smallint real float double boolean bool text varchar char money point box circle line"""
)
_BARE_TYPES = frozenset({"date", "time", "timestamp", "timestamptz", "timetz", "datetime"})
_SEPARATE = frozenset({LexemeKind.CLAUSE_START, LexemeKind.CLAUSE_END, LexemeKind.TAG})
_OPERATORS = frozenset("+-*/<>=|&^%#~!") | {"::", "||", "&&"}
_IDENTIFIER_FIX = (
    "write the name in the template itself, or {{ name | one_of(orders, archive: old.orders) }} for names to choose "
    "from; a value is never an identifier"
)
_BARE = {
    ConstantExpression.CONDITION: (
        "a value alone is not a condition",
        "write `column = {{ name }}` or {{ name | matches(column) }}; for a boolean `{{ name }} = true` (T-SQL: `= 1`)",
    ),
    ConstantExpression.ITEM: (
        "a value alone is a constant, and names no column",
        "to choose a column write {{ name | one_of(column, column) }}; for the value itself, `{{ name }} as column`",
    ),
    ConstantExpression.ORDER: (
        "a variable after `order by`, `group by` or `partition by` is a constant and not a column",
        "write the column's name in the template itself, or {{ name | one_of(column, column) }}",
    ),
}
_TYPE = r"[A-Za-z_][\w.]*(?:\s+(?:with(?:out)?\s+time\s+zone|varying|precision|unsigned))?(?:\s*\([\d\s,]*\))?(?:\[\])*"
_CAST = re.compile(rf"\s*::\s*({_TYPE})|\s+as\s+({_TYPE})\s*\)", re.IGNORECASE)
_CALLS_CAST = re.compile(r"cast\s*+\(\s*+\Z", re.IGNORECASE)
_BEFORE_VALUE = re.compile(
    r"(?:[-+*/<>=|&^%#~!(,]|(?<![\w$.])(?:and|or|not|when|then|else|between|i?like|where|having|on|case))\s*+\Z",
    re.IGNORECASE,
)


class ReplacedSpan(NamedTuple):
    """The part of a template that becomes one node: a tag, a string literal with tags, or ``in`` together with its
    list."""

    position: Position
    start: int
    end: int
    operator: str = ""
    negated: bool = False
    cast: str = ""
    form: str = ""


class PositionAnalyzer:
    def __init__(self, source: Source, dialect: Dialect, lexemes: Sequence[Lexeme]) -> None:
        self.source = source
        self.dialect = dialect
        self.has_position: bool = "position" in source.text.lower()
        self._context = TokenContext(source, lexemes, dialect.joining_signs)
        self._contexts = PossibleContexts(source, lexemes, dialect.joining_signs)

    def analyze(self, index: int, lexeme: Lexeme) -> ReplacedSpan:
        """Return the role and the span of the tag or string at ``index``. Raises TemplateError if one of the possible
        contexts does not allow a value there."""
        self._reject_part_of_word(lexeme)
        if lexeme.kind is LexemeKind.TAG and self._context.follows_comparison(index):
            return ReplacedSpan(Position.VALUE, lexeme.start, lexeme.end, cast=self._cast(lexeme))
        self._reject_after_choice(index, lexeme)
        found = [
            _TagSurroundings(self, index, TokenContext(self.source, lexemes, self.dialect.joining_signs), at).span(
                lexeme
            )
            for lexemes, at in self._contexts.around(index)
        ]
        span = next((each for each in found if each.position is Position.LIMIT), found[0])
        return span if span.position is Position.LIST else span._replace(cast=self._cast(lexeme))

    def is_apart(self, index: int, start: int, end: int) -> bool:
        """Whether ``[[``, ``]]`` or a tag other than that at ``index`` is between two offsets. If so, the SQL at one
        offset may be dropped and the SQL at the other kept."""
        lexemes = self._context.lexemes
        before = takewhile(lambda each: each.end > start, reversed(lexemes[:index]))
        after = takewhile(lambda each: each.start < end, lexemes[index + 1 :])
        return any(each.kind in _SEPARATE for each in chain(before, after))

    def is_pattern(self, index: int) -> bool:
        """Whether the tag at ``index`` is the whole pattern of a ``like`` without ``escape``."""
        following = self._context.following(index).text
        before = self._context.preceding(index, 1)[0].text
        return before in {"like", "ilike"} and following != "escape" and following not in _OPERATORS

    def _cast(self, lexeme: Lexeme) -> str:
        match = _CAST.match(self.source.text, lexeme.end)
        if match is None or (
            match.group(2) and not _CALLS_CAST.search(self.source.text, max(0, lexeme.start - 64), lexeme.start)
        ):
            return ""  # `(select {{ x }} as v)` names a column
        return " ".join((match.group(1) or match.group(2)).lower().split())

    def choice(self, lexeme: Lexeme) -> ReplacedSpan:
        self._reject_part_of_word(lexeme)
        return ReplacedSpan(Position.CHOICE, lexeme.start, lexeme.end)

    def _reject_part_of_word(self, lexeme: Lexeme) -> None:
        text = self.source.text
        before, after = text[lexeme.start - 1 : lexeme.start], text[lexeme.end : lexeme.end + 1]
        if _in_word(before) or (lexeme.kind is LexemeKind.TAG and _in_word(after)):
            fix = "write a space next to the variable; a value is never a part of a name"
            raise self.source.error(lexeme.start, "a variable cannot be a part of a word", fix)

    def _reject_after_choice(self, index: int, lexeme: Lexeme) -> None:
        tokens = map(self._context.before(index).__getitem__, count())
        if next(token.text for token in tokens if token.text != "[[") != AFTER_CHOICE:
            return
        before = next(each for each in reversed(self._context.lexemes[:index]) if each.kind is LexemeKind.TAG)
        choice = next(each for each in before.parts if self.source.text.startswith(ONE_OF, each.start))
        texts = [argument.parts[-1] for argument in choice.parts if argument.parts]
        if not all(_BEFORE_VALUE.search(self.source.text, text.start, text.end) for text in texts):
            fix = "write an operator between the choice and the variable, or end each choice with an operator"
            raise self.source.error(lexeme.start, "a variable cannot be directly after a choice", fix)


class _TagSurroundings:
    def __init__(self, analyzer: PositionAnalyzer, tag: int, context: TokenContext, index: int) -> None:
        self._analyzer = analyzer
        self._source = analyzer.source
        self._dialect = analyzer.dialect
        self._tag = tag  # the tag's index in the template; ``index`` is its index in ``context``
        self._context = context
        self._index = index
        self._before = context.before(index)
        self._after = context.after(index)

    def span(self, lexeme: Lexeme) -> ReplacedSpan:
        if lexeme.kind is LexemeKind.INTERPOLATED_STRING:
            return self._string(lexeme)
        in_list = self._in_list(lexeme)
        if in_list is not None:
            return in_list
        self._reject_name(lexeme)
        self._reject_typed(lexeme)
        self._reject_bare(lexeme)
        return ReplacedSpan(self._value(lexeme), lexeme.start, lexeme.end)

    def _reject_bare(self, lexeme: Lexeme) -> None:
        bare = find_constant_expression(self._context, self._index, self._dialect.or_operators)
        parts = lexeme.parts if lexeme.kind is LexemeKind.INTERPOLATED_STRING else ()
        if any(is_choice(self._source, part) for part in parts):
            return  # check_position has a better error for a choice in a string
        if bare is not None and (
            bare is not ConstantExpression.ITEM or len(parts) < 2
        ):  # a concatenated string is deliberate
            problem, fix = _BARE[bare]
            if self._dialect.arrays and self._source.text.endswith("[[", 0, lexeme.start):
                fix += "; or, for a nested array, write \\[["
            raise self._source.error(lexeme.start, problem, fix)

    def _string(self, lexeme: Lexeme) -> ReplacedSpan:
        first = self._before[0].text
        if first in _TYPES or (first == "zone" and self._before[2].text in {"with", "without"}):
            kind = "timestamp" if first == "zone" else first
            fix = f"write cast({{{{ name }}}} as {kind})"
            if kind == "interval":
                fix = self._dialect.interval_fix
            raise self._source.error(
                lexeme.start, f"a variable is not allowed inside a literal of the form {kind} '…'", fix
            )
        if first == "in":
            raise self._source.error(
                lexeme.start,
                "`in` takes a list, not a string",
                "write `in {{ name }}`, without quotes",
                edit=self._unquoted(lexeme),
            )
        if first == "'":
            raise self._source.error(lexeme.start, "two adjacent literals", "put an operator between them")
        if self._value(lexeme) is Position.LIMIT:
            raise self._source.error(
                lexeme.start,
                f"`{first}` takes a number, not a string",
                "write {{ name }} without quotes",
                edit=self._unquoted(lexeme),
            )
        self._reject_name(lexeme)
        self._reject_bare(lexeme)
        return ReplacedSpan(Position.TEXT if len(lexeme.parts) == 1 else Position.PART, lexeme.start, lexeme.end)

    def _unquoted(self, lexeme: Lexeme) -> Edit | None:
        if len(lexeme.parts) != 1:
            return None
        text, tag = self._source.text, lexeme.parts[0]
        return Edit(text[lexeme.start : lexeme.end], text[tag.start : tag.end])

    def _in_list(self, lexeme: Lexeme) -> ReplacedSpan | None:
        at, end = 0, lexeme.end
        if self._before[0].text == "(":
            if self._after[0].text != ")":
                return None
            at, end = 1, self._after[0].end
        word, rest = self._before[at], self._before[at + 1]
        if word.text != "in" or rest.text == ".":
            return None
        if self._analyzer.has_position and self._context.enclosing_function(self._index) == "position":
            return None  # position('a' in {{ text }})
        if self._analyzer.is_apart(self._tag, word.start, end):
            if at:
                return None  # as in ([[ {{ a }}, ]] {{ b }}), where each tag is one value
            fix = "write [[ and column in {{ name }} ]]"
            raise self._source.error(lexeme.start, "`in` and its list must be in the same optional clause", fix)
        negated = rest.text == "not" and not self._analyzer.is_apart(self._tag, rest.start, end)
        start = rest.start if negated else word.start
        operator = self._source.text[start : rest.end] + " " if negated else ""
        operator += self._source.text[word.start : word.end]
        return ReplacedSpan(Position.LIST, start, end, operator, negated)

    def _reject_name(self, lexeme: Lexeme) -> None:
        word, following = self._before[0].text, self._after[0].text
        if word == "." or following == ".":
            raise self._source.error(lexeme.start, "a variable cannot be a part of a name", _IDENTIFIER_FIX)
        if following == "(":
            raise self._source.error(lexeme.start, "a variable cannot name a function", _IDENTIFIER_FIX)
        if word == "(" and self._before[1].text == "table":
            raise self._source.error(lexeme.start, "a variable in `table(…)` would name a table", _IDENTIFIER_FIX)
        if word == "from" and (
            self._before[1].text == "distinct" or self._context.enclosing_function(self._index) in _FROM_FUNCTIONS
        ):
            return  # `is distinct from`, extract(… from …)
        what = "a program" if self._before[1].text == "language" else _NAME_AFTER.get(word)
        if what is not None:
            raise self._source.error(lexeme.start, f"a variable after `{word}` would name {what}", _IDENTIFIER_FIX)

    def _reject_typed(self, lexeme: Lexeme) -> None:
        word = self._before[0].text
        if word in _BARE_TYPES and self._before[1].text != ".":
            fix = f"write cast({{{{ name }}}} as {word})"
            raise self._source.error(lexeme.start, f"`{word}` takes a literal, not a parameter", fix)
        if word == "interval" and not self._dialect.interval_takes_value:
            fix = self._dialect.interval_fix
            raise self._source.error(lexeme.start, "`interval` takes a literal, not a parameter", fix)
        after_is = word == "is" or (word == "not" and self._before[1].text == "is")
        if after_is and not self._dialect.is_takes_value:
            equal = self._dialect.null_safe_equal.format(left="column", right="{{ name }}")
            equal = equal if word == "is" else f"not ({equal})"
            fix = f"write `= {{{{ name }}}}` or `is null`; where NULL equals NULL, `{equal}`"
            raise self._source.error(lexeme.start, "`is` takes no parameter", fix)

    def _value(self, lexeme: Lexeme) -> Position:
        before = self._before
        word = before[0].text
        if self._dialect.top_takes_value and "top" in {word, before[1].text}:
            if word == "(":
                return Position.LIMIT
            if word == "top":
                problem = "`top` takes a parameter only in parentheses"
                raise self._source.error(lexeme.start, problem, "write `top ({{ name }})`")
        depth = parentheses_around(before, self._after)
        word, earlier = before[depth].text, before[depth + 1].text
        if word in {"limit", "offset"} and earlier != "[":  # a[offset({{ n }})]
            return Position.LIMIT
        if word in {"first", "next"} and earlier == "fetch":
            return Position.LIMIT
        if word == "," and self._context.enclosing_clause(self._index, depth) == "limit":
            return Position.LIMIT
        return Position.VALUE


def _in_word(character: str) -> bool:
    return character.isalnum() or character in {"_", "$"} or character >= "\x80"


_BRACKETS = frozenset({"[[", "]]"})
_LOOKBACK = 12  # tokens: more adjacent brackets than any template has


def check_list(source: Source, lexemes: Sequence[Lexeme], at: int, start: int, text_start: int) -> None:
    """Raise TemplateError if a list and its whole ``in`` or ``not in`` are not in the same choice and clause. If the
    list is empty, other SQL replaces both. ``start`` is the offset of ``in`` or ``not in``, and ``text_start`` that of
    the choice."""
    tag = lexemes[at].start
    if start < text_start:
        fix = "write `in {{ name }}` in each choice, with its `not`"
        raise source.error(tag, "the `in` of this list, or its `not`, is outside the choice", fix)
    tokens = [each for each in TokenContext(source, lexemes).preceding(at, _LOOKBACK) if each.start < start]
    before = next(dropwhile(lambda each: each.text in _BRACKETS, tokens), None)
    if before is not None and before.text == "not" and before is not tokens[0]:
        fix = "write `not in {{ name }}` as a whole, with the column before it"
        raise source.error(tag, "the `not` before this list is in another optional clause", fix)
