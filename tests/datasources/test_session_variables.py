"""Session variables on a real PostgreSQL: policies choose the rows, and no query chooses another group's."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from engines.debian_packages import require
from engines.pgbouncer import PACKAGES, PgBouncer, pooled
from tenantry.datasources import DataSources, ResultCache
from tenantry.datasources.session import SessionTemplate
from tenantry.errors import (
    DataSourceError,
    InvalidSource,
    MissingVariable,
    NotOneStatement,
    QueryFailed,
    SourceUnavailable,
    UnbindableValue,
)
from tenantry.groups import RegisteredSource, UserGroup, check_session_variables, freeze
from tenantry.sql import BoundSQL, SQLTemplate
from tests.datasources.conftest import PRODUCTION, STAGING, Directory, group, sqlite_file
from tests.datasources.settings import executed, joined, stopped
from tests.docs.blocks import blocks
from tests.groups.viewers import make_viewer

SESSION = (("app.tenant", "{{ user_group.id }}"),)
ALL = "select id, tenant from orders order by id"
PAGE = Path(__file__).parents[2] / "docs" / "row-level-security.md"
TABLES, ROLE, _AT_WORK, TEMPLATE, UNPROTECTED = (block.text for block in blocks(PAGE) if block.language == "sql")
"""The recipe as a reader follows it: what these tests run on."""


@pytest.fixture(scope="module")
def reader(postgres) -> Iterator[str]:
    """The URL of a database whose rows are two tenants', for a role that the policies hold."""
    url = postgres.create_database()
    role = f"reader_{token_hex(4)}"
    postgres.execute(TABLES + re.sub(r"\breader\b", role, ROLE), url=url)
    parts = urlsplit(url)
    yield urlunsplit(parts._replace(netloc=f"{role}:secret@{parts.netloc.rpartition('@')[2]}"))
    postgres.execute(f"drop owned by {role}; drop role {role}", url=url)


@pytest.fixture
def sources(reader: str, directory: Directory, open_sources) -> DataSources:
    directory.add(1, reader, session=SESSION)
    return open_sources(pool_size=1, connect_timeout=120)


def member(name: str, **properties: object) -> UserGroup:
    return replace(group(name, main="ds_1"), properties=freeze(properties), handle=name.encode().ljust(8))


async def owners(sources: DataSources, name: str, sql: str = ALL) -> set[str]:
    return {row["tenant"] for row in await sources.fetch(member(name), "main", sql, {})}


async def test_each_group_sees_its_rows_without_a_predicate(sources: DataSources) -> None:
    """One template that names no variable, one connection: the policies choose. Red without the session variables, and
    when they were set before the transaction: there is then no row for anybody."""
    rows = await sources.fetch(member("acme"), "main", TEMPLATE)
    assert rows == [{"id": 1, "amount": 10}, {"id": 3, "amount": 30}]
    assert await owners(sources, "globex") == {"globex"}
    assert await owners(sources, "nobody") == set()


async def test_the_recipe_finds_tables_without_a_policy(reader: str, postgres) -> None:
    """The last statement of the page lists what the role may read and no policy filters."""
    admin = urlunsplit(urlsplit(reader)._replace(netloc=urlsplit(postgres.url).netloc))
    role = str(urlsplit(reader).username)
    listing = UNPROTECTED.replace("'reader'", f"'{role}'")
    assert postgres.execute(listing, url=admin) == ""
    postgres.execute(f"create table notes (a text); grant select on notes to {role}", url=admin)
    assert postgres.execute(listing, url=admin) == "notes\n"
    postgres.execute("drop table notes", url=admin)


async def test_queries_of_many_groups_at_once_never_meet(reader: str, directory: Directory, open_sources) -> None:
    """Two hundred queries of two groups over two connections, in any order."""
    directory.add(1, reader, session=SESSION)
    sources = open_sources(pool_size=2, connect_timeout=120)
    names = ["acme", "globex"] * 100
    found = await asyncio.gather(*(owners(sources, name, f"{ALL} -- {n}") for n, name in enumerate(names)))
    assert found == [{name} for name in names]


async def test_the_variables_of_a_caller_do_not_choose_the_session(sources: DataSources) -> None:
    """``fetch`` takes any variables that name no other group; the session is the group's all the same. Red when it was
    bound with them."""
    forged = {"id": "globex", "params": {"id": "globex"}, "region": "globex"}
    rows = await sources.fetch(member("acme"), "main", ALL, forged)
    assert {row["tenant"] for row in rows} == {"acme"}


ESCAPE = """
with s as materialized (select {call} as t)
select id, tenant from s, lateral (select * from orders where s.t is not null) o
"""
CALLS = [
    "set_config('app.tenant', 'globex', true)",
    "pg_catalog.set_config('app.tenant', 'globex', true)",
    "\"set_config\" /* so */ ('app.tenant', 'globex', true)",
    "U&\"\\0073et_config\"('app.tenant', 'globex', true)",
    "(select word from ts_stat($$select to_tsvector(set_config('app.tenant', 'globex', true))$$))",
    "(select word from ts_stat('select to_tsvector(set' || '_config(''app.tenant'', ''globex'', true))'))",
]


@pytest.mark.parametrize("call", CALLS)
async def test_a_query_cannot_set_another_tenant(
    call: str, sources: DataSources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By no spelling of set_config, and by no text that a function runs. The control at the end shows that each of them
    does read the other tenant's rows, where the check is taken away."""
    sql = ESCAPE.format(call=call)
    with pytest.raises((NotOneStatement, QueryFailed), match="session variables that choose the rows") as caught:
        await owners(sources, "acme", sql)
    assert "globex" not in str(caught.value)
    monkeypatch.setattr("tenantry.datasources.engines.postgresql.session_escape_error", lambda *_: None)
    assert await owners(sources, "acme", sql) == {"globex"}


@pytest.mark.parametrize(
    "sql",
    [
        "set app.tenant = 'globex'",
        "set local app.tenant to 'globex'",
        "set session app.tenant to 'globex'",
        "reset app.tenant",
        "reset all",
        "discard all",
        "set role postgres",
        "reset role",
        "set session authorization default",
        "do $$ begin perform set_config('app.tenant', 'globex', false); end $$",
        "commit",
        "select 1; set app.tenant = 'globex'",
        "update pg_settings set setting = 'globex' where name = 'app.tenant'",
        "with s as (select 1) update pg_settings set setting = 'globex' where name = 'app.tenant'",
        "with s as (update pg_settings set setting = 'globex' returning 1) select id, tenant from orders",
        "create function pg_temp.f() returns text return set_config('app.tenant', 'globex', false)",
        "prepare p as select id, tenant from orders",
        "explain analyze select set_config('app.tenant', 'globex', false)",
    ],
)
async def test_no_statement_reaches_another_tenant(sql: str, sources: DataSources) -> None:
    """Settings, roles, prepared statements and second statements are refused, and the next query is as before."""
    with pytest.raises(DataSourceError):
        await sources.fetch(member("acme"), "main", sql, {})
    assert await owners(sources, "acme") == {"acme"}


FUNCTIONS = """
select p.proname as name, array(select format_type(t, null) from unnest(p.proargtypes) t) as types
from pg_proc p where p.prokind = 'f' and p.prorettype <> 'trigger'::regtype and 'text'::regtype = any (p.proargtypes)
  and p.proname !~ '^pg_(terminate|cancel|promote|backup|stat_reset|sync|replication|(create|drop|copy)_.*slot)'
"""


async def test_the_server_has_no_other_function_that_sets_a_variable(postgres) -> None:
    """Each function of PostgreSQL that takes a text is called with the variable's name and a value, as a superuser.
    The control is a function of another name, which calls set_config: it is found."""
    url = postgres.create_database()
    sql = "select set_config('app.tenant', $2, $3 and $1 <> '')"
    postgres.execute(f"create function control(text, text, boolean) returns text language sql as $${sql}$$", url=url)
    connection = await asyncpg.connect(url, statement_cache_size=0)
    setters = set()
    for function in await connection.fetch(FUNCTIONS):
        texts = iter(["'app.tenant'::text", "'globex'::text"])
        given = [
            next(texts, "'globex'::text") if kind == "text" else f"{'true' if kind == 'boolean' else 'null'}::{kind}"
            for kind in function["types"]
        ]
        transaction = connection.transaction()
        await transaction.start()
        with suppress(asyncpg.PostgresError):
            await connection.execute(f'select "{function["name"]}"({", ".join(given)})')
            if await connection.fetchval("select current_setting('app.tenant', true)") == "globex":
                setters.add(function["name"])
        await transaction.rollback()
    await connection.close()
    assert setters == {"set_config", "control"}


async def test_a_query_may_read_its_own_variable(sources: DataSources) -> None:
    """``current_setting`` and ``show`` only read; a column or a text that is called set_config is no call."""
    sql = "select current_setting('app.tenant') as own, 'set_config(' as text, 1 as set_config"
    assert await sources.fetch(member("acme"), "main", sql) == [{"own": "acme", "text": "set_config(", "set_config": 1}]
    assert await sources.fetch(member("acme"), "main", "show app.tenant") == [{"app.tenant": "acme"}]


async def test_set_config_runs_where_no_variable_chooses_rows(reader: str, directory: Directory, open_sources) -> None:
    """Without session variables nothing hangs on them: it is undone with the transaction, as ever."""
    directory.add(1, reader)
    sources = open_sources()
    sql = "select set_config('app.other', 'x', true) as x"
    assert await sources.fetch(member("acme"), "main", sql, {}) == [{"x": "x"}]


async def test_a_group_that_lacks_the_variable_gets_no_query(
    reader: str, directory: Directory, open_sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MissingVariable names it, and nothing is sent; so for null. An empty text is no tenant: to the server it is a
    variable that nobody set. Red when the session was left out where it cannot be bound."""
    directory.add(1, reader, session=(("app.tenant", "{{ user_group.properties.tenant }}"),))
    sources = open_sources()
    monkeypatch.setattr("tenantry.datasources.engines.postgresql.PostgreSQLDriver.open", None)  # whoever calls it fails
    for properties in ({}, {"tenant": None}):
        with pytest.raises(
            MissingVariable, match="'acme' lacks properties that the session variables of data source ds_1"
        ) as lack:
            await sources.fetch(member("acme", **properties), "main", ALL, {})
        assert lack.value.names == ("user_group.properties.tenant",)
    for value in ("", ["acme"], {"a": 1}):
        with pytest.raises(UnbindableValue):
            await sources.fetch(member("acme", tenant=value), "main", ALL, {})


@pytest.mark.parametrize(
    "value", ["x', true), pg_sleep(60), set_config('app.tenant', 'globex", "globex' -- ", "a\nb", "%", "\\"]
)
async def test_a_value_is_bound(value: str, reader: str, directory: Directory, open_sources) -> None:
    """What a property holds is the variable's value, whatever it holds; two variables in one go, numbers as text."""
    tags = {"app.tenant": "{{ user_group.properties.tenant }}", "app.plan_1.of": "{{ user_group.properties.plan }}"}
    directory.add(1, reader, session=tuple(tags.items()))
    sql = "select current_setting('app.tenant') as tenant, current_setting('app.plan_1.of') as plan"
    rows = await open_sources().fetch(member("acme", tenant=value, plan=7), "main", sql)
    assert rows == [{"tenant": value, "plan": "7"}]


async def test_a_role_that_no_policy_holds_is_refused(
    reader: str, postgres, directory: Directory, open_sources
) -> None:
    """A superuser, BYPASSRLS, and an owner without ``force``: the variables would filter nothing, so nothing is run.
    Red without the check: the superuser saw both tenants."""
    admin = urlunsplit(urlsplit(reader)._replace(netloc=urlsplit(postgres.url).netloc))
    role = urlsplit(reader).username
    directory.add(1, admin, session=SESSION)
    with pytest.raises(InvalidSource, match="row-level security does not apply to the role"):
        await owners(open_sources(), "acme")
    directory.registered.clear()
    directory.add(1, reader, session=SESSION)
    for given, taken in (
        (f"alter role {role} bypassrls", f"alter role {role} nobypassrls"),
        (
            f"alter table orders no force row level security; alter table orders owner to {role}",
            "alter table orders force row level security",
        ),
    ):
        postgres.execute(given, url=admin)
        with pytest.raises(InvalidSource, match="owns no table without `force row level security`"):
            await owners(open_sources(), "acme")
        postgres.execute(taken, url=admin)
        assert await owners(open_sources(), "acme") == {"acme"}


async def test_engines_without_session_variables_refuse_them(directory: Directory, open_sources, tmp_path) -> None:
    """Also where the row of the store is older than the rule: the source is not opened."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"), session=SESSION)
    with pytest.raises(InvalidSource, match="session variables need PostgreSQL"):
        await open_sources().fetch(member("acme"), "main", "select * from orders", {})


@pytest.mark.parametrize(
    "url",
    ["sqlite:////a.db", "duckdb:////a.db", "mysql://u@h/d", "mariadb://u@h/d", "snowflake://u@a/d", "", "csv:///x"],
)
def test_only_postgresql_takes_the_declaration(url: str) -> None:
    """A SQLite or MySQL source would ignore it, and the second wall would not be there."""
    with pytest.raises(InvalidSource, match="need PostgreSQL"):
        check_session_variables(url, dict(SESSION))
    assert check_session_variables(url, {}) == ()


@pytest.mark.parametrize(
    ("name", "tag", "match"),
    [
        ("role", "{{ user_group.id }}", "cannot name a session variable"),
        ("search_path", "{{ user_group.id }}", "cannot name"),
        ("statement_timeout", "{{ user_group.id }}", "cannot name"),
        ("app.Tenant", "{{ user_group.id }}", "cannot name"),
        ("app.", "{{ user_group.id }}", "cannot name"),
        (".tenant", "{{ user_group.id }}", "cannot name"),
        ("app.te nant", "{{ user_group.id }}", "cannot name"),
        ("app.t'", "{{ user_group.id }}", "cannot name"),
        ("app.tenant\n", "{{ user_group.id }}", "cannot name"),
        ("", "{{ user_group.id }}", "cannot name"),
        ("plpgsql.extra_errors", "{{ user_group.id }}", "is a setting of the server"),
        ("pg_stat_statements.track", "{{ user_group.id }}", "is a setting of the server"),
        ("auto_explain.log_min_duration", "{{ user_group.id }}", "is a setting of the server"),
        ("app.tenant", "{{ params.tenant }}", "one variable of the group"),
        ("app.tenant", "{{ region }}", "one variable of the group"),
        ("app.tenant", "{{ user_group }}", "one variable of the group"),
        ("app.tenant", "acme", "one variable of the group"),
        ("app.tenant", "{{ user_group.id }}{{ user_group.name }}", "one variable of the group"),
        ("app.tenant", "{{ user_group.id }}', true), set_config('role', 'x", "one variable of the group"),
        ("app.tenant", "{{ user_group.id | json }}", "one variable of the group"),
        ("app.tenant", "{{ user_group.__class__ }}", "one variable of the group"),
        ("app.tenant", "", "one variable of the group"),
    ],
)
def test_names_and_values_are_checked(name: str, tag: str, match: str) -> None:
    """A name is a custom one, a value is one variable of the group and nothing of a viewer's."""
    with pytest.raises(InvalidSource, match=match):
        check_session_variables("postgresql://u@h/d", {name: tag})


def test_a_session_variable_may_read_the_viewer() -> None:
    """And a query without a viewer does not run. Red if the variable is that of another request, or unset."""
    session = check_session_variables("postgresql://u@h/d", {"app.viewer": "{{ viewer.id }}"})
    template = SessionTemplate(RegisteredSource("ds_1", "own_1", PRODUCTION, "postgresql://u@h/d", session=session))
    assert template.bind(member("acme").with_viewer(make_viewer())).params == ("ada",)
    with pytest.raises(MissingVariable, match=r"viewer\.id; the query was not run"):
        template.bind(member("acme"))


def test_a_declaration_is_spelled_one_way() -> None:
    """So that it is compared, shown and stored alike; its order stays. One name twice is refused."""
    pairs = [("b.x", " {{user_group.properties.a.b}} "), ("a.x", "{{  user_group.id }}")]
    checked = (("b.x", "{{ user_group.properties.a.b }}"), ("a.x", "{{ user_group.id }}"))
    assert check_session_variables("postgresql+psycopg://u@h/d", pairs) == checked
    assert check_session_variables("postgres://u@h/d", dict(checked)) == checked
    with pytest.raises(InvalidSource, match="declared twice"):
        check_session_variables("postgresql://u@h/d", [*SESSION, *SESSION])


@pytest.fixture(scope="module")
def one_connection(reader: str) -> Iterator[PgBouncer]:
    """Transaction mode with one server process for everybody: whatever a query leaves is there for the next group."""
    require(*PACKAGES)
    with pooled(reader, "transaction", "default_pool_size = 1") as pooler:
        yield pooler


async def test_the_same_through_a_pooler_of_transactions(
    reader: str, one_connection: PgBouncer, directory: Directory, open_sources
) -> None:
    """The variables are set in the transaction of the query, so the one server process that all clients share holds
    none of them afterwards. Red when they were set for the session, before the transaction."""
    directory.add(1, one_connection.url(reader), session=SESSION)
    directory.add(2, one_connection.url(reader))
    sources = open_sources(pool_size=4, connect_timeout=120)
    names = ["acme", "globex"] * 20
    found = await asyncio.gather(*(owners(sources, name, f"{ALL} -- {n}") for n, name in enumerate(names)))
    assert found == [{name} for name in names]
    rest = await sources.fetch(group(main="ds_2"), "main", "select current_setting('app.tenant', true) as t", {})
    assert not rest[0]["t"]


async def test_a_cache_never_gives_one_group_the_rows_of_another(
    reader: str, directory: Directory, open_sources, tmp_path
) -> None:
    """The canary: a cache by fingerprint, a template without a variable, two groups. Where policies choose the rows,
    each group has an entry of its own; where nothing of a group is read, they share one. Red when the session
    variables did not count as read: globex was given acme's rows."""
    directory.add(1, reader, session=SESSION)
    directory.add(2, sqlite_file(tmp_path / "shared.db", "everybody"))
    sources = open_sources()
    cache: dict[str, list[dict[str, object]]] = {}

    async def cached(name: str, schema: str, sql: str) -> set[str]:
        asking = replace(member(name), mapping=freeze({"main": "ds_1", "public": "ds_2"}))
        key = await sources.fingerprint(asking, schema, sql, {})
        if key not in cache:
            cache[key] = await sources.fetch(asking, schema, sql, {})
        return {str(value) for row in cache[key] for value in row.values()}

    assert await cached("acme", "main", "select tenant from orders") == {"acme"}
    assert await cached("globex", "main", "select tenant from orders") == {"globex"}
    assert len(cache) == 2
    for name in ("acme", "globex", "acme"):
        assert await cached(name, "public", "select owner from orders") == {"everybody"}
    assert len(cache) == 3


async def test_twenty_viewers_of_twenty_equal_panels(sources: DataSources) -> None:
    """Of one group: 20 executions and no error, though its policies choose the rows. Red without flights: 400."""
    panels = [f"select tenant from orders where {number} = {number} limit 1" for number in range(20)]
    found = await asyncio.gather(*(owners(sources, "acme", panel) for _ in range(20) for panel in panels))
    assert found == [{"acme"}] * 400
    assert (executed(sources), joined(sources), stopped(sources)) == (20, 380, 0)


@pytest.mark.parametrize("at_once", [True, False], ids=["flights", "cache"])
@pytest.mark.parametrize("broken", [False, True], ids=["", "control"])
async def test_a_group_whose_policies_choose_never_shares(
    at_once: bool, broken: bool, reader: str, directory: Directory, open_sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The canary through the library's own flights and cache: one text that names no variable, two groups, the policies
    choose. The control has a key in which the session variables do not count: there both see the first one's rows.

    Red when the fingerprint of the library leaves them out as the control's does.
    """
    if broken:
        own = BoundSQL.fingerprint
        monkeypatch.setattr(BoundSQL, "fingerprint", lambda self, **given: own(self, **{**given, "session": None}))
    directory.add(1, reader, session=SESSION)
    sources = open_sources(cache=None if at_once else ResultCache(seconds=3_600), connect_timeout=120)
    names = ["acme", "globex"] * 5
    if at_once:
        found = await asyncio.gather(*(owners(sources, name) for name in names))
    else:
        found = [await owners(sources, name) for name in names]
    assert found == ([{"acme"}] * 10 if broken else [{name} for name in names])
    assert executed(sources) == (1 if broken else 2)


async def test_a_fingerprint_is_of_the_source_as_it_is_registered(directory: Directory, open_sources, tmp_path) -> None:
    """Another source, another file under the same id, another environment, other session variables and other guarded
    tables are other keys; so is another group with the same values, where any of them is read. Another password is the
    same database. Red when the revision leaves out the guarded tables."""
    sources = open_sources()
    one, other = (sqlite_file(tmp_path / f"{name}.db", name) for name in ("a", "b"))
    template = SQLTemplate("select * from orders where region = {{ region }}")
    seen: dict[str, str] = {}

    async def key(
        source: RegisteredSource, *, name: str = "acme", environment=PRODUCTION, sql: SQLTemplate | str = "select 1"
    ) -> str:
        directory.registered[:] = [source]
        asking = replace(group(name, environment=environment, main=source.id), handle=name.encode().ljust(8))
        return await sources.fingerprint(asking, "main", sql, {"region": "eu"})

    source = directory.add(1, one)
    seen["first"] = await key(source)
    seen["id"] = await key(replace(source, id="ds_9"))
    seen["file"] = await key(replace(source, url=other))
    seen["environment"] = await key(replace(source, environment=STAGING), environment=STAGING)
    seen["text"] = await key(source, sql="select 2")
    seen["acme"] = await key(source, sql=template)
    seen["globex"] = await key(source, sql=template, name="globex")
    server = replace(source, url="postgresql://u:secret@h/d")
    seen["server"] = await key(server)
    seen["option"] = await key(replace(source, url="postgresql://u:secret@h/d?options=-csearch_path%3Da"))
    seen["user"] = await key(replace(source, url="postgresql://v:secret@h/d"))
    seen["session"] = await key(replace(server, session=SESSION))
    seen["other session"] = await key(replace(server, session=(("app.tenant", "{{ user_group.name }}"),)))
    for number, tables in enumerate(('{"tables":{"orders":"region"}}', '{"tables":{"orders":"shared"}}')):
        seen[f"tables {number}"] = await key(replace(server, tables=tables))
    assert len(set(seen.values())) == len(seen)
    assert await key(source) == seen["first"] == await key(source, name="globex")
    assert await key(replace(server, url="postgresql://u:changed@h/d")) == seen["server"]


async def test_a_fingerprint_asks_for_what_the_query_needs(directory: Directory, open_sources, tmp_path) -> None:
    """It binds as ``fetch`` does: a missing variable has no key, and neither has another group's."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    sources = open_sources()
    with pytest.raises(MissingVariable):
        await sources.fingerprint(member("acme"), "main", "select {{ absent }} as x")
    with pytest.raises(ValueError, match="belong to another user group"):
        await sources.fingerprint(member("acme"), "main", "select 1", member("globex").variables)


async def test_a_database_that_is_gone_says_so(reader: str, directory: Directory, open_sources) -> None:
    """Session variables change nothing about that."""
    directory.add(1, urlunsplit(urlsplit(reader)._replace(path="/absent")), session=SESSION)
    with pytest.raises(SourceUnavailable):
        await owners(open_sources(), "acme")
