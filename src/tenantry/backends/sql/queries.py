"""The reads. Each is written once in SQLAlchemy Core; the writes run it as it is, and the hot paths run the text that
Core compiles for the engine straight on the driver, which is an order of magnitude faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BigInteger, LargeBinary, Select, String, Text, bindparam, case, or_, select, type_coerce
from sqlalchemy.engine import Dialect

from tenantry.backends.sql.tables import api_tokens, data_sources, environments, groups, revisions

_ENVIRONMENT = (
    environments.c.id,
    environments.c.name,
    environments.c.tag,
    environments.c.external_data_sources,
)

_GROUP = (
    groups.c.team_id,
    groups.c.provided_id,
    groups.c.name,
    type_coerce(groups.c.properties, Text),  # the text as it is stored: rows.py reads it for Core and drivers alike
    type_coerce(groups.c.mapping, Text),
    groups.c.handle,
    groups.c.token_version,
    groups.c.key_id,
    groups.c.nonce,
    groups.c.previous_key_id,
    groups.c.previous_nonce,
    groups.c.grace_until,
    groups.c.revision,
    *_ENVIRONMENT,
)

_API_TOKEN = (
    api_tokens.c.id,
    api_tokens.c.label,
    api_tokens.c.scopes,
    api_tokens.c.hint,
    api_tokens.c.created_at,
    api_tokens.c.revoked_at,
    *_ENVIRONMENT,
)

_SOURCE = (data_sources.c.id, data_sources.c.provided_id, data_sources.c.url, data_sources.c.trusted, *_ENVIRONMENT)

_environment_id = bindparam("environment_id", type_=BigInteger)
_handle = bindparam("handle", type_=LargeBinary)
_provided_id = bindparam("provided_id", type_=String)
_reference = bindparam("reference", type_=String)

_in_groups = select(*_GROUP).join_from(groups, environments)
_in_api_tokens = select(*_API_TOKEN).join_from(api_tokens, environments)
_in_sources = select(*_SOURCE).join_from(data_sources, environments)

GROUP_BY_HANDLE = _in_groups.where(groups.c.handle == _handle)
GROUP_BY_ID = _in_groups.where(groups.c.environment_id == _environment_id, groups.c.provided_id == _provided_id)
GROUPS = (
    _in_groups.where(
        groups.c.environment_id == _environment_id, groups.c.team_id > bindparam("after", type_=BigInteger)
    )
    .order_by(groups.c.team_id)
    .limit(bindparam("limit", type_=BigInteger))
)
ENVIRONMENT = select(*_ENVIRONMENT).where(environments.c.name == bindparam("name", type_=String))
ENVIRONMENTS = select(*_ENVIRONMENT).order_by(environments.c.id)
LIVE_API_TOKEN = _in_api_tokens.where(
    api_tokens.c.digest == bindparam("digest", type_=LargeBinary), api_tokens.c.revoked_at.is_(None)
)
API_TOKENS = _in_api_tokens.where(api_tokens.c.environment_id == _environment_id).order_by(api_tokens.c.id)
API_TOKEN = _in_api_tokens.where(
    api_tokens.c.environment_id == _environment_id, api_tokens.c.id == bindparam("token_id", type_=BigInteger)
)
SOURCES = _in_sources.where(data_sources.c.environment_id == _environment_id).order_by(data_sources.c.provided_id)
SOURCE = (
    _in_sources.where(
        data_sources.c.environment_id == _environment_id,
        or_(data_sources.c.id == _reference, data_sources.c.provided_id == _reference),
    ).order_by(case((data_sources.c.id == _reference, 0), else_=1))  # our own id first
)
REVISION = select(revisions.c.version_num)

Query = Select[Any]


class Compiled:
    """A read as text for one driver, with the order in which it takes its values."""

    __slots__ = ("_constants", "_names", "text")

    def __init__(self, query: Query, dialect: Dialect) -> None:
        compiled = query.compile(dialect=dialect)
        self.text = str(compiled)
        self._names: list[str] = list(compiled.positiontup or ())
        self._constants = {name: value for name, value in compiled.params.items() if value is not None}

    def values(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        constants = self._constants
        return tuple([given[name] if name in given else constants[name] for name in self._names])


class Texts(dict[Query, Compiled]):
    """The reads of one dialect, each compiled when it is first asked for."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self._dialect = dialect

    def __missing__(self, query: Query) -> Compiled:
        compiled = self[query] = Compiled(query, self._dialect)
        return compiled
