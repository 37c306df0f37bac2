"""The functions that a guarded query may call, because no engine lets them read a table.

Every other function is refused: a macro, a stored function or an extension's function may read a table that the query
does not name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Final

from tenantry.sql.dialects import Dialect
from tenantry.sql.guarding.function_lists import clickhouse, duckdb, mariadb, postgresql, sqlite


def safe_functions(dialect: Dialect) -> frozenset[str] | None:
    """Return the functions, in lower case, or None if the dialect's engine was not asked for its functions."""
    return _safe_functions(dialect.name)


def safe_table_functions(dialect: Dialect) -> frozenset[str] | None:
    """Return the functions that ``from`` may call, in lower case, or None as ``safe_functions`` does."""
    return _TABLE_FUNCTIONS.get(dialect.name)


@cache
def _safe_functions(dialect: str) -> frozenset[str] | None:
    catalogue = _CATALOGUES.get(dialect)
    return None if catalogue is None else catalogue() | _SYNTAX[dialect]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# In MySQL a name that only MariaDB has could be a stored function.
_MARIADB_ONLY: Final = _names("""
    add_months chr column_check column_exists column_json column_list concat_operator_oracle crc32c decode
    decode_histogram decode_oracle des_decrypt des_encrypt encode encrypt json_compact json_detailed json_equals
    json_exists json_loose json_normalize json_query lengthb lpad_oracle ltrim_oracle median natural_sort_key nvl nvl2
    percentile_cont percentile_disc replace_oracle rpad_oracle rtrim_oracle sformat substr_oracle sys_guid to_char
    trim_oracle
""")
_MYSQL_ONLY: Final = _names("""
    any_value bin_to_uuid format_bytes format_pico_time grouping is_uuid json_schema_valid
    json_schema_validation_report json_storage_size json_value random_bytes regexp_like uuid_to_bin weight_string
""")

# Aggregate functions of ClickHouse take these suffixes: sumIf, sumOrNullIf, sumIfState.
_COMBINATORS: Final = (
    *("if", "array", "map", "distinct", "ornull", "ordefault", "state", "merge", "foreach", "resample", "simplestate"),
    *("argmin", "argmax"),
)


def _with_combinators(aggregates: Iterable[str]) -> frozenset[str]:
    suffixes = {"", *_COMBINATORS, *(f"{each}if" for each in _COMBINATORS), *(f"if{each}" for each in _COMBINATORS)}
    return frozenset(map("".join, product(aggregates, suffixes)))


_CATALOGUES: Final[dict[str, Callable[[], frozenset[str]]]] = {
    "postgresql": lambda: _names(postgresql.FUNCTIONS),
    "sqlite": lambda: _names(sqlite.FUNCTIONS),
    "duckdb": lambda: _names(duckdb.FUNCTIONS),
    "mariadb": lambda: _names(mariadb.FUNCTIONS),
    "mysql": lambda: _names(mariadb.FUNCTIONS) - _MARIADB_ONLY | _MYSQL_ONLY,
    "clickhouse": lambda: _names(clickhouse.FUNCTIONS) | _with_combinators(_names(clickhouse.AGGREGATES)),
}

# What is written as a function and is not in the engine's catalogue.
_COMMON: Final = _names("cast coalesce nullif")
_MYSQL_SYNTAX: Final = _COMMON | _names("""
    adddate ascii char convert curdate current_date current_time current_timestamp curtime date date_add date_sub day
    dense_rank extract get_format group_concat hour if insert interval left localtime localtimestamp minute mod month
    now position quarter repeat replace right row_number second subdate substring time timestamp timestampadd
    timestampdiff trim truncate utc_date utc_time utc_timestamp week year
""")
_SYNTAX: Final = {
    "postgresql": _COMMON
    | _names("""
        current_time current_timestamp extract greatest grouping json json_array json_arrayagg json_exists
        json_objectagg json_query json_scalar json_serialize json_value least localtime localtimestamp row treat trim
        xmlconcat xmlelement xmlforest xmlparse xmlpi xmlroot xmlserialize
    """),
    # These are of newer releases than the one that was asked.
    "sqlite": _COMMON
    | _names("""
        concat concat_ws if json_error_position jsonb median octet_length percentile string_agg timediff unhex unistr
    """),
    "duckdb": _COMMON | _names("columns date extract grouping grouping_id ifnull trim try try_cast unnest"),
    "mysql": _MYSQL_SYNTAX,
    "mariadb": _MYSQL_SYNTAX,
    "clickhouse": _COMMON | _names("date_add date_sub dateadd extract datesub grouping timestampadd timestampsub"),
}
_TABLE_FUNCTIONS: Final = {
    "postgresql": _names("""
        generate_series generate_subscripts json_array_elements json_array_elements_text json_each json_each_text
        json_object_keys json_populate_record json_populate_recordset json_table json_to_record json_to_recordset
        jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys jsonb_path_query
        jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset jsonb_to_record jsonb_to_recordset
        regexp_matches regexp_split_to_table string_to_table unnest xmltable
    """),
    "sqlite": _names("json_each json_tree"),
    "duckdb": _names("generate_series json_each json_tree range repeat repeat_row unnest"),
    "mysql": _names("json_table"),
    "mariadb": _names("json_table"),
    "clickhouse": _names(
        "format generate_series generaterandom generateseries numbers numbers_mt primes values zeros zeros_mt"
    ),
}
