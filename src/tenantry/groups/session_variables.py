"""Session variables of a data source, such as ``app.tenant = {{ user_group.id }}``. They are set before each query, so
that row-level security policies can read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from tenantry.errors import InvalidSource

SessionVariables: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a variable's name and the template tag for its value, in the order in which they were declared."""

_ENGINES = frozenset({"postgresql", "postgres"})
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}(?:\.[a-z_][a-z0-9_]{0,62})+")
_TAG = re.compile(r"\{\{\s*((?:user_group|viewer)(?:\.[^\W\d_]\w*)+)\s*\}\}")
# Prefixes of settings that belong to PostgreSQL, its languages or its extensions.
_SERVERS_OWN = re.compile(
    r"(?:pg|pl|auto_explain|citus|columnar|cron|dblink|isn|ldap|neon|passwordcheck|postgis|postgres|rds|sepgsql|ssl"
    r"|supautils|timescaledb)\w*\."
)
_EXAMPLE = "app.tenant='{{ user_group.id }}'"


def check_session_variables(url: str, session: Mapping[str, str] | Iterable[tuple[str, str]]) -> SessionVariables:
    """Return the session variables, with each value in the form ``{{ path }}``. Raises InvalidSource if there are any
    and ``url`` is not of PostgreSQL, if a name is repeated or cannot be a custom setting of PostgreSQL, or if a value
    is not exactly one variable of the group or viewer."""
    pairs = list(session.items() if isinstance(session, Mapping) else session)
    if not pairs:
        return ()
    engine = url.partition(":")[0].partition("+")[0]
    if engine not in _ENGINES:
        raise _invalid(
            "session variables need PostgreSQL: with another engine, map each group to its own database, or filter in "
            "the template"
        )
    for name, _ in pairs:
        if not _NAME.fullmatch(name):
            raise _invalid(
                f"{name!r} cannot name a session variable: write two or more words in lower case (a-z, 0-9, _; no "
                f"digit first; at most 63 characters each), joined by dots, as in {_EXAMPLE}"
            )
        if _SERVERS_OWN.match(name):
            raise _invalid(f"{name} is a setting of the server or an extension: use another name, as in {_EXAMPLE}")
    if len({name for name, _ in pairs}) < len(pairs):
        raise _invalid("a session variable is declared twice: declare each name once")
    return tuple((name, _tag(name, text)) for name, text in pairs)


def _tag(name: str, text: str) -> str:
    found = _TAG.fullmatch(text.strip())
    if found is None:
        raise _invalid(
            f"the value of {name} must be exactly one variable of the group or viewer (user_group.… or viewer.…), "
            f"as in {_EXAMPLE}"
        )
    return f"{{{{ {found[1]} }}}}"


def _invalid(problem: str) -> InvalidSource:
    return InvalidSource(problem, field="/session")
