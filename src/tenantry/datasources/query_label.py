"""QueryLabel: the names of source, environment, group and template for operators; and the tag, an SQL comment with
these names.

The tag follows sqlcommenter (https://google.github.io/sqlcommenter/spec/): sorted ``key='value'`` pairs, URL-encoded,
so no id can end the comment or add a placeholder.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote

from tenantry.groups import RegisteredSource, UserGroup
from tenantry.sql import PARAMSTYLES, BoundSQL, SQLTemplate

TAGGED: Final = ("postgresql", "mysql", "mariadb")
"""Engines, by URL scheme, that list running queries by their SQL and cache neither plans nor results by it."""

_CACHED = 4_096
_CACHED_TEMPLATES = 256
_BLANK = " \t\r\n;"


class QueryLabel(NamedTuple):
    source: str
    environment: str
    group: str
    template: str


class TaggedSQL(BoundSQL):
    """BoundSQL with a tag. ``untagged`` is the SQL without it, for checks and caches."""

    untagged: str


class NamedTemplate(Protocol):
    @property
    def name(self) -> str: ...


def label_of(source: RegisteredSource, group: UserGroup, template: SQLTemplate | NamedTemplate) -> QueryLabel:
    name = template_name(template) if isinstance(template, SQLTemplate) else template.name
    return QueryLabel(source.id, source.environment.name, group.provided_id, name)


@lru_cache(_CACHED_TEMPLATES)
def template_name(template: SQLTemplate) -> str:
    """A Query's name, else a digest of the template."""
    return getattr(template, "name", "") or f"sql-{blake2b(template.text.encode(), digest_size=6).hexdigest()}"


def with_tag(bound: BoundSQL, label: QueryLabel) -> BoundSQL:
    """Append the tag on a new line: the SQL may end in a comment."""
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
    """The SQL without the comment that labels the query."""
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
