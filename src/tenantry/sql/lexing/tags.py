"""Tags: ``{{ path | filter | filter(arguments) }}``, read from their lexemes.

Which filters there are, and what they make of a tag, is in ``filters``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import NAME, VARIABLE_PATH
from tenantry.sql.source import Source

NULLABLE = "nullable"
ONE_OF = "one_of"
WITHIN, TRUNC, MATCHES, EXCLUDES = "within", "trunc", "matches", "excludes"
CONDITIONS = frozenset({WITHIN, MATCHES, EXCLUDES})
"""Filters that make a whole condition, and of an absent ``params.*`` one that is always true."""
DEFAULT = "default"
NOT_A_FILTER = "not_a_filter"
"""The variable restricts no rows, so its clause may be left out."""

_FILTER_NAME = re.compile(NAME)
_INDEX = re.compile(r"\[\s*(['\"])([^'\"]*)\1\s*\]")
_BETWEEN_WORDS = re.compile(r"[-\s]+")


class Argument(NamedTuple):
    """An argument of a filter: SQL of the author, ``key: SQL`` or a key alone. ``text`` is the SQL as written, and
    ``key`` may be in quotes."""

    key: str
    text: str
    start: int
    end: int
    lexemes: tuple[Lexeme, ...]


class Filter(NamedTuple):
    """A filter of a tag. ``offset`` is that of its name."""

    name: str
    offset: int
    arguments: tuple[Argument, ...]


class VariableTag(NamedTuple):
    """What a tag says: a path and its filters, in the order of the text."""

    path: str
    offset: int
    filters: tuple[Filter, ...]

    def filter(self, name: str) -> Filter | None:
        """The filter of this name, if the tag has it."""
        return next((each for each in self.filters if each.name == name), None)


def read_tag(source: Source, lexeme: Lexeme) -> VariableTag:
    """The tag at a lexeme. Raises TemplateError that says what else it looks like."""
    text = source.text
    if lexeme.parts:
        path = text[lexeme.start + 2 : lexeme.parts[0].start].partition("|")[0].strip()
        return VariableTag(path, lexeme.start, tuple(_filter(text, each) for each in lexeme.parts))
    inside = text[lexeme.start + 2 : lexeme.end - 2]
    path, *names = (part.strip() for part in inside.split("|"))
    if VARIABLE_PATH.fullmatch(path) and all(_FILTER_NAME.fullmatch(name) for name in names):
        return VariableTag(path, lexeme.start, _plain_filters(lexeme.start + 2, inside, names) if names else ())
    if not inside.strip():
        raise source.error(lexeme.start, "an empty tag", "name a variable: {{ region }}")
    if names and VARIABLE_PATH.fullmatch(path):
        fix = "write {{ name | filter }} or {{ name | filter(arguments) }}"
        raise source.error(lexeme.start, "after the path of a tag come filters: a name, or a name and arguments", fix)
    fix = "write {{ name }} or {{ user_group.properties.name }}; no calls, indexes, operators or leading underscores"
    path = _meant_path(path)
    if path:
        rest = "".join(f" | {name}" for name in names)
        fix = f"write {{{{ {path}{rest} }}}}: a name has letters, digits and _, and begins with a letter"
    raise source.error(lexeme.start, "a tag holds one path: names joined by dots", fix)


def _meant_path(written: str) -> str:
    """The path that was probably meant: ``start_date`` for ``start-date``, ``$start date`` or ``dates['start']``. Empty
    for what is no such slip."""
    path = _INDEX.sub(r".\2", written.lstrip("$:@"))
    path = ".".join(_BETWEEN_WORDS.sub("_", name.strip()).strip("_") for name in path.split("."))
    return path if VARIABLE_PATH.fullmatch(path) and "__" not in written else ""


def is_choice(source: Source, lexeme: Lexeme) -> bool:
    """Whether a tag becomes a text of the author's and no value."""
    return any(source.text.startswith(ONE_OF, each.start) for each in lexeme.parts)


def map_arguments(lexemes: Sequence[Lexeme], change: Callable[[tuple[Lexeme, ...]], Sequence[Lexeme]]) -> list[Lexeme]:
    """The lexemes, with the SQL of each argument of their tags changed."""
    return [_mapped(lexeme, change) if lexeme.kind is LexemeKind.TAG and lexeme.parts else lexeme for lexeme in lexemes]


def flatten(source: Source, lexemes: Sequence[Lexeme]) -> Iterator[Lexeme]:
    """The lexemes with the SQL in tags among them: after CHOICE_START one argument after the other, with CHOICE_NEXT
    between them, then CHOICE_END. A choice is no TAG here, since it is replaced by one of its arguments.

    So the checks that read a text from its start to its end see each text that a viewer can choose.
    """
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
