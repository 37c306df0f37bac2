"""What shows secrets of a database server is refused to authors, on the real engines; ordinary queries run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.clickhouse_http import ClickHouseServer
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.datasources import DataSources, Limits
from tenantry.errors import PrivateNameUsed
from tenantry.sql.private_names import find_private_name
from tests.datasources.conftest import Directory, group
from tests.datasources.databases import create_database
from tests.sql.test_wild_queries import WRITTEN, bind

TABLE = ("create table orders (id integer, pg_rating integer)", "insert into orders values (1, 5)")
LIMITS = Limits(connect_timeout=60.0)

SECRETS = {
    "postgresql": {
        "pg_authid": "select rolname, rolpassword from pg_authid",
        "pg_shadow": 'select * from PG_CATALOG /* the users */ . "pg_shadow"',
        "pg_stat_activity": "with a as (select query from pg_stat_activity) select * from a",
        "pg_settings": "select setting from pg_settings where name = 'data_directory'",
        "pg_file_settings": "select * from pg_catalog.pg_file_settings",
        "pg_hba_file_rules": "table pg_hba_file_rules",
        "pg_database": "select datname from only pg_database",
        "pg_stat_replication": "select * from pg_stat_replication",
        "pg_replication_slots": "select 1 as a where exists (select 1 from pg_replication_slots)",
        "pg_user_mappings": "select * from pg_user_mappings",
        "pg_proc": "select prosrc from pg_proc limit 1",
        "pg_auth_members": "select * from orders join pg_auth_members on true",
        "information_schema.role_table_grants": "select * from information_schema.role_table_grants limit 1",
        "information_schema._pg_user_mappings": 'select * from "information_schema"._pg_user_mappings',
        "current_setting()": "select current_setting('data_directory') as a",
        "pg_current_logfile": "select pg_current_logfile() as a",
        "pg_ls_waldir": "select * from pg_ls_waldir() limit 1",
        "pg_read_file": "select pg_read_file('PG_VERSION') as a",
        "has_table_privilege()": "select has_table_privilege('pg_authid', 'select') as a",
        "show data_directory": "show data_directory",
        "show all": "show all",
        "regrole": "select oid::regrole::text as a from generate_series(10, 12) as oid",
        "_regrole": "select '{10}'::_regrole::text as a",
        "to_regrole": "select to_regrole('pg_monitor')::oid as a",
        "makeaclitem": "select makeaclitem(10, 10, 'SELECT', false)::text as a",
        "pg_class": "select c::text from pg_class c where relacl is not null limit 1",
        "pg_namespace": "select nspacl::text as a from pg_namespace where nspacl is not null",
        "pg_tables": "select tableowner from pg_tables limit 1",
        "pg_get_userbyid": "select (10::oid).pg_get_userbyid as a",
        "pg_stat_get_activity": "select (x).* from (select (null::int).pg_stat_get_activity) x(x)",
        "pg_advisory_lock_shared": "select a[1].pg_advisory_lock_shared from (select array[1::bigint] as a) x",
        "pg_input_is_valid": "select pg_input_is_valid('postgres', 'regrole') as a",
        "regroleout": "select regroleout(10)::text as a",
        "array_in()": "select array_in('{10}', 4096, -1)::text as a",
        "brin_summarize_new_values()": "select brin_summarize_new_values(1) as a where false",
    },
    "mariadb": {
        "mysql.user": "select user from mysql.user",
        "mysql.global_priv": "select priv from `mysql` -- the users\n. `global_priv`",
        "information_schema.processlist": "select info from INFORMATION_SCHEMA.PROCESSLIST",
        "information_schema.user_privileges": "select * from information_schema.user_privileges",
        "information_schema.global_variables": "select * from information_schema.global_variables limit 1",
        "information_schema.schemata": "select schema_name from information_schema.schemata",
        "information_schema.plugins": "select plugin_library from information_schema.plugins limit 1",
        "performance_schema.threads": "select * from performance_schema.threads limit 1",
        "@@datadir": "select @@datadir as a",
        "@@global": "select @@global.secure_file_priv as a",
        "show grants": "show grants",
        "show processlist": "show processlist",
        "show full processlist": "show /* all */ full processlist",
        "show all slaves": "show all slaves status",
        "show variables": "show variables",
        "show databases": "show databases",
        "show create": "show create table orders",
        "information_schema.views": "select definer from information_schema.views limit 1",
        "mysql": "show tables from mysql",
        "load_file()": "select load_file('/etc/passwd') as a",
        "is_used_lock()": "select is_used_lock('x') as a",
    },
    "sqlite": {
        "sqlite_compileoption_get": "select sqlite_compileoption_get(0) as a",
        "sqlite_compileoption_used": "select [sqlite_compileoption_used]('THREADSAFE') as a",
    },
    "duckdb": {
        "duckdb_settings": "from duckdb_settings()",
        "duckdb_databases": "select path from 'duckdb_databases'",
        "duckdb_logs": "select * from duckdb_logs",
        "pg_settings": "select * from pg_catalog.pg_settings",
        "pg_database": 'from "pg_database"',
        "pragma_database_list": "summarize pragma_database_list",
        "current_setting()": "select current_setting('home_directory') as a",
        "show databases": "from (show databases)",
        "show variables": "select 'a' as a union all by name show variables",
        "checkpoint()": "from checkpoint()",
        "pg_sequences": "from ('pg_sequences')",
        "pg_views": "select 1 as a from orders, b: 'pg_views'",
        "pg_tables": "pivot_wider 'pg_tables' on schemaname using count(*)",
        "truncate_duckdb_logs()": "from truncate_duckdb_logs()",
        "write_log()": "select 'x'.write_log() as a",
    },
    "clickhouse": {
        "system.processes": "select query from system . processes",
        "system.settings": 'select value from "system".settings limit 1',
        "system.server_settings": "select * from system.server_settings limit 1",
        "system.disks": "select path from system.disks",
        "system.databases": "select name from system.databases",
        "system.tables": "select data_paths from system.tables limit 1",
        "system.clusters": "select * from system.clusters",
        "system.replicas": "select * from system.replicas",
        "system.dictionaries": "select * from system.dictionaries",
        "system.named_collections": "select * from system.named_collections",
        "hostname()": "select hostName() as a",
        "logtrace()": "select logTrace('x') as a",
        "getsetting()": "select getSetting('max_threads') as a",
        "serveruuid()": "select serverUUID() as a",
        "show databases": "show databases",
        "show processlist": "show processlist",
        "system": "show tables from system",
    },
}
"""For each engine, queries that a data source of viewers sends, by the name that authors may not use."""

CALLED = {
    "pg_get_userbyid": "select x.pg_get_userbyid from generate_series(10, 12) x",
    "pg_encoding_max_length": "select (x.x).pg_encoding_max_length from (select 6 as x) x",
    "current_setting()": "select x.\"current_setting\" from unnest(array['data_directory']) x",
    "regrole": "select x.regrole::text as a from unnest(array[10::oid]) x",
}
"""Functions that PostgreSQL calls with the value before the dot, which may be the only column of a function."""

HIDDEN = {
    "redshift": {
        "svv_users": "select * from svv_users",
        "stl_query": "select querytxt from pg_catalog.stl_query",
    },
    "postgresql": {
        "aclitem": "select cast('=r/10' as pg_catalog.aclitem)::text",
        "query_to_xml()": "select query_to_xml('select * from pg_authid', true, true, '') as a",
        "a name in escapes": 'select * from U&"pg\\005fauthid"',
        "lo_get()": "select lo_get(1)",
        "set_config()": "select set_config('search_path', 'x', false)",
        "pg_ls_dir": "select pg_catalog.pg_ls_dir('/')",
        "SQL that cannot be read": "select 'open",
    },
    "mariadb": {
        "sys.version": "select * from sys.version",
        "information_schema.processlist": "select 1 from informat\u0131on_schema.proce\u017f\u017flist",
        "SQL that cannot be read": "select 1 /*!50000 , @@datadir */",
        "mysql.user": "describe mysql.user",
        "sys_exec()": "select sys_exec('id')",
        "ndbinfo.nodes": "select * from ndbinfo.nodes",
    },
    "sqlite": {
        "sqlite_dbpage": "select * from main.'sqlite_dbpage'",
        "load_extension()": "select load_extension('x')",
        "readfile()": "select readfile('/etc/passwd')",
    },
    "duckdb": {
        "enable_logging()": "from enable_logging()",
        "show schemas": "select 1 union show schemas",
        "show databases": "desc show databases",
        "force_checkpoint()": "call force_checkpoint()",
        "duckdb_extensions": "select install_path from duckdb_extensions()",
        "duckdb_secrets": "select * from duckdb_secrets()",
        "read_text()": "select * from read_text('/etc/passwd')",
        "glob()": "select * from glob('*')",
        "parquet_scan()": "from parquet_scan('x')",
        "getenv()": "select getenv('HOME')",
        "duckdb_databases": "from (summarize $a$duckdb_databases$a$)",
        "pragma_database_list": "summarize e'pragma_database_list'",
        "a name in escapes": "summarize e'duckdb\\x5flogs'",
        "show": "show $$duckdb_logs$$",
        "query()": "from query('from duckdb_settings()')",
        "pg_prepared_statements": r"from e'\pg_prepared_statements'",
        "pg_settings": "select * from orders, 'pg_settings'",
    },
    "clickhouse": {
        "show users": "show users",
        "viewexplain()": "select * from viewExplain('explain', '', (select 1))",
        "merge()": "select * from merge('system', '^users$')",
        "system.grants": "select * from `system`.`grants`",
        "system.users": "select name from system.users",
        "a name in escapes": "select * from `sys\\x74em`.users",
        "cluster()": "select * from cluster('default', 'system', 'users')",
        "mergetreeindex()": "select * from mergeTreeIndex('system', 'x')",
        "getclienthttpheader()": "select getClientHTTPHeader('Authorization')",
        "show create": "show create user default",
        "show full processlist": "show full processlist",
        "show full": "(show full)",
        "filesystemavailable()": "select filesystemAvailable()",
        "system": "exists database system",
    },
}
"""Further spellings and functions, which some versions of the engine do not have, or the driver does not send."""

ORDINARY = {
    "postgresql": (
        "select o.pg_rating, pg_typeof(o.id)::text as t from orders o",
        "select table_name from information_schema.tables where table_name = 'orders'",
        "select count(*) as n from pg_index",
        "select 'pg_authid' as a, '@@datadir' as b -- pg_authid",
        "select pg_size_pretty(pg_relation_size('orders')) as a",
        "select coalesce(pg_typeof(id)::text, 'pg_authid') as a from orders",
    ),
    "mariadb": (
        "select pg_rating from orders",
        "select table_name from information_schema.tables where table_name = 'orders'",
        "show tables",
        "show full columns from orders",
        "describe orders",
        "select 'mysql.user' as a -- @@datadir",
    ),
    "sqlite": (
        "select pg_rating from orders",
        "select name from sqlite_master",
    ),
    "duckdb": (
        "select table_name from duckdb_tables()",
        "describe orders",
        "show",
        "show all tables",
        "show tables",
        "summarize orders",
        "select column_name from information_schema.columns where table_name = 'orders'",
        'select distinct "show" from (select id as "show" from orders)',
        "select 'duckdb_settings' as a where 'pg_settings' <> 'x'",
        "select * from 'orders' \"o's\"",
    ),
    "clickhouse": (
        "select number from system.numbers limit 2",
        "select table_name from information_schema.tables limit 1",
        "select name from system.columns limit 1",
        "show tables from information_schema",
        "show full tables from information_schema",
        "select 1 as users",
    ),
}


@pytest.fixture
def urls(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A function that returns the URL of an engine with the table ``orders``."""

    def find(engine: str) -> str:
        if engine == "clickhouse":
            server: ClickHouseServer = request.getfixturevalue("clickhouse_server")
            return server.url("default")
        return create_database(engine, TABLE, tmp_path, request, scheme="mariadb")

    return find


@pytest.fixture
def opened(urls: Any, directory: Directory, open_sources: Any) -> Any:
    def open_(engine: str) -> DataSources:
        directory.add(1, urls(engine))
        sources: DataSources = open_sources()
        return sources

    return open_


@pytest.mark.parametrize("engine", SECRETS)
async def test_each_secret_is_refused_to_authors_and_no_other_query(engine: str, opened: Any) -> None:
    """The engine would answer each: it does for viewers' data sources. Red for each name that is taken out of the
    tables, and when ``bind_query`` checks nothing."""
    sources = opened(engine)
    authors = sources.for_authors(LIMITS)
    for name, sql in SECRETS[engine].items():
        await sources.fetch(group(main="ds_1"), "main", sql)
        with pytest.raises(PrivateNameUsed, match=r"^authors may not use ") as caught:
            await authors.fetch(group(main="ds_1"), "main", sql)
        assert (caught.value.name, caught.value.status) == (name, 422), sql
    for sql in ORDINARY[engine]:
        assert await authors.fetch(group(main="ds_1"), "main", sql), sql


@pytest.mark.parametrize(
    ("engine", "name", "sql"), [(e, *each) for e, found in HIDDEN.items() for each in found.items()]
)
async def test_each_spelling_is_refused(engine: str, name: str, sql: str) -> None:
    """Red without escapes, without folding beyond ASCII, and without the strings that name tables."""
    found = find_private_name(sql, engine)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("word", ["explain", "describe", "desc"])
def test_the_plan_of_another_connection_is_refused(word: str) -> None:
    """MySQL has three words for it. Red when one is missing."""
    found = find_private_name(f"{word} for connection 5", "mysql")
    assert found is not None
    assert found.name == "the plan of another connection"


def test_a_variable_of_the_server_is_found_where_it_begins() -> None:
    """The editor marks it there. Red with the place of the word before it."""
    assert find_private_name("select @@datadir", "mysql") == ("@@datadir", 7)


@pytest.mark.parametrize("sql", ["from 'p'\n'g_settings'", "from e'p'\n'g_settings'", "summarize 'p'\n'g_settings'"])
def test_strings_that_duckdb_joins_name_no_table(sql: str) -> None:
    """DuckDB 1.x reads strings on two lines as one. Red when each is looked up alone."""
    found = find_private_name(sql, "duckdb")
    assert found is not None
    assert found.name == "a name in escapes"
    assert find_private_name("select 'p' as a, 'g_settings' as b where 'a'\n= 'b'", "duckdb") is None


async def test_what_a_dot_calls_is_refused(opened: Any) -> None:
    """The engine would answer each. Red when each name after a dot counts as a column, and when only a value in
    parentheses counts as the argument of a function."""
    sources = opened("postgresql")
    for name, sql in CALLED.items():
        await sources.fetch(group(main="ds_1"), "main", sql)
        with pytest.raises(PrivateNameUsed) as caught:
            await sources.for_authors(LIMITS).fetch(group(main="ds_1"), "main", sql)
        assert caught.value.name == name, sql


async def test_chdb_has_the_names_of_clickhouse(tmp_path: Path, directory: Directory, open_sources: Any) -> None:
    """No connection is opened. Red when the tables are those of the engine's name and not of its dialect."""
    directory.add(1, f"chdb:///{tmp_path}")
    authors = open_sources().for_authors(LIMITS)
    for sql in SECRETS["clickhouse"].values():
        with pytest.raises(PrivateNameUsed):
            await authors.fetch(group(main="ds_1"), "main", sql)


async def test_streams_plans_and_wrapped_queries_are_checked_too(opened: Any) -> None:
    """Red when only ``query`` checks."""
    from tenantry.datasources import SchemaQuery
    from tenantry.datasources.checks.query_plans import PlanTemplate
    from tenantry.sql import SQLTemplate

    authors = opened("sqlite").for_authors(LIMITS)
    template = SQLTemplate("select sqlite_compileoption_get(0) as a")
    for asked in (SchemaQuery(template), PlanTemplate(template, "explain ")):
        with pytest.raises(PrivateNameUsed):
            await authors.query(group(main="ds_1"), "main", asked)
    with pytest.raises(PrivateNameUsed):
        await authors.stream(group(main="ds_1"), "main", template)


async def test_a_database_of_the_engine_is_no_source_for_authors(
    mariadb: MariaDB, directory: Directory, open_sources: Any
) -> None:
    """There a private table needs no schema. Red without the check of the URL."""
    directory.add(1, f"mariadb://root@127.0.0.1:{mariadb.port}/mysql")
    sources = open_sources()
    assert await sources.fetch(group(main="ds_1"), "main", "select user from user")
    with pytest.raises(PrivateNameUsed, match="its URL names the system database mysql"):
        await sources.for_authors(LIMITS).fetch(group(main="ds_1"), "main", "select user from user")


PRIVATE_COLUMNS = frozenset(
    {
        *("password", "passwd", "rolpassword", "authentication_string", "secret_string", "umoptions", "srvoptions"),
        *("setting", "sourcefile", "variable_value", "path", "data_path", "data_paths", "metadata_path", "directory"),
        *("query", "info", "usename", "user", "grantee", "client_addr", "host_name", "datname", "subconninfo"),
        *("acl", "tableowner", "viewowner", "matviewowner", "sequenceowner", "schema_owner"),
        *("install_path", "plugin_library", "file_name", "prosrc", "probin", "source", "ip_address"),
    }
)


def _relations(engine: str, request: pytest.FixtureRequest) -> Iterator[tuple[str, str, str]]:
    """Schema, table and column of all tables that the engine itself has."""
    if engine == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        found = postgres.execute(
            "select concat_ws(' ', n.nspname, c.relname, case when atttypid = 'aclitem[]'::regtype then 'acl' else"
            " a.attname end) from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute a on"
            " attrelid = c.oid where nspname in ('pg_catalog', 'information_schema') and relkind in ('r', 'v')"
            " and attnum > 0"
        )
        yield from (tuple(line.split()) for line in found.splitlines())  # type: ignore[misc]
    elif engine == "mariadb":
        mariadb: MariaDB = request.getfixturevalue("mariadb")
        yield from mariadb.execute(
            "select table_schema, table_name, column_name from information_schema.columns where table_schema in"
            " ('mysql', 'information_schema', 'performance_schema', 'sys')"
        )
    elif engine == "duckdb":
        import duckdb

        yield from duckdb.sql(
            "select schema_name, table_name, column_name from duckdb_columns() where internal"
        ).fetchall()
    else:
        yield from request.getfixturevalue("clickhouse").query(
            "select database, table, name from system.columns where database in ('system', 'information_schema')"
        )


@pytest.mark.parametrize("engine", ["postgresql", "mariadb", "duckdb", "clickhouse"])
def test_no_table_of_the_engine_that_authors_may_read_has_such_a_column(
    engine: str, request: pytest.FixtureRequest
) -> None:
    """All tables of the engine, also those of later versions. Red with ``pg_settings``, ``processlist``, or the prefix
    ``duckdb_`` public."""
    shown, hidden = set(), set()
    for schema, table, column in _relations(engine, request):
        quote = "`" if engine == "mariadb" else '"'
        private = find_private_name(f"select 1 from {schema}.{quote}{table}{quote}", engine)
        (hidden if private else shown).add((schema, table, column.lower()))
    assert {each[1] for each in hidden}
    assert {each[1] for each in shown}
    assert not {(schema, table, column) for schema, table, column in shown if column in PRIVATE_COLUMNS}


HARMLESS = {
    "postgresql": frozenset(
        (
            *("array_sample", "array_shuffle", "bernoulli", "system", "clock_timestamp", "timeofday", "random"),
            *(
                "random_normal",
                "gen_random_uuid",
                "uuidv4",
                "uuidv7",
                "amvalidate",
                "txid_status",
                "currval",
                "lastval",
            ),
            *(
                "current_query",
                "setseed",
                "dsnowball_init",
                "dsnowball_lexize",
            ),  # of the author's own query and connection
            *("nextval", "setval", "currtid2"),  # need the right to write, or to read the table
        )
    ),
    "duckdb": frozenset(
        (
            *("random", "uuid", "uuidv4", "uuidv7", "gen_random_uuid", "error", "sleep_ms", "stats", "vector_type"),
            *("current_connection_id", "current_query", "current_query_id", "current_transaction_id", "currval"),
            *("generate_series", "range", "repeat", "repeat_row", "unnest", "summary", "histogram", "json_each"),
            *("json_tree", "icu_calendar_names", "test_all_types", "test_vector_types", "duckdb_columns"),
            *("duckdb_constraints", "duckdb_functions", "duckdb_indexes", "duckdb_keywords", "duckdb_schemas"),
            *("duckdb_sequences", "duckdb_tables", "duckdb_types", "duckdb_views", "pg_timezone_names"),
            *("pragma_collations", "pragma_show", "pragma_table_info", "pragma_version"),
        )
    ),
}
"""Functions that an author may call, of those that can have side effects."""


HARMLESS_ATTRIBUTES = """
    pg_basetype pg_char_to_encoding pg_collation_actual_version pg_collation_for pg_column_compression pg_column_size
    pg_column_toast_chunk_id pg_encoding_max_length pg_encoding_to_char pg_get_constraintdef pg_get_indexdef
    pg_get_viewdef pg_indexes_size pg_is_other_temp_schema pg_lsn pg_lsn_hash pg_mcv_list_items pg_partition_ancestors
    pg_partition_root pg_partition_tree pg_relation_size pg_size_bytes pg_size_pretty pg_sleep pg_sleep_for
    pg_sleep_until pg_snapshot_xip pg_snapshot_xmax pg_snapshot_xmin pg_table_size pg_total_relation_size
    pg_typeof
"""
"""Functions that ``value.name`` may call."""


@pytest.mark.parametrize("engine", HARMLESS)
def test_each_function_that_may_act_is_refused_or_was_looked_at(engine: str, request: pytest.FixtureRequest) -> None:
    """The engine lists them; DuckDB does not say which of its table functions act. Red without ``checkpoint``, without
    ``brin_*``, and for a function of a later version of the engine until somebody has looked at it."""
    if engine == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        found = set(
            postgres.execute(
                "select proname from pg_proc where pronamespace = 'pg_catalog'::regnamespace and provolatile = 'v' and"
                " prorettype <> 'trigger'::regtype and proname !~ '^pg_|(handler|validator)$'"
            ).split()
        )
    else:
        import duckdb

        sql = (
            "select function_name from duckdb_functions() where internal and (has_side_effects or function_type in"
            " ('table', 'table_macro'))"
        )
        found = {str(name) for (name,) in duckdb.sql(sql).fetchall()}
    assert len(found) > 50
    allowed = {name for name in found if find_private_name(f"select * from {name}()", engine) is None}
    assert allowed - HARMLESS[engine] == set()


def test_each_function_that_a_dot_may_call_is_refused_or_was_looked_at(postgres: Postgres) -> None:
    """Of one argument, and named as the engine's own. Red without one of the beginnings in ``attributes``."""
    found = postgres.execute(
        "select distinct proname from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_' and"
        " pronargs > 0 and pronargs - pronargdefaults <= 1 and proname !~ '_(is_visible|in|out|recv|send)$'"
    ).split()
    assert len(found) > 100
    allowed = {name for name in found if find_private_name(f"select x.{name} from f() x", "postgresql") is None}
    assert allowed - {*HARMLESS_ATTRIBUTES.split()} == set()


def test_the_queries_of_the_corpus_have_no_private_name() -> None:
    """As people write them. Red when the words of strings and comments count, or every ``show``."""
    for _, spelling in WRITTEN:
        bound = bind(spelling)
        assert find_private_name(bound.sql, bound.dialect) is None, bound.sql


async def test_guard_required_holds_without_tables(tmp_path: Path, directory: Directory, open_sources: Any) -> None:
    """The right to read without guards does not count there. Red when WithoutTables takes every declaration away."""
    from tenantry.errors import TemplateError
    from tests.datasources.conftest import sqlite_file

    url = sqlite_file(tmp_path / "a.db", "acme")
    for guard, number in ((None, 1), ("required", 2)):
        tables = {"tables": {"orders": "owner"}} | ({} if guard is None else {"guard": guard})
        directory.add(number, url, tables=json.dumps(tables))
    unguarded = open_sources().for_authors(LIMITS, guarded=False)
    sql = "select count(*) as n from sqlite_master"
    assert await unguarded.fetch(group(main="ds_1"), "main", sql) == [{"n": 1}]
    with pytest.raises(TemplateError):
        await unguarded.fetch(group(main="ds_2"), "main", sql)
