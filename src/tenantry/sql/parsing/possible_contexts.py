"""Possible contexts of a tag: the SQL that can be around the tag when clauses are dropped and choices are made.

Example: in ``limit [[ {{ params.a }} + ]] {{ params.n }}`` the second tag follows ``+``, or ``limit`` if the
clause is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.sql_tokens import CLAUSE_KEYWORDS, TokenContext
from tenantry.sql.lexing.tags import ONE_OF, is_choice
from tenantry.sql.parsing.constant_expressions import AROUND_AND
from tenantry.sql.source import Source

_NEAR_BEFORE = 300  # number of lexemes before a tag; no rule looks further back
_NEAR_AFTER = 64  # lexemes after a tag
_JOINS = frozenset({"and", "or", ","})
_DECIDE_BEFORE = {"and": AROUND_AND, "or": frozenset[str](), ",": CLAUSE_KEYWORDS}
"""Word before a tag → keywords. The nearest of these keywords before the word decides what the word means. Contexts
with the same word and nearest keyword count as one. Otherwise each `[[ {{ a }} = x and ]]` would double their
number."""
_SAME_PLACE = " \t\r\n()"
_CLAUSE_BRACKETS = frozenset({LexemeKind.CLAUSE_START, LexemeKind.CLAUSE_END})


class PossibleContexts:
    def __init__(self, source: Source, lexemes: Sequence[Lexeme], signs: Mapping[str, str]) -> None:
        self._source = source
        self._signs = signs
        self._lexemes = lexemes
        self._clauses: dict[tuple[int, int], list[tuple[tuple[str, ...], list[Lexeme]]]] = {}
        self._only_one = not any(
            lexeme.kind is LexemeKind.CLAUSE_START or (lexeme.parts and self._is_choice(lexeme)) for lexeme in lexemes
        )

    def around(self, index: int) -> Iterator[tuple[Sequence[Lexeme], int]]:
        """Yield each possible context of the tag at ``index``: a list of lexemes without ``[[`` and ``]]``, and the
        tag's index in this list."""
        if self._only_one:
            yield self._lexemes, index
            return
        before = self._lexemes[max(0, index - _NEAR_BEFORE) : index][::-1]
        afters = [_without_brackets(each) for each in self._variants(self._lexemes[index + 1 : index + _NEAR_AFTER], 1)]
        for each in self._variants(before, -1):
            left = _without_brackets(each)[::-1]
            for right in afters:
                yield [*left, self._lexemes[index], *right], len(left)

    def _variants(self, outward: Sequence[Lexeme], step: int) -> Iterator[list[Lexeme]]:
        # `outward` has the lexemes on one side of a tag, nearest first. Which lexeme is the nearest depends on dropped
        # clauses and made choices. Yield `outward` as it is in each case.
        opening = LexemeKind.CLAUSE_START if step > 0 else LexemeKind.CLAUSE_END
        passed: list[Lexeme] = []
        seen: set[tuple[str, ...]] = set()
        at = 0
        while at < len(outward):
            lexeme = outward[at]
            if lexeme.kind is opening:
                end = _end_of_clause(outward, at)
                for nearest, inside in self._kept(outward, at, end, step):
                    if nearest not in seen:
                        seen.add(nearest)
                        yield [*passed, *inside, *outward[end + 1 :]]
                at = end + 1  # continue as if the clause were dropped
            elif self._is_choice(lexeme):
                for text in self._texts(lexeme):
                    for inside in self._variants(text[::step], step):
                        yield [*passed, *inside, *outward[at + 1 :]]
                return
            elif self._is_same_place(lexeme):
                passed.append(lexeme)
                at += 1
            else:
                break
        yield [*passed, *outward[at:]]

    def _kept(
        self, outward: Sequence[Lexeme], at: int, end: int, step: int
    ) -> list[tuple[tuple[str, ...], list[Lexeme]]]:
        place = (outward[at].start, step)
        found = self._clauses.get(place)
        if found is None:
            found = [(self._nearest(each, step), each) for each in self._variants(outward[at + 1 : end], step)]
            if end < len(outward):  # otherwise `outward` ends within the clause
                self._clauses[place] = found
        return found

    def _nearest(self, outward: Sequence[Lexeme], step: int) -> tuple[str, ...]:
        # Return the tokens that decide what a tag means. Contexts with the same deciding tokens count as one.
        if step < 0:
            context, tag = TokenContext(self._source, outward[::-1], self._signs), len(outward)
            nearest = tuple(token.text for token in context.preceding(tag, 4))
            decides = _DECIDE_BEFORE.get(nearest[0])
            return nearest if decides is None else (nearest[0], context.keyword_before(tag, decides, 1))
        tokens = TokenContext(self._source, outward, self._signs).after(-1)
        first = tokens[0].text
        return (first,) if first in _JOINS else (first, tokens[1].text)

    def _is_choice(self, lexeme: Lexeme) -> bool:
        return lexeme.kind is LexemeKind.TAG and is_choice(self._source, lexeme)

    def _texts(self, choice: Lexeme) -> list[tuple[Lexeme, ...]]:
        filters = (each for each in choice.parts if self._source.text.startswith(ONE_OF, each.start))
        return [argument.parts for each in filters for argument in each.parts if argument.parts]

    def _is_same_place(self, lexeme: Lexeme) -> bool:
        if lexeme.kind is LexemeKind.CODE:
            return not self._source.text[lexeme.start : lexeme.end].strip(_SAME_PLACE)
        return lexeme.kind is LexemeKind.COMMENT or lexeme.kind in _CLAUSE_BRACKETS


def _end_of_clause(outward: Sequence[Lexeme], start: int) -> int:
    depth = 0
    for index in range(start, len(outward)):
        if outward[index].kind in _CLAUSE_BRACKETS:
            depth += 1 if outward[index].kind is outward[start].kind else -1
            if depth == 0:
                return index
    return len(outward)


def _without_brackets(lexemes: Sequence[Lexeme]) -> list[Lexeme]:
    return [lexeme for lexeme in lexemes if lexeme.kind not in _CLAUSE_BRACKETS]
