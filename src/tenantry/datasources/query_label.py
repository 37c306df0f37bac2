"""Query tags: SQL comments of sorted ``key='value'`` pairs (https://google.github.io/sqlcommenter/spec/)."""

# Values are URL-encoded, so that no id can end the comment or add a placeholder.

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple
from urllib.parse import quote

from tenantry.sql import PARAMSTYLES, BoundSQL, Query, SQLTemplate

# These engines show the SQL of running queries. None has a cache keyed by the SQL: tags would make it useless.
TAGGED: Final = ("postgresql", "mysql", "mariadb")
"""Engines (URL schemes) whose queries are tagged by default."""

_CACHED = 4_096
_CACHED_TEMPLATES = 256
_BLANK = " \t\r\n;"


class QueryLabel(NamedTuple):
    source: str
    environment: str
    group: str
    template: str
    viewer: str | None = None


class TaggedSQL(BoundSQL):
    """BoundSQL with a query tag. ``untagged`` is the SQL without the tag, for checks and caches."""

    untagged: str


@lru_cache(_CACHED_TEMPLATES)
def template_name(template: SQLTemplate) -> str:
    """Return a Query's name, or a digest of a template without a name. This function's cache keeps templates alive, so
    for a draft of the SQL editor use the draft's ``name`` instead."""
    if isinstance(template, Query) and template.name:
        return template.name
    return f"sql-{blake2b(template.text.encode(), digest_size=6).hexdigest()}"


def with_tag(bound: BoundSQL, label: QueryLabel) -> BoundSQL:
    # On a new line, because the SQL may end with a comment.
    sql = bound.sql.rstrip(_BLANK)
    if not sql:
        return bound
    tag = comment(label)
    if bound.params is not None and PARAMSTYLES[bound.paramstyle].doubles_percent:
        tag = tag.replace("%", "%%")
    tagged = TaggedSQL._make((f"{sql}\n{tag}", *bound[1:]))
    tagged.untagged = bound.sql
    return tagged


def untagged(bound: BoundSQL) -> str:
    """Return the SQL without its tag."""
    return bound.untagged if isinstance(bound, TaggedSQL) else bound.sql


@lru_cache(_CACHED)
def comment(label: QueryLabel) -> str:
    pairs = (
        ("application", "tenantry"),
        ("group", label.group),
        ("source", label.source),
        ("template", label.template),
    )
    return "/*" + ",".join(f"{name}='{quote(value, safe='', errors='replace')}'" for name, value in pairs) + "*/"
