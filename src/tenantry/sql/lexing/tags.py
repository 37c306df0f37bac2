"""Tags: reads the path, filters and arguments of ``{{ … }}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tenantry.errors import Edit
from tenantry.sql.lexing.lexemes import NAME, VARIABLE_PATH, Lexeme, LexemeKind
from tenantry.sql.source import Source

NULLABLE = "nullable"
ONE_OF = "one_of"
WITHIN, TRUNC, MATCHES, EXCLUDES = "within", "trunc", "matches", "excludes"
CONDITIONS = frozenset({WITHIN, MATCHES, EXCLUDES})
"""Filters that build a whole condition. The condition is ``1 = 1`` if the tag's parameter has no value."""
DEFAULT = "default"
NOT_A_FILTER = "not_a_filter"
"""The filter with which an author marks a variable of the group that does not restrict rows. A clause that contains
such a variable may be dropped."""

_FILTER_NAME = re.compile(NAME)
_INDEX = re.compile(r"\[\s*(['\"])([^'\"]*)\1\s*\]")
_BETWEEN_WORDS = re.compile(r"[-\s]+")


class Argument(NamedTuple):
    """An argument of a filter: ``key: SQL``, ``key:`` or ``SQL``."""

    key: str
    """The key as the author wrote it, with quotes; empty if the argument has no key."""
    text: str
    """The SQL."""
    start: int
    end: int
    lexemes: tuple[Lexeme, ...]


class Filter(NamedTuple):
    name: str
    offset: int
    arguments: tuple[Argument, ...]


class VariableTag(NamedTuple):
    path: str
    offset: int
    filters: tuple[Filter, ...]

    def filter(self, name: str) -> Filter | None:
        return next((each for each in self.filters if each.name == name), None)


def read_tag(source: Source, lexeme: Lexeme) -> VariableTag:
    """Read the path and the filters of a tag. Raises TemplateError if the tag is malformed."""
    text = source.text
    if lexeme.parts:
        path = text[lexeme.start + 2 : lexeme.parts[0].start].partition("|")[0].strip()
        return VariableTag(path, lexeme.start, tuple(_filter(text, each) for each in lexeme.parts))
    inside = text[lexeme.start + 2 : lexeme.end - 2]
    path, *names = (part.strip() for part in inside.split("|"))
    if VARIABLE_PATH.fullmatch(path) and all(_FILTER_NAME.fullmatch(name) for name in names):
        return VariableTag(path, lexeme.start, _plain_filters(lexeme.start + 2, inside, names) if names else ())
    if not inside.strip():
        raise source.error(lexeme.start, "this tag is empty", "name a variable: {{ region }}")
    if names and VARIABLE_PATH.fullmatch(path):
        fix = "write {{ name | filter }} or {{ name | filter(arguments) }}"
        raise source.error(lexeme.start, "only filters can follow the path of a tag", fix)
    fix = "write {{ name }} or {{ user_group.properties.name }}; no calls, indexes, operators or leading underscores"
    path, rest = _meant_path(path), ""
    if path:
        rest = "".join(f" | {name}" for name in names)
        fix = f"write {{{{ {path}{rest} }}}}: a name has letters, digits and _, and begins with a letter"
    edit = Edit(text[lexeme.start : lexeme.end], f"{{{{ {path}{rest} }}}}") if path else None
    raise source.error(lexeme.start, "a tag holds one path: names joined by dots", fix, edit=edit)


def _meant_path(written: str) -> str:
    path = _INDEX.sub(r".\2", written.lstrip("$:@"))
    path = ".".join(_BETWEEN_WORDS.sub("_", name.strip()).strip("_") for name in path.split("."))
    return path if VARIABLE_PATH.fullmatch(path) and "__" not in written else ""


def is_choice(source: Source, lexeme: Lexeme) -> bool:
    return any(source.text.startswith(ONE_OF, each.start) for each in lexeme.parts)


def map_arguments(lexemes: Sequence[Lexeme], change: Callable[[tuple[Lexeme, ...]], Sequence[Lexeme]]) -> list[Lexeme]:
    return [_mapped(lexeme, change) if lexeme.kind is LexemeKind.TAG and lexeme.parts else lexeme for lexeme in lexemes]


def flatten(source: Source, lexemes: Sequence[Lexeme]) -> Iterator[Lexeme]:
    """Yield the lexemes. Before each tag, yield the lexemes of its filters' arguments. Arguments of ``default`` and
    the tags of ``one_of`` are left out."""
    for lexeme in lexemes:
        if lexeme.kind is LexemeKind.TAG:
            for each in lexeme.parts:
                if each.parts and not source.text.startswith(DEFAULT, each.start):
                    yield Lexeme(LexemeKind.CHOICE_START, each.start, each.start)
                    for argument in each.parts:
                        if argument is not each.parts[0]:
                            yield Lexeme(LexemeKind.CHOICE_NEXT, argument.start, argument.start)
                        yield from flatten(source, argument.parts)
                    yield Lexeme(LexemeKind.CHOICE_END, each.end, each.end)
            if is_choice(source, lexeme):
                continue
        yield lexeme


def _mapped(lexeme: Lexeme, change: Callable[[tuple[Lexeme, ...]], Sequence[Lexeme]]) -> Lexeme:
    filters = tuple(
        each._replace(parts=tuple(argument._replace(parts=tuple(change(argument.parts))) for argument in each.parts))
        for each in lexeme.parts
    )
    return lexeme._replace(parts=filters)


def _filter(text: str, lexeme: Lexeme) -> Filter:
    match = _FILTER_NAME.match(text, lexeme.start)
    name = match.group() if match else ""
    return Filter(name, lexeme.start, tuple(_argument(text, each) for each in lexeme.parts))


def _argument(text: str, lexeme: Lexeme) -> Argument:
    start = lexeme.parts[0].start if lexeme.parts else lexeme.end
    end = lexeme.parts[-1].end if lexeme.parts else lexeme.end
    key = text[lexeme.start : start].rstrip().removesuffix(":").rstrip()
    return Argument(key, text[start:end], lexeme.start, end, lexeme.parts)


def _plain_filters(offset: int, inside: str, names: Sequence[str]) -> tuple[Filter, ...]:
    found, at = list[Filter](), 0
    for name in names:
        at = inside.index(name, inside.index("|", at))
        found.append(Filter(name, offset + at, ()))
    return tuple(found)


# --- the arguments of a filter ----------------------------------------------------------------------------------------


_SIGN = re.compile(r"[(){},]")
_KEY = re.compile(r"\s*+(?:(?:-[0-9]+|\w+)\s*+:(?![:=])\s*+)?")
_AFTER_QUOTED_KEY = re.compile(r"\s*+:(?![:=])\s*+")
_SPACE = re.compile(r"\s*+")
_QUOTED = frozenset({LexemeKind.STRING, LexemeKind.QUOTED})


class ArgumentReader:
    """Groups the lexemes after the ``(`` of a filter into ``arguments``, a list of ARGUMENT lexemes."""

    def __init__(self, source: Source, start: int) -> None:
        self.arguments: list[Lexeme] = []
        self._text = source.text
        self._commas = source.commas
        self._start = start  # the start of the current argument
        self._lexemes: list[Lexeme] = []
        self._open = 0  # brackets open in the current argument

    def read(self, lexeme: Lexeme) -> int:
        """Add a lexeme. If the lexeme contains the filter's ``)``, return the offset after the ``)``, otherwise 0."""
        if lexeme.kind is LexemeKind.CODE:
            return self._code(lexeme)
        self._lexemes.append(lexeme)
        if lexeme.kind is LexemeKind.RIGHT_BRACKET:
            self._open = max(0, self._open - 1)
        elif lexeme.kind is LexemeKind.LEFT_BRACKET:
            self._open += 1
        elif lexeme.kind in {LexemeKind.CLAUSE_START, LexemeKind.ESCAPE}:
            self._open += self._text.count("[", lexeme.start, lexeme.end)
        return 0

    def _code(self, lexeme: Lexeme) -> int:
        start = lexeme.start
        for match in _SIGN.finditer(self._text, start, lexeme.end):
            sign, at = match.group(), match.start()
            if sign in "({":
                self._open += 1
            elif sign == ")":
                self._open -= 1
            elif sign == "}":
                self._open = max(0, self._open - 1)
            if self._open < 0 or (sign == "," and not self._open and at not in self._commas):
                self._lexemes.append(Lexeme(LexemeKind.CODE, start, at))
                self._end_argument(at)
                start = at + 1
            if self._open < 0:
                return start
        self._lexemes.append(Lexeme(LexemeKind.CODE, start, lexeme.end))
        return 0

    def _end_argument(self, end: int) -> None:
        text, start = self._text, self._start
        begin = self._end_of_key()
        parts = [_trimmed(lexeme, begin) for lexeme in self._lexemes]
        parts = [lexeme for lexeme in parts if lexeme.start < lexeme.end and lexeme.end > begin]
        while parts and parts[-1].kind is LexemeKind.CODE and text[parts[-1].start : parts[-1].end].isspace():
            parts.pop()
        if parts and parts[-1].kind is LexemeKind.CODE:
            last = parts[-1]
            stripped = len(text[last.start : last.end].rstrip())
            parts[-1] = Lexeme(LexemeKind.CODE, last.start, last.start + stripped)
        start = _SPACE.match(text, start).end()  # type: ignore[union-attr]  # _SPACE matches ""
        if parts or self.arguments or start < end or text[end] == ",":
            self.arguments.append(Lexeme(LexemeKind.ARGUMENT, min(start, end), end, tuple(parts)))
        self._start, self._lexemes = end + 1, []

    def _end_of_key(self) -> int:
        text = self._text
        for lexeme in self._lexemes:
            if lexeme.kind in _QUOTED and text[lexeme.start] in "'\"":
                match = _AFTER_QUOTED_KEY.match(text, lexeme.end)
                if match is not None:
                    return match.end()
            if text[lexeme.start : lexeme.end].strip():
                break
        return _KEY.match(text, self._start).end()  # type: ignore[union-attr]  # _KEY matches ""


def _trimmed(lexeme: Lexeme, begin: int) -> Lexeme:
    if lexeme.kind is LexemeKind.CODE and lexeme.start < begin:
        return Lexeme(LexemeKind.CODE, min(begin, lexeme.end), lexeme.end)
    return lexeme
