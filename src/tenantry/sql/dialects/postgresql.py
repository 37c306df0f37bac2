"""PostgreSQL: the rules come from PostgreSQL's scan.l. Tests compare the rules with a server."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import (
    TAGGED_DOLLARS,
    UNICODE_NAMES,
    Dialect,
    Identifiers,
    for_each_unit,
    function_names,
)

_FUNCTIONS = """
    query_to_xml* table_to_xml* schema_to_xml* database_to_xml* cursor_to_xml* ts_stat ts_rewrite
    pg_read_file* pg_read_binary_file* pg_ls_dir pg_stat_file lo_import lo_export
"""
_EXTENSIONS = """
    dblink* crosstab* connectby xpath_table pg_file_* get_raw_page st_mapalgebra* _st_mapalgebra*
    pgr_* _pgr_* run_command_on_* master_run_on_worker create_intermediate_result broadcast_intermediate_result
    worker_partition_query_result worker_apply_* replicate_ddl_command schedule_in_database raw_query
    pg_background_launch query_export_to_s3
    clickhouse_raw_query jdbc_exec oracle_execute execute_internally
"""
# A function takes a row if its argument has a composite type, a domain over a composite type, or one of these
# pseudo-types. Functions of extensions are trusted: hstore and PostGIS have some that take any row. A search_path could
# be set later, so every schema counts.
_ROW_FUNCTIONS = """
    select distinct p.proname as name
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_type a on a.oid in (p.proargtypes[0], p.provariadic)
    where n.nspname not in ('pg_catalog', 'information_schema') and p.prokind <> 'p'
    and p.pronargs - p.pronargdefaults <= 1
    and (a.typcategory = 'C' or a.typname in
      ('record', 'any', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray'))
    and pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_function_privilege(p.oid, 'execute')
    and not exists (select 1 from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
"""

# The hour began as long before the instant as `start` is before the local time, unless clocks were changed in between.
# Only Lord Howe changes its clocks in the middle of an hour: there, the difference of the two clock times is added.
_BEGUN = "(({instant}) - (({local}) - {start}))"
_SHOWN = f"({_BEGUN} at time zone {{zone}})"

DIALECT = Dialect(
    name="postgresql",
    paramstyle="numeric_dollar",
    escape_prefixes="eE",
    prefixes="[eE]|[uU]&|[bBnNxX]",
    line_end=r"\r\n",
    nested_comments=True,
    dollar_quotes=TAGGED_DOLLARS,
    backticks=False,
    arrays=True,
    native_markers=frozenset("$"),
    identifiers=Identifiers.FOLDS_LOWER,
    sqlglot_name="postgres",
    dynamic_functions=function_names(_FUNCTIONS + _EXTENSIONS, attributes=True, escaped_names=UNICODE_NAMES),
    row_functions=_ROW_FUNCTIONS,
    # operator(=) has the precedence of `in`; a bare `=` has another. '{}' takes the array type of the left side. An
    # empty array leaves nothing to compare, so NULL on the left gives false or true, not NULL.
    empty_in="operator(=) any ('{}')",
    empty_not_in="operator(<>) all ('{}')",
    array_parameter="{placeholder}",
    json_parameter="cast({placeholder} as jsonb)",
    types_placeholders=True,
    casts={
        "text": "text",
        "integer": "bigint",
        "decimal": "numeric",
        "boolean": "boolean",
        "date": "date",
        "datetime": "timestamptz",
        "uuid": "uuid",
        "interval": "interval",
    },
    time_buckets=for_each_unit("date_trunc('{unit}', {column})"),
    is_date="cast(pg_typeof({column}) as text) = 'date'",
    # Whatever the zone of the session, a column without a time zone is in UTC.
    instant=(
        "case when cast(pg_typeof({column}) as text) = 'timestamp without time zone'"
        " then cast({column} as timestamp) at time zone 'UTC' else cast({column} as timestamptz) end"
    ),
    local_time="cast({column} as timestamptz) at time zone {zone}",
    local_starts=(
        "case when {is_date} then cast({column} as timestamp) at time zone {zone}"
        " when {zone} in ('Australia/Lord_Howe', 'Australia/LHI')"
        f" then {_BEGUN} + greatest({{start}} - {_SHOWN}, {_SHOWN} - {{start}})"
        f" else {_BEGUN} end"
    ),
)
