# To add a filter that chooses between branches of SQL (a Switch), write a function that takes a `SwitchContext`, and
# list it in SWITCHES.

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final

from tenantry.errors import did_you_mean, misspelt
from tenantry.sql.binding.conversions import ARRAY, CONVERSIONS, JSON, PATTERNS
from tenantry.sql.dialects import Dialect
from tenantry.sql.filters.column_filters import excludes, matches, trunc, within
from tenantry.sql.filters.one_of import one_of
from tenantry.sql.filters.switch_context import SwitchContext
from tenantry.sql.lexing.foreign_syntax import FILTERS_LEFT_OUT, filter_left_out
from tenantry.sql.lexing.tags import (
    CONDITIONS,
    DEFAULT,
    EXCLUDES,
    MATCHES,
    NOT_A_FILTER,
    NULLABLE,
    ONE_OF,
    TRUNC,
    WITHIN,
    Filter,
    VariableTag,
)
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position, Switch
from tenantry.sql.tenant_guard import is_viewer_input

SWITCHES: Final[dict[str, Callable[[SwitchContext], Switch]]] = {
    ONE_OF: one_of,
    WITHIN: within,
    TRUNC: trunc,
    MATCHES: matches,
    EXCLUDES: excludes,
}
"""Filter → the function that builds its Switch. A tag has at most one of these filters."""

_MANY = 10_000
_ARGUMENTS: Final[dict[str, tuple[int, int]]] = {
    NOT_A_FILTER: (0, 0),
    DEFAULT: (1, _MANY),
    NULLABLE: (0, 0),
    ONE_OF: (1, _MANY),
    **dict.fromkeys((*PATTERNS, ARRAY, JSON), (0, 0)),
    WITHIN: (1, 1),
    TRUNC: (1, 2),
    MATCHES: (1, 1),
    EXCLUDES: (1, 1),
}


def check_filters(source: Source, tag: VariableTag, declared: Container[str]) -> None:
    """Raise TemplateError for the first filter that does not exist, or that cannot be used in this tag."""
    seen: set[str] = set()
    for each in tag.filters:
        _check_arguments(source, each)
        if each.name in seen:
            raise source.error(each.offset, f"a tag can have {each.name} only once", "remove one of them")
        for alternatives in (frozenset(SWITCHES) | CONVERSIONS, frozenset({DEFAULT, NULLABLE})):
            other = next(iter(seen & alternatives), None)
            if each.name in alternatives and other is not None:
                problem = f"a tag cannot have both {each.name} and {other}"
                raise source.error(each.offset, problem, "remove one of them")
        if each.name in {DEFAULT, NULLABLE} and not is_viewer_input(tag.path):
            raise source.error(each.offset, *_only_viewers(tag, each, declared))
        seen.add(each.name)
    default = tag.filter(DEFAULT)
    if default is not None and not seen.isdisjoint(CONDITIONS):
        raise source.error(default.offset, "a condition takes no default", "declare the parameter with a default")
    pattern = next((each for each in tag.filters if each.name in PATTERNS), None)
    if pattern is not None and NULLABLE in seen:
        fix = f"write [[ and name like {{{{ {tag.path} | {pattern.name} }}}} ]]; or give it a default"
        raise source.error(pattern.offset, f"the filter {pattern.name} of NULL matches no row", fix)
    if default is not None and len(default.arguments) > 1 and not seen.isdisjoint(SWITCHES):
        raise source.error(default.offset, "a choice has only one default", "give the name of one choice")
    nullable = tag.filter(NULLABLE)
    if nullable is not None and not seen.isdisjoint(SWITCHES):
        raise source.error(nullable.offset, "a choice is never NULL", "give it a default, or put it into [[ ]]")


def check_position(source: Source, dialect: Dialect, tag: VariableTag, position: Position, *, after_like: bool) -> None:
    """Raise TemplateError for the first filter that cannot be used in the tag's position."""
    for each in tag.filters:
        problem, fix = "", ""
        if position is Position.LIST and each.name in CONVERSIONS | {NULLABLE}:
            problem, fix = (
                f"after `in`, a list takes no filter {each.name}",
                "write `in {{ name }}` or `= any({{ name | array }})`",
            )
        elif position in {Position.TEXT, Position.PART} and each.name not in {NOT_A_FILTER, DEFAULT}:
            problem, fix = f"the filter {each.name} has no meaning within quotes", "remove the quotes"
        elif position is Position.LIMIT and each.name in CONVERSIONS | {NULLABLE}:
            problem, fix = f"`limit` and `offset` take no filter {each.name}", "give it a default, or put it into [[ ]]"
        elif each.name in PATTERNS and not after_like:
            problem, fix = (
                f"the filter {each.name} makes a pattern for `like`",
                f"write `name like {{{{ name | {each.name} }}}}`",
            )
        elif each.name == ARRAY and not dialect.array_parameter:
            problem, fix = f"{dialect.name} has no parameter that is an array", "write `in {{ name }}`"
        if problem:
            raise source.error(each.offset, problem, fix)


def _check_arguments(source: Source, each: Filter) -> None:
    limits = _ARGUMENTS.get(each.name)
    if each.name in FILTERS_LEFT_OUT:
        raise source.error(each.offset, *filter_left_out(each.name))
    if limits is None:
        fix = did_you_mean(each.name, _ARGUMENTS).strip() or f"the filters are {', '.join(_ARGUMENTS)}"
        edit = misspelt(each.name, _ARGUMENTS)
        raise source.error(each.offset, f"there is no filter {each.name}", fix, edit=edit)
    least, most = limits
    if not least <= len(each.arguments) <= most:
        takes = "no arguments" if most == 0 else "one argument" if most == 1 else "arguments in parentheses"
        raise source.error(each.offset, f"{each.name} takes {takes}", f"the filters are {', '.join(_ARGUMENTS)}")


def _only_viewers(tag: VariableTag, each: Filter, declared: Container[str]) -> tuple[str, str]:
    what = "with a default" if each.name == DEFAULT else "where it may be NULL"
    fix = f"remove | {each.name}; only a params.* can have it"
    if tag.path.partition(".")[0] in declared:
        arguments = ", ".join(argument.text for argument in each.arguments)
        filtered = f"{each.name}({arguments})" if arguments else each.name
        fix = f"write {{{{ params.{tag.path} | {filtered} }}}} for a value that a viewer sends; else {fix}"
    return f"{tag.path} is a property of the group: {what}, nobody would notice a group that lacks it", fix


def has_default(tag: VariableTag) -> bool:
    """Whether a tag works without a value, because it has ``default`` or a filter such as ``matches``."""
    if tag.filter(DEFAULT) is not None:
        return True
    return is_viewer_input(tag.path) and any(each.name in CONDITIONS for each in tag.filters)
