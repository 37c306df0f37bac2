"""MySQL: the rules come from MySQL's sql_lex.cc."""

from __future__ import annotations

from tenantry.sql.dialects.dialect import Dialect, Identifiers, escapes, function_names, naive_utc, seconds

_FUNCTIONS = "load_file sys_eval sys_exec spider_direct_sql spider_bg_direct_sql spider_copy_tables"
_PROCEDURES = "execute_prepared_stmt create_synonym_db"  # procedures in the schema sys

DIALECT = Dialect(
    name="mysql",
    paramstyle="format",
    prefixes="[bBnNxX]",
    backslash=True,
    backslash_escapes=escapes("0bnrtZ", kept="%_"),
    other_escapes=True,
    double_is_string=True,
    hash_comment="#",
    dashes_need_space=True,
    executable_comments=True,
    or_operators=frozenset({"or", "||", "xor"}),  # `||` concatenates only with PIPES_AS_CONCAT
    and_operators=frozenset({"and", "&&"}),
    equal_values_are_one=True,
    interval_takes_value=True,
    identifiers=Identifiers.EXACT,
    name_quote="`",
    nested_with=False,
    dynamic_functions=function_names(f"{_FUNCTIONS} {_PROCEDURES}", prepares=True),
    empty_in="in (select null from dual where false)",
    empty_not_in="not in (select null from dual where false)",
    json_parameter="json_extract({placeholder}, '$')",  # MariaDB has no cast to JSON
    null_safe_equal="{left} <=> {right}",
    exact_equal=(
        "{column} = {value}"
        " and cast(convert({column} using utf8mb4) as binary) = cast(convert({value} using utf8mb4) as binary)"
    ),
    casts={"text": "char", "integer": "signed", "date": "date", "datetime": "datetime(6)", "uuid": "char(36)"},
    loose_texts=True,
    # concat() makes every value a string. Without concat(), the bound number 0 would equal each string that does not
    # begin with a digit. A string literal is not enough: through the index of a number column, '7abc' finds 7 and the
    # engine gives no warning. Only a warning makes the driver refuse the result.
    guarded_form="concat({placeholder})",
    bind_as={"datetime": naive_utc, "uuid": str, "interval": seconds},
    time_buckets={
        "second": "cast(date_format({column}, '%Y-%m-%d %H:%i:%s') as datetime)",
        "minute": "cast(date_format({column}, '%Y-%m-%d %H:%i:00') as datetime)",
        "hour": "cast(date_format({column}, '%Y-%m-%d %H:00:00') as datetime)",
        "day": "cast({column} as date)",
        "week": "(cast({column} as date) - interval weekday({column}) day)",
        "month": "cast(date_format({column}, '%Y-%m-01') as date)",
        "quarter": "(makedate(year({column}), 1) + interval quarter({column}) - 1 quarter)",
        "year": "makedate(year({column}), 1)",
    },
    weeks_from_sunday="(cast({column} as date) - interval dayofweek({column}) - 1 day)",
    is_date="length({column}) = 10",
    # A server whose time zone tables are empty gives NULL. Then this cast warns, and the driver treats the warning as
    # an error.
    local_days=(
        "case when {column} is null or length({column}) = 10 then cast({column} as datetime(6))"
        " else coalesce(convert_tz({column}, '+00:00', if({zone} = 'UTC', '+00:00', {zone})),"
        " cast(concat({zone}, ' is unknown') as datetime)) end"
    ),
    # The result is NULL for a named zone if the server's time zone tables are empty.
    local_time="convert_tz({column}, @@session.time_zone, {zone})",
)
