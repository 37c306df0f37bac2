"""The reads, each written once in SQLAlchemy Core.

The writes run them as they are; the hot paths run the text that Core compiles for the engine straight on the driver,
which is an order of magnitude faster.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    LargeBinary,
    Select,
    String,
    Text,
    UpdateBase,
    and_,
    any_,
    bindparam,
    case,
    cast,
    func,
    null,
    or_,
    select,
    true,
    tuple_,
    type_coerce,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from tenantry.backends.audit.details import LISTED_CHANGES
from tenantry.backends.sql.tables import (
    api_tokens,
    audit,
    changes,
    data_sources,
    environments,
    generation,
    groups,
    revisions,
    single_use_codes,
    usage_by_hour,
)
from tenantry.backends.stored import PRUNED_AT_ONCE
from tenantry.groups import JSON_COLUMNS, EnvironmentRow, GroupRow

Read: TypeAlias = "Select[*tuple[Any, ...]]"
"""A statement that gives rows."""

Query: TypeAlias = "Read | UpdateBase"
"""Any statement."""


class database_now(FunctionElement[int]):  # noqa: N801 - named as a function of SQL is
    """Microseconds since 1970 by the database's clock, at this moment and not at the start of the transaction; null in
    SQLite, which has no clock but its host's."""

    type: BigInteger = BigInteger()
    inherit_cache = True


@compiles(database_now)
def _null(*_: Any, **__: Any) -> str:
    return "null"


@compiles(database_now, "postgresql")
def _clock_timestamp(*_: Any, **__: Any) -> str:
    return "(extract(epoch from clock_timestamp()) * 1000000)::bigint"


class name_contains(FunctionElement[bool]):  # noqa: N801 - named as a function of SQL is
    """Whether a group's name contains a text in lower case, which A to Z alone have here: so all databases agree."""

    type: Boolean = Boolean()
    inherit_cache = True


@compiles(name_contains)
def _instr(element: name_contains, compiler: Any, **options: Any) -> str:
    return f"instr(lower(user_groups.name), {compiler.process(element.clauses, **options)}) > 0"


@compiles(name_contains, "postgresql")
def _strpos(element: name_contains, compiler: Any, **options: Any) -> str:
    part = compiler.process(element.clauses, **options)
    return f'strpos(lower(user_groups.name collate "C"), {part}) > 0'


class texts_in(FunctionElement[str]):  # noqa: N801 - named as a function of SQL is
    """The texts of a JSON array, as the right side of IN: one parameter, however many they are."""

    type: String = String()
    inherit_cache = True


@compiles(texts_in)
def _json_each(element: texts_in, compiler: Any, **options: Any) -> str:
    return f"(select value from json_each({compiler.process(element.clauses, **options)}))"  # noqa: S608 - a parameter


@compiles(texts_in, "postgresql")
def _json_array_elements(element: texts_in, compiler: Any, **options: Any) -> str:
    texts = compiler.process(element.clauses, **options)
    return f'(select value collate "C" from json_array_elements_text(cast({texts} as json)))'  # noqa: S608 - a parameter


_ENVIRONMENT = tuple(environments.c[name] for name in EnvironmentRow._fields)
_GROUP = (  # JSON is the text as it is stored: rows.py reads it for Core and drivers alike
    *(type_coerce(groups.c[name], Text) if name in JSON_COLUMNS else groups.c[name] for name in GroupRow._fields),
    *_ENVIRONMENT,
)
_API_TOKEN_ALONE = (
    api_tokens.c.id,
    api_tokens.c.label,
    api_tokens.c.scopes,
    api_tokens.c.hint,
    api_tokens.c.created_at,
    api_tokens.c.revoked_at,
    api_tokens.c.expires_at,
    api_tokens.c.last_used_at,
)
_API_TOKEN = (*_API_TOKEN_ALONE, *_ENVIRONMENT)

_SOURCE = (
    data_sources.c.id,
    data_sources.c.provided_id,
    data_sources.c.url,
    data_sources.c.trusted,
    data_sources.c.session,
    *_ENVIRONMENT,
)

_digest = bindparam("digest", type_=LargeBinary)
_environment_id = bindparam("environment_id", type_=BigInteger)
_handle = bindparam("handle", type_=LargeBinary)
_provided_id = bindparam("provided_id", type_=String)
_reference = bindparam("reference", type_=String)

_in_groups = select(*_GROUP).join_from(groups, environments)
_in_api_tokens = select(*_API_TOKEN).join_from(api_tokens, environments)
_in_sources = select(*_SOURCE).join_from(data_sources, environments)

GROUP_BY_HANDLE: Read = _in_groups.where(groups.c.handle == _handle)
GROUP_BY_ID: Read = _in_groups.where(groups.c.environment_id == _environment_id, groups.c.provided_id == _provided_id)
GROUPS: Read = (
    _in_groups.where(
        groups.c.environment_id == _environment_id, groups.c.team_id > bindparam("after", type_=BigInteger)
    )
    .order_by(groups.c.team_id)
    .limit(bindparam("limit", type_=BigInteger))
)
_one_of_ids = groups.c.provided_id.op("in")(texts_in(bindparam("provided_ids", type_=String)))
GROUPS_BY_IDS: Read = _in_groups.where(groups.c.environment_id == _environment_id, _one_of_ids)
_match, _last_id = bindparam("match", type_=String), bindparam("last_id", type_=String)
MATCHING_GROUPS: Read = GROUPS.where(
    or_(groups.c.provided_id.between(_match, _last_id), name_contains(bindparam("part", type_=String)))
)
ENVIRONMENT: Read = select(*_ENVIRONMENT).where(environments.c.name == bindparam("name", type_=String))
ENVIRONMENTS: Read = select(*_ENVIRONMENT).order_by(environments.c.id)
EMBEDDING_HOSTS: Read = (
    select(environments.c.name, type_coerce(environments.c.embedding_hosts, Text))
    .where(environments.c.embedding_hosts.is_not(null()))
    .order_by(environments.c.id)
)
CODE: Read = select(
    database_now(), single_use_codes.c.purpose, single_use_codes.c.payload, single_use_codes.c.expires_at
).where(single_use_codes.c.digest == _digest)
LIVE_API_TOKEN: Read = (
    select(database_now(), *_API_TOKEN)
    .join_from(api_tokens, environments)
    .where(api_tokens.c.digest == _digest, api_tokens.c.revoked_at.is_(None))
)
CALLER: Read = (  # without a group its columns are null; its environment is that of the API token
    select(database_now(), *_GROUP, *_API_TOKEN_ALONE)
    .select_from(
        api_tokens.join(environments).outerjoin(
            groups, and_(groups.c.environment_id == api_tokens.c.environment_id, groups.c.provided_id == _provided_id)
        )
    )
    .where(api_tokens.c.digest == _digest, api_tokens.c.revoked_at.is_(None))
)
API_TOKENS: Read = _in_api_tokens.where(api_tokens.c.environment_id == _environment_id).order_by(api_tokens.c.id)
API_TOKEN: Read = _in_api_tokens.where(
    api_tokens.c.environment_id == _environment_id, api_tokens.c.id == bindparam("token_id", type_=BigInteger)
)
SOURCES: Read = _in_sources.where(data_sources.c.environment_id == _environment_id).order_by(data_sources.c.provided_id)
_is_named = or_(data_sources.c.id == _reference, data_sources.c.provided_id == _reference)
_own_id_first = case((data_sources.c.id == _reference, 0), else_=1)
SOURCE: Read = _in_sources.where(
    data_sources.c.environment_id == _environment_id,
    _is_named,
).order_by(_own_id_first)
REVISION: Read = select(revisions.c.version_num)
COMPATIBLE: Read = select(generation.c.compatible)

# --- what a resolver asks: each one statement, so that all of its answer is of one snapshot ---

_here = select(database_now(), generation.c.number, *_GROUP)


def _look_up(wanted: Any) -> Any:
    found = generation.outerjoin(groups, wanted).outerjoin(environments, environments.c.id == groups.c.environment_id)
    return _here.select_from(found)


LOOK_UP: Read = _look_up(groups.c.handle == _handle)  # always one row: without a group its columns are null
LOOK_UP_MANY: Read = _look_up(
    groups.c.handle == any_(bindparam("handles", type_=ARRAY(LargeBinary)))
)  # PostgreSQL alone
# Always a row. ``sources`` is named, for without the triggers that set it nothing may be cached.
SOURCE_AT_SNAPSHOT: Read = (
    select(generation.c.number, generation.c.sources, *_SOURCE)
    .select_from(
        generation.outerjoin(data_sources, and_(data_sources.c.environment_id == _environment_id, _is_named)).outerjoin(
            environments, environments.c.id == data_sources.c.environment_id
        )
    )
    .order_by(_own_id_first)
    .limit(1)
)
IDENTITY: Read = select(generation.c.store_id, generation.c.run_name, generation.c.longest_lease)
LONGEST_LEASE: Read = select(generation.c.longest_lease).with_for_update()

_since = bindparam("since", type_=BigInteger)
_oldest = select(generation.c.number - LISTED_CHANGES).scalar_subquery()
_listed = (  # one lower bound, and the limit beside it: so neither engine reads more rows than it gives
    select(changes)
    .where(changes.c.generation > case((_since > _oldest, _since), else_=_oldest))
    .order_by(changes.c.generation)
    .limit(bindparam("limit", type_=BigInteger))
    .subquery()
)
CHANGES: Read = (
    select(
        database_now(),
        generation.c.store_id,
        generation.c.number,
        _listed.c.generation,
        _listed.c.handle,
        _listed.c.written_at,
        generation.c.run_name,
        generation.c.longest_lease,
    )
    .select_from(generation.outerjoin(_listed, true()))
    .order_by(_listed.c.generation)
)

_trail = (
    select(
        audit.c.number,
        audit.c.at,
        audit.c.author,
        audit.c.request_id,
        audit.c.action,
        audit.c.environment,
        audit.c.subject,
        type_coerce(audit.c.details, Text),
        audit.c.seal,
    )
    .where(audit.c.number > bindparam("after", type_=BigInteger))
    .order_by(audit.c.number)
    .limit(bindparam("limit", type_=BigInteger))
)
AUDIT: Read = _trail
AUDIT_HEAD: Read = select(generation.c.audit_number, generation.c.audit_mac)
AUDIT_OF_ENVIRONMENT: Read = _trail.where(audit.c.environment == bindparam("environment", type_=String))

_used = usage_by_hour.c
_whose = (_used.environment, _used.provided_id, _used.source)
_counted = (_used.resolves, _used.queries, _used.rows, _used.micros)
_usage = (
    select(*_whose, *(cast(func.sum(each), BigInteger) for each in _counted))  # a sum is no integer in PostgreSQL
    .where(_used.hour >= bindparam("since", type_=BigInteger), _used.hour < bindparam("until", type_=BigInteger))
    .group_by(*_whose)
    .order_by(*_whose)
)
_of_one = {
    "environment": _used.environment == bindparam("environment", type_=String),
    "provided_id": _used.provided_id == _provided_id,
}
USAGE: dict[frozenset[str], Read] = {
    frozenset(names): _usage.where(*(_of_one[name] for name in names))
    for names in ((), ("environment",), ("provided_id",), ("environment", "provided_id"))
}
"""By what is named of whose usage it is."""
OLDEST_USAGE: Read = select(_used.hour).order_by(_used.hour).limit(1)
_row = tuple_(*usage_by_hour.primary_key)
PRUNE_USAGE: Query = usage_by_hour.delete().where(
    _row.in_(
        select(*usage_by_hour.primary_key)
        .where(_used.hour < bindparam("before", type_=BigInteger))
        .order_by(_used.hour)
        .limit(PRUNED_AT_ONCE)
    )
)

# --- what a write reads first: the group, locked until the commit, and the time ---

_locked = select(database_now(), *_GROUP).join_from(groups, environments).with_for_update(of=groups)
LOCKED_BY_HANDLE: Read = _locked.where(groups.c.handle == _handle)
LOCKED_BY_ID: Read = _locked.where(groups.c.environment_id == _environment_id, groups.c.provided_id == _provided_id)
LOCKED_BY_IDS: Read = _locked.where(groups.c.environment_id == _environment_id, _one_of_ids).order_by(
    groups.c.provided_id  # so that no two of many writes wait for each other
)
NOW: Read = select(database_now())
