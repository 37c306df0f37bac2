from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tenantry.errors import did_you_mean, misspelt
from tenantry.sql.header.choice_sets import SET_NAME, ChoiceSets, ChoiceText
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.sql_tokens import TokenContext
from tenantry.sql.lexing.tags import ONE_OF
from tenantry.sql.source import Source

FRAGMENT_NAME = re.compile(r"[^\W\d_][\w-]*(?:/[^\W\d_][\w-]*)*")
"""Name of a fragment or query. It is the path of the file in the query folder without ``.sql``, such as
``sales/active_orders``."""

MAY_INCLUDE = re.compile(r"\{\{\s*>")
"""Finds the beginning of a tag that includes a fragment."""
_INCLUDE = re.compile(r"\{\{\s*>(?P<name>.*)\}\}", re.DOTALL)
_ONE_OF = re.compile(rf"{ONE_OF}(?!\w)")


class ReplacedTag(NamedTuple):
    """A tag that includes a fragment, or an argument of ``one_of`` that names a choice set."""

    start: int
    end: int
    name: str
    choices: Mapping[str, ChoiceText] | None = None
    """The choice set; None for a fragment."""
    alone: bool = True
    """Whether the tag is alone in its parentheses, or alone in the whole template."""


def replaced_tags(source: Source, lexemes: Sequence[Lexeme], choices: ChoiceSets) -> Iterator[ReplacedTag]:
    """Yield, in text order, each tag to replace, including tags inside the arguments of other tags."""
    context = TokenContext(source, lexemes)
    for index, lexeme in enumerate(lexemes):
        name = _included_name(source, lexeme)
        if name is not None:
            before, after = context.preceding(index, 1)[0].text, context.following(index).text
            alone = (before, after) in {("(", ")"), ("", "")}
            yield ReplacedTag(lexeme.start, lexeme.end, name, alone=alone)
        elif lexeme.kind is LexemeKind.TAG and lexeme.parts:
            for each in lexeme.parts:
                chosen = _named_choices(source, each, choices)
                if chosen is not None:
                    yield chosen
                    continue
                for argument in each.parts:
                    _check_named(source, each, argument)
                    yield from replaced_tags(source, argument.parts, choices)


def _named_choices(source: Source, lexeme: Lexeme, choices: ChoiceSets) -> ReplacedTag | None:
    if not choices or len(lexeme.parts) != 1 or not _ONE_OF.match(source.text, lexeme.start):
        return None
    (argument,) = lexeme.parts
    if len(argument.parts) != 1:
        return None
    start, end = argument.parts[0].start, argument.parts[0].end
    name = source.text[start:end]
    if argument.start != start or not SET_NAME.fullmatch(name):
        return None
    if name not in choices:
        fix = did_you_mean(name, choices) or f"there are {', '.join(choices)}"
        raise source.error(start, f"there are no choices {name}", fix.strip(), edit=misspelt(name, choices))
    return ReplacedTag(start, end, name, choices[name])


def _check_named(source: Source, lexeme: Lexeme, argument: Lexeme) -> None:
    parts = argument.parts
    if _ONE_OF.match(source.text, lexeme.start) and parts and argument.start == parts[0].start:
        name = _included_name(source, parts[0])
        if name is not None:
            fix = f"write one_of(name: {{{{> {name} }}}})"
            raise source.error(argument.start, "a choice that is a fragment needs a name", fix)


def _included_name(source: Source, lexeme: Lexeme) -> str | None:
    if lexeme.kind is LexemeKind.INTERPOLATED_STRING:
        for part in lexeme.parts:
            if part.kind is LexemeKind.TAG and _included_name(source, part) is not None:
                raise source.error(
                    part.start, "a fragment is SQL and cannot be in a string", "write it outside the quotes"
                )
    if lexeme.kind is not LexemeKind.TAG:
        return None
    match = _INCLUDE.fullmatch(source.text, lexeme.start, lexeme.end)
    if match is None:
        return None
    name = match["name"].strip()
    if not FRAGMENT_NAME.fullmatch(name):
        fix = "write {{> active_orders }}, or {{> sales/active_orders }} for one in a folder; it takes no filter"
        raise source.error(lexeme.start, "this is not a fragment name", fix)
    return name
