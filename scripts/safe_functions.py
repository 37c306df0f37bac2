"""Writes the lists of functions that guarded queries may call: ``python -m scripts.safe_functions``.

Each list is the catalogue of the real engine without the functions that read tables, files, settings or statistics,
take locks, or change something. A function that an engine adds later is refused until this script runs again.
"""

from __future__ import annotations

import re
import sqlite3
import textwrap
from collections.abc import Iterable
from contextlib import closing
from typing import Final, NamedTuple

import duckdb
import psycopg

from engines import clickhouse, mariadb, postgres
from scripts.distributions import ROOT

FOLDER: Final = ROOT / "src" / "tenantry" / "sql" / "guarding" / "function_lists"
_GENERATED: Final = "# scripts/safe_functions.py"


class Catalogue(NamedTuple):
    """The functions of one engine."""

    engine: str
    """Name and version."""
    functions: frozenset[str]
    aggregates: frozenset[str] = frozenset()
    """Aggregate functions of ClickHouse, which take combinators: ``sum`` and ``sumIf``."""


def main() -> None:
    """Start every engine and write the second half of its file."""
    with postgres.running() as server:
        _write("postgresql", of_postgresql(server.url))
    with mariadb.running() as database:
        _write("mariadb", of_mariadb(database))
    with clickhouse.running() as engine:
        _write("clickhouse", of_clickhouse(engine))
    _write("duckdb", of_duckdb())
    _write("sqlite", of_sqlite())


# --- PostgreSQL -------------------------------------------------------------------------------------------------------

_UNSAFE_TYPES: Final = """
    regclass regproc regprocedure regoper regoperator regtype regrole regnamespace regdictionary regcollation oid
    internal refcursor xid xid8 tid cid aclitem cstring pg_snapshot txid_snapshot pg_lsn
"""
_POSTGRESQL: Final = """
with f as (
  select proname as name, provolatile = 'i' as immutable,
    exists (select from unnest(proargtypes) t where t = any (%(types)s::regtype[]))
      or prorettype = any ('{internal,cstring,trigger,void,oid}'::regtype[]) as unsafe,
    coalesce(obj_description(oid, 'pg_proc') !~
      '^(implementation of|internal|I/O)|(internal)|transition|aggregate final', false) as documented
  from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname !~ '^pg_')
select name from f group by name
having bool_and(immutable and not unsafe) and bool_or(documented) or name = any (%(trusted)s)
"""
# They depend on settings, the clock or chance only. What reads catalogues, settings or sequences is not among them.
_TRUSTED_BY_POSTGRESQL: Final = """
    array_cat array_sample array_shuffle array_to_json array_to_string clock_timestamp concat concat_ws convert
    convert_from convert_to current_database current_schema date date_add date_part date_subtract date_trunc
    enum_first enum_last enum_range extract format gen_random_uuid generate_series in_range json_agg json_agg_strict
    json_build_array json_build_object json_object_agg json_object_agg_strict json_object_agg_unique
    json_object_agg_unique_strict json_populate_record json_populate_recordset json_to_record json_to_recordset
    json_to_tsvector jsonb_agg jsonb_agg_strict jsonb_build_array jsonb_build_object jsonb_path_exists_tz
    jsonb_path_match_tz jsonb_path_query_array_tz jsonb_path_query_first_tz jsonb_path_query_tz
    jsonb_populate_record jsonb_populate_record_valid jsonb_populate_recordset jsonb_to_record jsonb_to_recordset
    jsonb_to_tsvector length make_timestamptz max min money now numeric overlaps phraseto_tsquery plainto_tsquery
    quote_literal quote_nullable random random_normal row_to_json starts_with statement_timestamp time timeofday
    timestamp timestamptz timetz timezone to_char to_date to_json to_jsonb to_number to_timestamp to_tsquery
    to_tsvector transaction_timestamp ts_headline uuidv4 uuidv7 version websearch_to_tsquery xml_is_well_formed age
    int8
"""
_PLUMBING = re.compile(  # what indexes and aggregates are made of
    r".*(_cmp\w*|cmp|larger|smaller|_accum\w*|_combine|fn|_hash|_subdiff|_canonical|statefunc|extended|support)$"
    r"|(bt|gin_|gist_|spg_|hash|int\d+(inc|dec|_avg|_sum)|int2int4_sum|float8_|numeric_(exp|inc|ln|log|sqrt)|d(exp|log|round))"
    r"|(dtrunc|like_escape|notlike|similar_|xmlconcat2|xmlvalidate|inet_same|popen|pclose|textlen|dsqrt).*"
)


def of_postgresql(url: str) -> Catalogue:
    with psycopg.connect(url) as connection:
        given = {"types": _UNSAFE_TYPES.split(), "trusted": _TRUSTED_BY_POSTGRESQL.split()}
        names = {name for (name,) in connection.execute(_POSTGRESQL, given)}
        version = connection.info.server_version // 10_000
    return Catalogue(f"PostgreSQL {version}", frozenset(name for name in names if not _PLUMBING.match(name)))


# --- SQLite -----------------------------------------------------------------------------------------------------------

_UNSAFE_IN_SQLITE: Final = re.compile(
    r"(sqlite_|fts|rtree|load_extension|edit$|readfile|writefile|(last_insert_rowid|changes|total_changes|subtype)$"
    r"|(match|matchinfo|optimize|offsets|snippet|highlight|bm25)$)"  # of full-text tables
)


def of_sqlite() -> Catalogue:
    with closing(sqlite3.connect(":memory:")) as connection:
        names = {name for (name,) in connection.execute("select name from pragma_function_list where builtin")}
    return Catalogue(f"SQLite {sqlite3.sqlite_version}", _safe(names, _UNSAFE_IN_SQLITE))


# --- DuckDB -----------------------------------------------------------------------------------------------------------

_UNSAFE_IN_DUCKDB: Final = re.compile(
    r"(pg_|has_|inet_|__|collate_|icu_|json_(de)?serialize|json_execute|parse_duckdb|in_search_path|write_log|sleep"
    r"|.*(query|setting|variable|description|connection_id|transaction_id|query_id|block_size)"
    r"|(session_user|user|current_(role|user|catalog|schemas)|txid_current|setseed|nextval|currval|setval)$"
    r"|(stats|index_key|vector_type|map_to_pg_oid|format_pg_type)$)"  # the first two read what the table holds
)


def of_duckdb() -> Catalogue:
    kinds = "select distinct function_name from duckdb_functions() where internal and function_type in"
    with closing(duckdb.connect()) as connection:
        found = connection.execute(f"{kinds} ('scalar', 'aggregate', 'window', 'macro')").fetchall()
    names = {name for (name,) in found if re.fullmatch("[a-zA-Z]\\w*", name)}
    return Catalogue(f"DuckDB {duckdb.__version__}", _safe(names, _UNSAFE_IN_DUCKDB))


# --- MariaDB ----------------------------------------------------------------------------------------------------------

_UNSAFE_IN_MARIADB: Final = re.compile(
    r"(load_file|sleep|benchmark|get_lock|release_|is_free_lock|is_used_lock|master_|wsrep_|binlog_)"
    r"|(last_insert_id|found_rows|row_count|connection_id|session_user|system_user|schemas|(old_)?password)$"
)


def of_mariadb(server: mariadb.MariaDB) -> Catalogue:
    names = {name for (name,) in server.execute("select lower(function) from information_schema.sql_functions")}
    ((version,),) = server.execute("select version()")
    return Catalogue(f"MariaDB {version.split('-')[0]}", _safe(names, _UNSAFE_IN_MARIADB))


# --- ClickHouse -------------------------------------------------------------------------------------------------------

_UNSAFE_CATEGORIES: Final = {
    "AI",
    "Dictionary",
    "Embedded Dictionary",
    "Internal",
    "Introspection",
    "Machine Learning",
    "Natural Language Processing",
    "Time Series",
    "UDF",
}
_OTHER: Final = """
    bar byteSize countDigits digits defaultValueOfArgumentType defaultValueOfTypeName finalizeAggregation
    formatReadableDecimalSize formatReadableQuantity formatReadableSize formatReadableTimeDelta getSizeOfEnumType
    getSubcolumn identity ignore initializeAggregation isConstant isDecimalOverflow MACNumToString MACStringToNum
    MACStringToOUI materialize minSampleSizeContinuous minSampleSizeConversion parseISO8601Duration
    parseReadableSize parseReadableSizeOrNull parseReadableSizeOrZero parseTimeDelta throwIf toTypeName transform
    variantElement variantType version visibleWidth currentDatabase
"""
_UNSAFE_IN_CLICKHOUSE: Final = re.compile(
    r"(dict|joinget|hascolumnin|region|ai[A-Z]|chdb|flamegraph|__|timeseries|evalml|sleep|file|catboost)"
    r"|(global)?(not)?(null)?in(ignoreset)?$"  # a name after them is a table
)


def of_clickhouse(engine: clickhouse.ClickHouse) -> Catalogue:
    sql = (
        "select name, is_aggregate, if(alias_to = '', name, alias_to) as original, toString(categories)"
        " from system.functions where origin = 'System'"
    )
    rows = engine.query(sql)
    category = {name: kind for name, _, _, kind in rows if kind}
    other = set(_OTHER.split())
    safe = [
        (name.lower(), bool(aggregate))
        for name, aggregate, original, _ in rows
        if re.fullmatch("[a-zA-Z]\\w*", name)
        and category.get(original, "Other") not in _UNSAFE_CATEGORIES
        and (category.get(original, "Other") != "Other" or original in other)
        and not _UNSAFE_IN_CLICKHOUSE.match(original.lower())
    ]
    ((version,),) = engine.query("select version()")
    aggregates = frozenset(name for name, aggregate in safe if aggregate)
    functions = frozenset(name for name, aggregate in safe if not aggregate)
    return Catalogue(f"ClickHouse {version}", functions, aggregates)


# --- writing ----------------------------------------------------------------------------------------------------------


def _safe(names: Iterable[str], unsafe: re.Pattern[str]) -> frozenset[str]:
    lower = {name.lower() for name in names}
    return frozenset(name for name in lower if re.fullmatch(r"[a-z]\w*", name) and not unsafe.match(name))


def _write(dialect: str, catalogue: Catalogue) -> None:
    file = FOLDER / f"{dialect}.toml"
    by_hand = file.read_text("utf-8").partition(_GENERATED)[0]
    lists = {"functions": catalogue.functions, "aggregates": catalogue.aggregates}
    parts = [f"{_GENERATED} writes the rest, from the catalogue of {catalogue.engine}."]
    parts += [f'{name} = """\n{_lines(names)}\n"""' for name, names in lists.items() if names]
    file.write_text(by_hand + "\n\n".join(parts) + "\n", "utf-8")
    print(f"{dialect}: {len(catalogue.functions | catalogue.aggregates)} functions of {catalogue.engine}")


def _lines(names: frozenset[str]) -> str:
    return textwrap.fill(" ".join(sorted(names)), 120, initial_indent=" " * 4, subsequent_indent=" " * 4)


if __name__ == "__main__":
    main()
