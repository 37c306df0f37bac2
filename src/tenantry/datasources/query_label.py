"""What operators are shown of a query: for whom, where and which; and the tag, a comment with it in the SQL.

A tag is written as sqlcommenter does (https://google.github.io/sqlcommenter/spec/): at the end of the text, sorted
``key='value'`` pairs, each value URL-encoded. So an id holds no character that could end the comment, or that a driver
takes for a placeholder, but for ``%``, which is doubled where a driver undoubles it.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, Protocol
from urllib.parse import quote

from tenantry.groups import RegisteredSource, UserGroup
from tenantry.sql import PARAMSTYLES, BoundSQL, SQLTemplate

_CACHED = 4_096
_CACHED_TEMPLATES = 256
_BLANK = " \t\r\n;"


class QueryLabel(NamedTuple):
    """Names alone: the source's id, its environment, the group's id, and the name of the template."""

    source: str
    environment: str
    group: str
    template: str


class TaggedSQL(BoundSQL):
    """BoundSQL with a tag. ``untagged`` is the text of the template: what is checked, and what a check is cached by."""

    untagged: str


class NamedTemplate(Protocol):
    """What has the name of a template that it is made of."""

    @property
    def name(self) -> str:
        """It is not empty."""
        ...


def label_of(source: RegisteredSource, group: UserGroup, template: SQLTemplate | NamedTemplate) -> QueryLabel:
    """The label of a query."""
    name = template_name(template) if isinstance(template, SQLTemplate) else template.name
    return QueryLabel(source.id, source.environment.name, group.provided_id, name)


@lru_cache(_CACHED_TEMPLATES)
def template_name(template: SQLTemplate) -> str:
    """The name of a Query, as a QueryFolder gives it; of what has none, a digest of the template as it was written."""
    return getattr(template, "name", "") or f"sql-{blake2b(template.text.encode(), digest_size=6).hexdigest()}"


def with_tag(bound: BoundSQL, label: QueryLabel) -> BoundSQL:
    """The same with the tag behind its text; on a line of its own, for the text may end in a comment."""
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
    """The text without the tag, if it has one."""
    return bound.untagged if isinstance(bound, TaggedSQL) else bound.sql


@lru_cache(_CACHED)
def comment(label: QueryLabel) -> str:
    """The tag."""
    pairs = (
        ("application", "tenantry"),
        ("group", label.group),
        ("source", label.source),
        ("template", label.template),
    )
    return "/*" + ",".join(f"{name}='{quote(value, safe='', errors='replace')}'" for name, value in pairs) + "*/"
