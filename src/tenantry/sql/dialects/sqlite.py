"""SQLite: the rules come from SQLite's tokenize.c."""

from __future__ import annotations

from datetime import date

from tenantry.sql.dialects.dialect import Dialect, Identifiers, function_names, naive_utc, seconds

_FUNCTIONS = """
    load_extension fts3_tokenizer eval edit readfile writefile fsdir zipfile sha1_query sha3_query next_char
    sqlproc_* storedproc_*
"""

DIALECT = Dialect(
    name="sqlite",
    paramstyle="qmark",
    prefixes="[xX]",
    bracket_names=True,
    native_markers=frozenset("?:@$"),
    is_takes_value=True,
    equal_values_are_one=True,
    identifiers=Identifiers.IGNORES_CASE,
    row_ids=frozenset({"rowid", "oid", "_rowid_"}),
    dynamic_functions=function_names(_FUNCTIONS),
    empty_in="in ()",
    empty_not_in="not in ()",
    null_safe_equal="{left} is {right}",
    # With the column on the right, a query that filters by this column uses the index for its own filter, and SQLite
    # evaluates the guard once. With the column on the left, SQLite compared the guard with each row.
    exact_equal="{value} = {column} and cast({column} as blob) = cast({value} as blob)",
    casts={"text": "text", "integer": "integer", "decimal": "numeric", "boolean": "integer", "date": "text"},
    bind_as={
        "decimal": float,
        "date": date.isoformat,
        "datetime": lambda moment: naive_utc(moment).isoformat(sep=" "),
        "uuid": str,
        "interval": seconds,
    },
    day_of="substr({column}, 1, 10)",  # the date as written, since `>=` and `<` ignore zones too
    # The buckets are strings such as 2026-01-31 12:00:00, the form that SQLite's functions return. `weekday 0` moves to
    # the next Sunday unless the day is a Sunday.
    time_buckets={
        "second": "strftime('%Y-%m-%d %H:%M:%S', {column})",
        "minute": "strftime('%Y-%m-%d %H:%M:00', {column})",
        "hour": "strftime('%Y-%m-%d %H:00:00', {column})",
        "day": "date({column})",
        "week": "date({column}, 'weekday 0', '-6 days')",
        "month": "date({column}, 'start of month')",
        "quarter": "date({column}, 'start of month', ((1 - strftime('%m', {column})) % 3) || ' months')",
        "year": "date({column}, 'start of year')",
    },
    weeks_from_sunday="date({column}, '-6 days', 'weekday 0')",
    is_date="length({column}) = 10",
    instant="datetime({column})",
    # ``engines/sqlite.py`` adds these functions to each connection.
    local_days="tenantry_local_time({column}, {zone})",
    local_starts="tenantry_zoned_start({start}, {column}, {zone})",
)
