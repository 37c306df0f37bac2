"""Fragments: `({{> name }})` takes another text into a template, before the whole is parsed in one dialect.

A fragment is whole: read alone it closes every string, comment and bracket that it opens, and it ends no statement. Its
tag is alone between parentheses, so that no operator and no string beside it can change how it is read. So the whole
text has the lexemes of its parts, every rule sees a fragment's nodes as nodes of the template, and an error in one
shows where it is and what included it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias

from tenantry.errors import Location, TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexer import lex
from tenantry.sql.parameters import Parameter
from tenantry.sql.positions import TokenContext
from tenantry.sql.query_header import NO_HEADER, Header, read_header
from tenantry.sql.syntax_tree import MAX_TEXT, Source
from tenantry.suggestions import did_you_mean

MAX_INCLUDE_DEPTH = 8
"""Fragments within one another."""
MAX_INCLUDES = 200
"""Fragments in one template, those in fragments among them."""
NAME = re.compile(r"[^\W\d_][\w-]*(?:/[^\W\d_][\w-]*)*")
"""The name of a fragment or a query: that of its file, with the folders that it is in."""

_INCLUDE = re.compile(r"\{\{\s*>(?P<name>.*)\}\}", re.DOTALL)
_MAY_INCLUDE = re.compile(r"\{\{\s*>")
_SIGN = re.compile(r"[][(){};]")
_CLOSED_BY = {"(": ")", "{": "}", "[": "]"}
_WITH_SIGNS = frozenset(
    {
        LexemeKind.CODE,
        LexemeKind.LEFT_BRACKET,
        LexemeKind.RIGHT_BRACKET,
        LexemeKind.CLAUSE_START,
        LexemeKind.CLAUSE_END,
        LexemeKind.ESCAPE,
    }
)


_NO_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateDefinition:
    """A template before it is parsed: its source with its header, what is declared for it, and the fragments that it
    can name. ``optional`` are the paths that the group may lack."""

    source: Source
    header: Header = NO_HEADER
    parameters: Mapping[str, Parameter] = field(default_factory=lambda: _NO_PARAMETERS)
    optional: frozenset[str] = frozenset()
    fragments: Fragments | None = None

    def declared_at(self, name: str) -> Location | None:
        """Where its header declares a parameter; None where the program does."""
        offset = self.header.offsets.get(name)
        return self.source.location(offset) if offset is not None else None


class HasDefinition(Protocol):
    """An SQLTemplate or a Query."""

    @property
    def definition(self) -> TemplateDefinition:
        """What it is made of."""
        ...


Fragments: TypeAlias = Mapping[str, "str | HasDefinition"]
"""Fragments by name: SQL, a template or a query. A QueryFolder is one."""


@dataclass(frozen=True, slots=True)
class Included:
    """A fragment in a template: its definition, its name, and where its tag is."""

    name: str
    definition: TemplateDefinition
    at: Location


@dataclass(frozen=True, slots=True)
class Expanded:
    """A template's text with its fragments in it, the parameters that all of them declare, and the fragments in the
    order of the text."""

    source: Source
    parameters: Mapping[str, Parameter]
    included: tuple[Included, ...] = ()


_Chain: TypeAlias = tuple[tuple[str, Source], ...]


class _Segment(NamedTuple):
    """Where a stretch of an expanded text comes from. ``exact``: each character of it, not only the first."""

    start: int
    source: Source
    offset: int
    included_at: Location | None
    exact: bool = True


class ExpandedSource(Source):
    """A text that was put together, whose locations and errors are those of the texts that it comes from."""

    __slots__ = ("_segments", "_starts")

    def __init__(self, text: str, segments: Sequence[_Segment]) -> None:
        self._segments = tuple(segments)
        self._starts = [segment.start for segment in segments]
        super().__init__(text, segments[0].source.file if segments else "")

    def location(self, offset: int) -> Location:
        """Line, column and file of the text that the character at an offset comes from, and what included it."""
        segment, at = self._origin(offset)
        return replace(segment.source.location(at), included_at=segment.included_at)

    def error(self, offset: int, problem: str, fix: str, included_at: Location | None = None) -> TemplateError:
        """A TemplateError that shows the line of the fragment, and the tag that included it."""
        segment, at = self._origin(offset)
        return segment.source.error(at, problem, fix, segment.included_at or included_at)

    def _origin(self, offset: int) -> tuple[_Segment, int]:
        segment = self._segments[max(0, bisect_right(self._starts, offset) - 1)]
        return segment, segment.offset + (offset - segment.start if segment.exact else 0)


def expand(definition: TemplateDefinition, dialect: Dialect) -> Expanded:
    """A template's text with its fragments in place of their tags. Comments and strings hold no tags of fragments.

    Raises TemplateError for a fragment that is not there, not whole, too deep, too long, or that includes itself; each
    with both locations.
    """
    if not definition.header.end and not _MAY_INCLUDE.search(definition.source.text):
        return Expanded(definition.source, definition.parameters)
    expander = _Expander(dialect, definition.optional)
    expander.run(definition, (("this template", definition.source),), None)
    source = ExpandedSource("".join(expander.parts), expander.segments)
    return Expanded(source, _merged_parameters(definition, expander.included), tuple(expander.included))


def _merged_parameters(definition: TemplateDefinition, included: Sequence[Included]) -> Mapping[str, Parameter]:
    """What the template and its fragments declare. Raises TemplateError, with both locations, for a parameter that two
    of them declare in two ways."""
    merged: dict[str, Parameter] = {}
    owners: dict[str, TemplateDefinition] = {}
    for owner, at in ((definition, None), *((each.definition, each.at) for each in included)):
        for name, parameter in owner.parameters.items():
            if merged.setdefault(name, parameter) != parameter:
                first = owners[name].declared_at(name)
                problem = f"params.{name} is declared in another way {f'at {first}' if first else 'by the program'}"
                fix = "declare it once, or in the same way; or rename one of them"
                raise owner.source.error(owner.header.offsets.get(name, 0), problem, fix, at)
            owners.setdefault(name, owner)
    return MappingProxyType(merged)


class _Expander:
    def __init__(self, dialect: Dialect, optional: frozenset[str]) -> None:
        self.parts: list[str] = []
        self.segments: list[_Segment] = []
        self.included: list[Included] = []
        self._dialect = dialect
        self._optional = optional
        self._length = 0

    def run(self, definition: TemplateDefinition, chain: _Chain, included_at: Location | None) -> None:
        """Adds the text of a definition. ``chain`` are the fragments down to this one, after the template itself."""
        start = definition.header.end
        body = ExpandedSource(definition.source.text[start:], [_Segment(0, definition.source, start, included_at)])
        lexemes = lex(body, self._dialect)
        if included_at is not None:
            _check_whole(body, lexemes)
        context = TokenContext(body, lexemes)
        end = 0
        for index, lexeme in enumerate(lexemes):
            name = _included_name(body, lexeme)
            if name is not None:
                if context.preceding(index, 1)[0].text != "(" or context.following(index).text != ")":
                    problem = "a fragment is alone between parentheses"
                    raise body.error(lexeme.start, problem, f"write ({{{{> {name} }}}})")
                self._add(body.text[end : lexeme.start], definition.source, start + end, included_at)
                self._include(_find(name, definition, body, lexeme.start), name, chain, body, lexeme.start)
                end = lexeme.end
        self._add(body.text[end:], definition.source, start + end, included_at)
        if included_at is not None and lexemes[-1].kind is LexemeKind.COMMENT:
            self.parts.append("\n")  # it may go on to the end of its line
            self._length += 1

    def _add(self, text: str, source: Source, offset: int, included_at: Location | None) -> None:
        self.segments.append(_Segment(self._length, source, offset, included_at))
        self.parts.append(text)
        self._length += len(text)

    def _include(self, found: TemplateDefinition, name: str, chain: _Chain, body: Source, offset: int) -> None:
        names = [each for each, _ in chain]
        for index, (_, source) in enumerate(chain):
            if (source.text, source.file) == (found.source.text, found.source.file):
                cycle = " → ".join([*names[index:], name])
                raise body.error(offset, f"a fragment includes itself: {cycle}", "take one of these tags out")
        if len(chain) > MAX_INCLUDE_DEPTH:
            problem = f"fragments are at most {MAX_INCLUDE_DEPTH} deep: {' → '.join([*names[1:], name])}"
            raise body.error(offset, problem, "write one of them out")
        if len(self.included) == MAX_INCLUDES:
            raise body.error(offset, f"a template includes at most {MAX_INCLUDES} fragments", "include less")
        at = body.location(offset)
        self._check_agrees(found, at)
        self.included.append(Included(name, found, at))
        self.run(found, (*chain, (name, found.source)), at)
        if self._length > MAX_TEXT:
            problem = f"with its fragments a template is at most {MAX_TEXT} characters long"
            raise body.error(offset, problem, "include less")

    def _check_agrees(self, found: TemplateDefinition, at: Location) -> None:
        """Raises TemplateError for a fragment that is of another dialect, or that says more than the template may."""
        header = found.header
        if header.dialect not in {None, self._dialect.name}:
            problem = f"this fragment is {header.dialect}, and the template that includes it {self._dialect.name}"
            fix = "take the dialect out of one of them, or write the fragment once more"
            raise found.source.error(header.dialect_offset, problem, fix, at)
        for path in sorted(found.optional - self._optional):
            problem = f"{path} is optional in this fragment, and not in the template that includes it"
            raise found.source.error(header.optional_offset, problem, f"declare it there too: optional: [{path}]", at)


def _find(name: str, definition: TemplateDefinition, body: Source, offset: int) -> TemplateDefinition:
    """The fragment of this name among those of a template. A text has the fragments of the template around it."""
    fragments = definition.fragments
    if fragments is None:
        fix = "give them with the template: SQLTemplate(text, fragments={…}), or a QueryFolder"
        raise body.error(offset, f"there is no fragment {name}: this template was given none", fix)
    try:
        found = fragments[name]
    except KeyError:
        fix = did_you_mean(name, fragments) or f"there are {', '.join(sorted(fragments)[:5]) or 'none'}"
        raise body.error(offset, f"there is no fragment {name}", fix.strip()) from None
    if not isinstance(found, str):
        return found.definition
    source = Source(found, name)
    header = read_header(source)
    return TemplateDefinition(
        source=source, header=header, parameters=header.parameters, optional=header.optional, fragments=fragments
    )


def _included_name(source: Source, lexeme: Lexeme) -> str | None:
    """The name in a tag of a fragment; None for every other lexeme."""
    if lexeme.kind is LexemeKind.INTERPOLATED_STRING:
        for part in lexeme.parts:
            if part.kind is LexemeKind.TAG and _included_name(source, part) is not None:
                raise source.error(
                    part.start, "a fragment is SQL, and no part of a string", "write it outside the quotes"
                )
    if lexeme.kind is not LexemeKind.TAG:
        return None
    match = _INCLUDE.fullmatch(source.text, lexeme.start, lexeme.end)
    if match is None:
        return None
    name = match["name"].strip()
    if not NAME.fullmatch(name):
        fix = "write {{> active_orders }}, or {{> sales/active_orders }} for one in a folder; it takes no filter"
        raise source.error(lexeme.start, "this is no name of a fragment", fix)
    return name


def _check_whole(source: Source, lexemes: Sequence[Lexeme]) -> None:
    """Raises TemplateError for a fragment that closes what it did not open, or the other way round, or is empty."""
    if all(lexeme.kind is LexemeKind.COMMENT or _is_space(source, lexeme) for lexeme in lexemes):
        raise source.error(0, "this fragment is empty", "write SQL in it")
    opened: list[tuple[str, int]] = []
    for sign, offset in _signs(source.text, lexemes):
        if sign == ";":
            raise source.error(offset, "a fragment ends no statement", "take the ; out")
        if sign in _CLOSED_BY:
            opened.append((_CLOSED_BY[sign], offset))
        elif not opened or opened.pop()[0] != sign:
            raise source.error(offset, f"this {sign} closes nothing that its fragment opens", "take it out, or open it")
    if opened:
        closing, offset = opened[-1]
        raise source.error(offset, f"this fragment ends before its {closing}", f"close it with {closing}")


def _is_space(source: Source, lexeme: Lexeme) -> bool:
    return lexeme.kind is LexemeKind.CODE and source.text[lexeme.start : lexeme.end].isspace()


def _signs(text: str, lexemes: Sequence[Lexeme]) -> Iterator[tuple[str, int]]:
    """The brackets and semicolons of a text, with their offsets."""
    for lexeme in lexemes:
        if lexeme.kind in _WITH_SIGNS:
            for match in _SIGN.finditer(text, lexeme.start, lexeme.end):
                yield match[0], match.start()
