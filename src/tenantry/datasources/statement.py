"""Checks that SQL is one read-only statement, for engines that cannot check this."""

# The checks refuse SQL that a read-only transaction would allow (COPY … TO PROGRAM, DO, INTO OUTFILE), several
# statements, and SQL that different engines parse differently.

from __future__ import annotations

import re

from tenantry.sql import DIALECTS, cached_by_text, calls_any
from tenantry.sql.dialects import function_names

READING = frozenset({"select", "with", "values", "table", "explain", "show"})
READING_MYSQL = READING | {"describe", "desc"}
READING_DUCKDB = READING_MYSQL | {"from", "pivot", "pivot_wider", "pivot_longer", "unpivot", "summarize"}

SEVERAL = "it is several statements: run each in its own query"
NOTHING = "it contains no statement"
WRITES = (
    "the database refused it because it writes (`for update`, sequences and some functions write): a data source only "
    "reads"
)

_REASONS = {
    "which writes: a data source only reads": "insert update delete merge replace upsert truncate",
    "which changes the database: do that with a tool of the database, as another user": (
        "create alter drop rename comment grant revoke analyze analyse vacuum reindex cluster refresh optimize repair "
        "checkpoint checksum"
    ),
    "which changes the session: make the setting for the database user, or with the arguments of DataSources": (
        "set reset use discard"
    ),
    "which reads or changes settings: select from a table, or on DuckDB from pragma_table_info('t')": "pragma",
    "and each query runs in its own transaction: leave it out": (
        "begin start commit rollback savepoint release end abort"
    ),
    "which runs a procedure or a stored statement: write the query itself": "call do exec execute prepare deallocate",
    "which reads or writes files: query the tables": "copy load unload import export attach detach install",
    "which this engine does not have: select from information_schema.columns, or on SQLite from sqlite_schema": (
        "describe desc summarize"
    ),
    "which affects only later statements of a session, but a query is a single statement: leave it out": (
        "lock unlock listen unlisten notify declare fetch move close handler kill flush"
    ),
}
_SHOWN = 30  # an error shows this many characters of an unknown keyword
_REASON_OF = {keyword: reason for reason, keywords in _REASONS.items() for keyword in keywords.split()}

# In the patterns below, each string matches in only one way, so that a failed match takes linear time. The patterns
# have no possessive groups, because CPython before 3.11.5 matches these wrongly (gh-106052).

# Matches whitespace, comments and brackets before the first keyword. Does not match what engines read differently: a
# lone \r (ends a comment on some), a comment within a comment (only some nest), /*! … */ (MySQL runs it).
_START = re.compile(r"(?:[ \t\n\r\f\v(]|--[^\n\r]*(?:\r?\n|\Z)|/\*(?![!M])(?:(?!/\*|\*/).)*\*/)*([A-Za-z]+)", re.DOTALL)

UNCLEAR = (
    "its first keyword is unclear: begin with a keyword, and put no nested comment, no comment that an engine runs "
    "(/*! … */) and no lone carriage return before the keyword"
)
_MYSQL_QUOTED = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*+` | \#[^\n]*+ | --(?=[\s\x00-\x1f]|\Z)[^\n]*+
      | /\*(?!M?!)(?:(?!\*/).)*\*/""",
    re.DOTALL | re.VERBOSE,
)

_ASSIGNS = (
    "it assigns a user variable (:=), which the next query on this connection would read: use a window function, such "
    "as row_number() over (…) or sum(…) over (…)"
)
# Patterns of SQL to refuse, each with the reason. They are searched in this order, after strings, quoted names and
# comments are removed.
_MYSQL_REFUSED = (
    (
        re.compile(r"""['"`]|/\*"""),
        "it has an unclosed quote or comment, or a comment that MySQL runs (/*! … */)",
    ),
    (re.compile(":="), _ASSIGNS),
    (re.compile(r"\binto\b", re.IGNORECASE), "`into` writes to a file or a variable: leave it out"),
)
_SESSION_STATE = (  # functions that change the session for its next query, each with the reason to refuse it
    (
        (function_names("get_lock"),),
        "get_lock() takes a lock that the session keeps, and another query uses that session next: leave it out",
    ),
    (
        (function_names("last_insert_id"),),
        "last_insert_id() sets a number that the session keeps, and another query uses that session next: leave it out",
    ),
)


def first_keyword(sql: str) -> str | None:
    """Return the first keyword in lower case, or None if it is unclear."""
    match = _START.match(sql)
    return match[1].lower() if match else None


def refusal(sql: str, reading: frozenset[str] = READING) -> str | None:
    """Return the reason to refuse a statement, or None if its first keyword is in ``reading``. The reason quotes only
    the first keyword of the SQL."""
    keyword = first_keyword(sql)
    if keyword in reading:
        return None
    if keyword is None:
        return UNCLEAR if sql.strip(" \t\n\r\f\v;") else NOTHING
    reason = _REASON_OF.get(keyword)
    if reason is None:
        known = ", ".join(f"`{each}`" for each in sorted(reading))
        return f"it begins with `{keyword[:_SHOWN]}`: a query begins with one of {known}"
    return f"it begins with `{keyword}`, {reason}"


@cached_by_text
def mysql_refusal(sql: str) -> str | None:
    """Return the reason to refuse SQL on MySQL, or None for a single read-only statement. A statement is refused if it
    leaves a file, variable, lock or LAST_INSERT_ID behind. The check assumes that the server uses backslash escapes and
    not ANSI_QUOTES."""
    reason = refusal(sql, READING_MYSQL)
    if reason is not None:
        return reason
    code = _MYSQL_QUOTED.sub(" ", sql)
    for pattern, reason in _MYSQL_REFUSED:
        if pattern.search(code):
            return reason
    for rules, reason in _SESSION_STATE:
        if calls_any(sql, DIALECTS["mysql"], rules):
            return reason
    return SEVERAL if ";" in code.rstrip(" \t\r\n;") else None
