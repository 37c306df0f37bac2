"""Replaces the tag ``{{> name }}`` with the fragment ``name`` before the template is parsed."""

# A fragment must close each bracket that it opens, and must be alone in parentheses. So the SQL around it cannot change
# its meaning.

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol, TypeAlias

from tenantry.errors import Location, did_you_mean, misspelt
from tenantry.sql.dialects import Dialect
from tenantry.sql.filters.choice_names import written_name
from tenantry.sql.fragments.fragment_tags import MAY_INCLUDE, ReplacedTag, replaced_tags
from tenantry.sql.header.query_header import NO_HEADER, Header, read_header
from tenantry.sql.lexing.lexemes import VARIABLE_PATH, Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.source import MAX_TEXT, ExpandedSource, ExpandedText, Segment, Source
from tenantry.sql.syntax_tree import TableGuard

MAX_INCLUDE_DEPTH = 8
MAX_INCLUDES = 200
"""Maximum number of fragments in a template."""

_COMMA = re.compile(",")
_NO_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateDefinition:
    source: Source
    header: Header = NO_HEADER
    parameters: Mapping[str, Parameter] = field(default_factory=lambda: _NO_PARAMETERS)
    optional: frozenset[str] = frozenset()
    """Paths that a group may lack."""
    fragments: Fragments | None = None
    decided: Mapping[str, Parameter] = field(default_factory=lambda: _NO_PARAMETERS)
    """Parameters that replace declarations of the same name in fragments."""
    tables: TableGuard | None = None
    """Guards the tables that the template names."""

    def declared_at(self, name: str) -> Location | None:
        offset = self.header.offsets.get(name)
        return self.source.location(offset) if offset is not None else None


class HasDefinition(Protocol):
    @property
    def definition(self) -> TemplateDefinition: ...


Fragments: TypeAlias = Mapping[str, "str | HasDefinition"]
"""Name of a fragment → its SQL, as a string, a template or a query. A QueryFolder is such a mapping."""


@dataclass(frozen=True, slots=True)
class Included:
    name: str
    definition: TemplateDefinition
    at: Location


@dataclass(frozen=True, slots=True)
class Expanded:
    source: Source
    parameters: Mapping[str, Parameter]
    included: tuple[Included, ...] = ()


_Chain: TypeAlias = tuple[tuple[str, Source], ...]


def expand(definition: TemplateDefinition, dialect: Dialect) -> Expanded:
    """Return the SQL with each fragment in place of its tag, and each choice set in place of its name. Comments stay.

    Raises TemplateError for a fragment that is missing or cannot be included here, and if two declarations of a
    parameter differ.
    """
    header = definition.header
    if not header.end and not header.choices and not MAY_INCLUDE.search(definition.source.text):
        return Expanded(definition.source, definition.parameters)
    expander = _Expander(dialect, definition.optional)
    expander.run(definition)
    return Expanded(expander.text.source(), _merged_parameters(definition, expander.included), tuple(expander.included))


def _merged_parameters(definition: TemplateDefinition, included: Sequence[Included]) -> Mapping[str, Parameter]:
    merged: dict[str, Parameter] = {}
    owners: dict[str, TemplateDefinition] = {}
    for owner, at in ((definition, None), *((each.definition, each.at) for each in included)):
        for name, parameter in owner.parameters.items():
            if merged.setdefault(name, parameter) != parameter and name not in definition.decided:
                first = owners[name].declared_at(name)
                problem = f"params.{name} is declared differently {f'at {first}' if first else 'by the program'}"
                fix = "declare it once, or in the same way; or rename one of them"
                raise owner.source.error(owner.header.offsets.get(name, 0), problem, fix, at)
            owners.setdefault(name, owner)
    return MappingProxyType(merged)


class _Expander:
    def __init__(self, dialect: Dialect, optional: frozenset[str]) -> None:
        self.text = ExpandedText()
        self.included: list[Included] = []
        self._dialect = dialect
        self._optional = optional

    def run(self, definition: TemplateDefinition) -> None:
        body, lexemes = self._lex(definition, None)
        self._write(body, lexemes, definition, (("this template", definition.source),))

    def _lex(self, definition: TemplateDefinition, at: Location | None) -> tuple[ExpandedSource, list[Lexeme]]:
        start = definition.header.end
        origin = Segment(0, definition.source, start, at)
        return self._lex_text(definition.source.text[start:], origin)

    def _lex_text(self, text: str, origin: Segment) -> tuple[ExpandedSource, list[Lexeme]]:
        lexemes = lex(ExpandedSource(text, [origin]), self._dialect)
        code = (lexeme for lexeme in lexemes if lexeme.kind is LexemeKind.CODE)
        commas = [match.start() for each in code for match in _COMMA.finditer(text, each.start, each.end)]
        return ExpandedSource(text, [origin], commas), lexemes

    def _write(
        self, body: ExpandedSource, lexemes: Sequence[Lexeme], definition: TemplateDefinition, chain: _Chain
    ) -> None:
        end = 0
        for tag in replaced_tags(body, lexemes, definition.header.choices):
            self._add(body.text[end : tag.start], body, end)
            if tag.choices is None:
                self._include(_find(tag.name, definition, body, tag.start), tag, chain, body)
            else:
                self._choices(tag, definition, chain, body)
            end = tag.end
        self._add(body.text[end:], body, end)

    def _add(self, text: str, body: ExpandedSource, offset: int) -> None:
        commas = [each - offset for each in body.commas if offset <= each < offset + len(text)]
        self.text.add(text, body.segment(offset), commas)

    def _choices(self, tag: ReplacedTag, definition: TemplateDefinition, chain: _Chain, body: ExpandedSource) -> None:
        included_at = body.location(tag.start).included_at
        others = {name: texts for name, texts in definition.header.choices.items() if name != tag.name}
        inner = replace(definition, header=replace(definition.header, choices=others))
        for number, (name, choice) in enumerate((tag.choices or {}).items()):
            origin = Segment(0, definition.source, choice.offset, included_at, choice.exact)
            text, lexemes = self._lex_text(choice.sql, origin)
            _check_balanced(text, lexemes, "choice")
            written = written_name(name, self._dialect)
            self.text.add(f"{', ' if number else ''}{written}: ", origin._replace(exact=False))
            self._write(text, lexemes, inner, chain)
            if lexemes[-1].kind is LexemeKind.COMMENT:
                self._add("\n", text, len(choice.sql))
            self._check_length(body, tag.start)

    def _include(self, found: TemplateDefinition, tag: ReplacedTag, chain: _Chain, outer: Source) -> None:
        self._check_chain(found, tag, chain, outer)
        at = outer.location(tag.start)
        self._check_agrees(found, at)
        self.included.append(Included(tag.name, found, at))
        body, lexemes = self._lex(found, at)
        _check_balanced(body, lexemes, "fragment")
        included = f"({{{{> {tag.name} }}}})"
        joined = _leading_and(body, lexemes)
        if joined is not None:
            fix = f"begin it with `1 = 1`, and write `and {included}` in the template"
            raise body.error(joined, "a fragment must not begin with `and`", fix)
        if not tag.alone:
            raise outer.error(tag.start, "a fragment must be alone in parentheses", f"write {included}")
        self._write(body, lexemes, found, (*chain, (tag.name, found.source)))
        if lexemes[-1].kind is LexemeKind.COMMENT:
            self._add("\n", body, len(body.text))  # the line break ends a line comment at the end of the fragment
        self._check_length(outer, tag.start)

    def _check_chain(self, found: TemplateDefinition, tag: ReplacedTag, chain: _Chain, outer: Source) -> None:
        names = [each for each, _ in chain]
        for index, (_, source) in enumerate(chain):
            if (source.text, source.file) == (found.source.text, found.source.file):
                cycle = " → ".join([*names[index:], tag.name])
                raise outer.error(tag.start, f"a fragment includes itself: {cycle}", "remove one of these tags")
        if len(chain) > MAX_INCLUDE_DEPTH:
            problem = f"fragments are at most {MAX_INCLUDE_DEPTH} deep: {' → '.join([*names[1:], tag.name])}"
            raise outer.error(tag.start, problem, "replace one of these tags with the SQL of its fragment")
        if len(self.included) == MAX_INCLUDES:
            raise outer.error(
                tag.start, f"a template includes at most {MAX_INCLUDES} fragments", "include fewer fragments"
            )

    def _check_length(self, body: Source, offset: int) -> None:
        if self.text.length > MAX_TEXT:
            problem = f"with its fragments a template is at most {MAX_TEXT} characters long"
            raise body.error(offset, problem, "include fewer fragments")

    def _check_agrees(self, found: TemplateDefinition, at: Location) -> None:
        header = found.header
        if header.dialect not in {None, self._dialect.name}:
            problem = (
                f"this fragment is for {header.dialect}, but the template that includes it is for {self._dialect.name}"
            )
            fix = "remove `dialect` from one of them, or write a second fragment"
            raise found.source.error(header.dialect_offset, problem, fix, at)
        for path in sorted(found.optional - self._optional):
            problem = f"{path} is optional in this fragment, but not in the template that includes it"
            fix = f"declare it in that template too: `optional: [{path}]`"
            raise found.source.error(header.optional_offset, problem, fix, at)


def _find(name: str, definition: TemplateDefinition, body: Source, offset: int) -> TemplateDefinition:
    fragments = definition.fragments
    if fragments is None:
        fix = "pass fragments with the template: SQLTemplate(text, fragments={…}), or a QueryFolder"
        raise body.error(offset, f"there is no fragment {name}: this template has none", fix)
    try:
        found = fragments[name]
    except KeyError:
        fix = did_you_mean(name, fragments) or f"there are {', '.join(sorted(fragments)[:5]) or 'none'}"
        edit = misspelt(name, fragments)
        raise body.error(offset, f"there is no fragment {name}", fix.strip(), edit=edit) from None
    if not isinstance(found, str):
        return found.definition
    source = Source(found, name)
    header = read_header(source)
    return TemplateDefinition(
        source=source, header=header, parameters=header.parameters, optional=header.optional, fragments=fragments
    )


# --- balanced SQL: each bracket is closed, so that including it changes nothing around it -----------------------------


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


def _check_balanced(source: Source, lexemes: Sequence[Lexeme], what: str) -> None:
    if all(lexeme.kind is LexemeKind.COMMENT or _is_space(source, lexeme) for lexeme in lexemes):
        raise source.error(0, f"this {what} is empty", "write SQL in it")
    opened: list[tuple[str, int]] = []
    for sign, offset in _signs(source.text, lexemes):
        if sign == ";":
            raise source.error(offset, f"a {what} must not end a statement", "remove the ;")
        if sign in _CLOSED_BY:
            opened.append((_CLOSED_BY[sign], offset))
        elif not opened or opened.pop()[0] != sign:
            raise source.error(
                offset, f"this {sign} closes nothing that its {what} opens", "remove it, or add its opening bracket"
            )
    if opened:
        closing, offset = opened[-1]
        raise source.error(offset, f"this {what} ends before its {closing}", f"close it with {closing}")


_AND = re.compile(r"\s*and(?![\w$])", re.IGNORECASE)


def _leading_and(source: Source, lexemes: Sequence[Lexeme]) -> int | None:
    # The database refuses `(and …)`, and `()`, which remains if all optional clauses are left out.
    for lexeme in lexemes:
        if lexeme.kind is LexemeKind.CODE and not _is_space(source, lexeme):
            found = _AND.match(source.text, lexeme.start, lexeme.end)
            return None if found is None else found.end() - len("and")
        if lexeme.kind not in {LexemeKind.CODE, LexemeKind.COMMENT, LexemeKind.CLAUSE_START}:
            return None
    return None


def _is_space(source: Source, lexeme: Lexeme) -> bool:
    return lexeme.kind is LexemeKind.CODE and source.text[lexeme.start : lexeme.end].isspace()


def _signs(text: str, lexemes: Sequence[Lexeme]) -> Iterator[tuple[str, int]]:
    for lexeme in lexemes:
        if lexeme.kind in _WITH_SIGNS:
            for match in _SIGN.finditer(text, lexeme.start, lexeme.end):
                yield match[0], match.start()


def optional_paths(optional: Iterable[str]) -> frozenset[str]:
    """Check and return paths. Raises TypeError for a single string, and ValueError for a malformed path."""
    if isinstance(optional, str):
        raise TypeError("optional is a set of paths, not one string: optional={'discount'}")
    paths = frozenset(optional)
    for path in paths:
        if not VARIABLE_PATH.fullmatch(path):
            raise ValueError(f"optional contains {path!r}, which is not a path: join names with dots")
    return paths
