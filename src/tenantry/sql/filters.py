"""The filters of the language: which there are, and what arguments each takes.

``not_a_filter`` and ``default`` say something of the variable. Those in SWITCHES replace the tag by SQL of the
author's, of which the value chooses one: a new one is a function from its ``SwitchContext`` to a Switch, and an entry
there.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Final

from tenantry.sql.column_helpers import matches, trunc, within
from tenantry.sql.one_of import one_of
from tenantry.sql.switch_context import SwitchContext
from tenantry.sql.syntax_tree import Source, Switch
from tenantry.sql.tags import DEFAULT, MATCHES, NOT_A_FILTER, ONE_OF, TRUNC, WITHIN, Filter, Tag
from tenantry.sql.tenant_guard import is_viewer_input

SWITCHES: Final[dict[str, Callable[[SwitchContext], Switch]]] = {
    ONE_OF: one_of,
    WITHIN: within,
    TRUNC: trunc,
    MATCHES: matches,
}
"""Filter -> what builds its Switch. A tag has at most one of them."""

_ARGUMENTS: Final[dict[str, tuple[int, int]]] = {
    NOT_A_FILTER: (0, 0),
    DEFAULT: (1, 1),
    ONE_OF: (1, 10_000),
    WITHIN: (1, 1),
    TRUNC: (1, 2),
    MATCHES: (1, 1),
}
"""Filter -> the least and greatest number of its arguments."""


def check_filters(source: Source, tag: Tag) -> None:
    """Raises TemplateError for the first filter of a tag that does not exist, or cannot be with the others."""
    seen: set[str] = set()
    for each in tag.filters:
        _check_arguments(source, each)
        if each.name in seen or (each.name in SWITCHES and not seen.isdisjoint(SWITCHES)):
            raise source.error(each.offset, f"a tag has {each.name} once, and one such filter", "take one of them out")
        seen.add(each.name)
    default = tag.filter(DEFAULT)
    if default is not None and not is_viewer_input(tag.path):
        problem = f"{tag.path} is the group's: with a default, a group that lacks it would not be noticed"
        raise source.error(default.offset, problem, "take | default out; only a params.* can have one")
    if default is not None and seen.isdisjoint({ONE_OF, TRUNC}):
        raise source.error(default.offset, "default has no meaning here", "it says what one_of or trunc chooses")


def _check_arguments(source: Source, each: Filter) -> None:
    limits = _ARGUMENTS.get(each.name)
    if limits is None:
        near = get_close_matches(each.name, _ARGUMENTS, 1)
        fix = f"did you mean {near[0]}?" if near else f"the filters are {', '.join(_ARGUMENTS)}"
        raise source.error(each.offset, f"there is no filter {each.name}", fix)
    least, most = limits
    if not least <= len(each.arguments) <= most:
        takes = "no arguments" if most == 0 else "one argument" if most == 1 else "arguments in parentheses"
        raise source.error(each.offset, f"{each.name} takes {takes}", f"see the table of filters for {each.name}")
