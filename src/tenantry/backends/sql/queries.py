"""SQLAlchemy Core statements: look-ups, polls, and statements that several modules share."""

from __future__ import annotations

from typing import Any, TypeAlias

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    LargeBinary,
    Select,
    String,
    Text,
    UpdateBase,
    any_,
    bindparam,
    case,
    func,
    or_,
    select,
    true,
    type_coerce,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from tenantry.backends.changes import LISTED_CHANGES
from tenantry.database.tables import (
    changes,
    environments,
    generation,
    groups,
    revisions,
)
from tenantry.groups import JSON_COLUMNS, EnvironmentRow, GroupRow

Read: TypeAlias = "Select[*tuple[Any, ...]]"

Query: TypeAlias = "Read | UpdateBase"


class database_now(FunctionElement[int]):  # noqa: N801 - named like a SQL function
    """The current time of the database (not the start of the transaction), in microseconds since 1970. Null on
    SQLite."""

    type: BigInteger = BigInteger()
    inherit_cache = True


@compiles(database_now)
def _null(*_: Any, **__: Any) -> str:
    return "null"


@compiles(database_now, "postgresql")
def _clock_timestamp(*_: Any, **__: Any) -> str:
    return "(extract(epoch from clock_timestamp()) * 1000000)::bigint"


class name_contains(FunctionElement[bool]):  # noqa: N801 - named like a SQL function
    """SQL condition: the group's name, with A to Z in lower case, contains a string."""

    type: Boolean = Boolean()
    inherit_cache = True


@compiles(name_contains)
def _instr(element: name_contains, compiler: Any, **options: Any) -> str:
    return f"instr(lower(user_groups.name), {compiler.process(element.clauses, **options)}) > 0"


@compiles(name_contains, "postgresql")
def _strpos(element: name_contains, compiler: Any, **options: Any) -> str:
    part = compiler.process(element.clauses, **options)
    # The collation "C" leaves other letters as they are, as SQLite does.
    return f'strpos(lower(user_groups.name collate "C"), {part}) > 0'


class in_order(FunctionElement[int]):  # noqa: N801 - named like a SQL function
    """Names a column in a condition, so that SQLite does not use the column's index."""

    type: BigInteger = BigInteger()
    inherit_cache = True


@compiles(in_order)
def _plus(element: in_order, compiler: Any, **options: Any) -> str:
    # With the index, SQLite would read and sort all rows with the same value before it returns one page.
    return f"+{compiler.process(element.clauses, **options)}"


@compiles(in_order, "postgresql")
def _column(element: in_order, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


class texts_in(FunctionElement[str]):  # noqa: N801 - named like a SQL function
    """The strings of a JSON array as rows, so that an IN list is a single parameter."""

    type: String = String()
    inherit_cache = True


@compiles(texts_in)
def _json_each(element: texts_in, compiler: Any, **options: Any) -> str:
    return f"(select value from json_each({compiler.process(element.clauses, **options)}))"  # noqa: S608 - a parameter


@compiles(texts_in, "postgresql")
def _json_array_elements(element: texts_in, compiler: Any, **options: Any) -> str:
    texts = compiler.process(element.clauses, **options)
    return f'(select value collate "C" from json_array_elements_text(cast({texts} as json)))'  # noqa: S608 - a parameter


ENVIRONMENT_COLUMNS: tuple[Column[Any], ...] = tuple(environments.c[name] for name in EnvironmentRow._fields)
GROUP_COLUMNS: tuple[ColumnElement[Any], ...] = tuple(
    # JSON as the stored string: rows.py parses it
    type_coerce(groups.c[name], Text) if name in JSON_COLUMNS else groups.c[name]
    for name in GroupRow._fields
)
_GROUP = (*GROUP_COLUMNS, *ENVIRONMENT_COLUMNS)
_environment_id = bindparam("environment_id", type_=BigInteger)
_handle = bindparam("handle", type_=LargeBinary)
_provided_id = bindparam("provided_id", type_=String)
_in_groups = select(*_GROUP).join_from(groups, environments)
GROUP_BY_HANDLE: Read = _in_groups.where(groups.c.handle == _handle)
GROUP_BY_ID: Read = _in_groups.where(groups.c.environment_id == _environment_id, groups.c.provided_id == _provided_id)
GROUPS: Read = (
    _in_groups.where(
        in_order(groups.c.environment_id) == _environment_id,
        groups.c.team_id > bindparam("after", type_=BigInteger),
        groups.c.key_id == func.coalesce(bindparam("signed_by", type_=String), groups.c.key_id),
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
REVISION: Read = select(revisions.c.version_num)
COMPATIBLE: Read = select(generation.c.compatible)

# --- reads of a resolver: each is one statement and so reads one snapshot ---

_here = select(database_now(), generation.c.number, *_GROUP)


def _look_up(wanted: Any) -> Any:
    found = generation.outerjoin(groups, wanted).outerjoin(environments, environments.c.id == groups.c.environment_id)
    return _here.select_from(found)


LOOK_UP: Read = _look_up(groups.c.handle == _handle)  # always one row; without a group its columns are null
# Only for PostgreSQL.
LOOK_UP_MANY: Read = _look_up(groups.c.handle == any_(bindparam("handles", type_=ARRAY(LargeBinary))))
IDENTITY: Read = select(generation.c.store_id, generation.c.run_name, generation.c.longest_lease)
LONGEST_LEASE: Read = select(generation.c.longest_lease).with_for_update()

_since = bindparam("since", type_=BigInteger)
_oldest = select(generation.c.number - LISTED_CHANGES).scalar_subquery()
_listed = (  # with one lower bound and a limit, no database reads more rows than it returns
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

# --- the first read of a write: the group, locked until the commit, and the time ---

_locked = select(database_now(), *_GROUP).join_from(groups, environments).with_for_update(of=groups)
LOCKED_BY_HANDLE: Read = _locked.where(groups.c.handle == _handle)
LOCKED_BY_ID: Read = _locked.where(groups.c.environment_id == _environment_id, groups.c.provided_id == _provided_id)
LOCKED_BY_IDS: Read = _locked.where(groups.c.environment_id == _environment_id, _one_of_ids).order_by(
    groups.c.provided_id  # all writers use this order, which prevents deadlocks
)
NOW: Read = select(database_now())
