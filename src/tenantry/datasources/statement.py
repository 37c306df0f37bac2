"""One reading statement: what the text alone shows, for engines that cannot check it themselves.

This is the second barrier, not the first: the server's own read-only transaction refuses writes. The text check is for
what such a transaction lets pass (COPY … TO PROGRAM, DO, INTO OUTFILE) and for several statements in one text. Where a
text can be read in two ways it is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tenantry.sql import DIALECTS
from tenantry.sql.dialects.dialect import function_names
from tenantry.sql.dynamic_sql import calls_any

READING = frozenset({"select", "with", "values", "table", "explain", "show"})

# In the patterns below each alternative has one way to match. No group is possessive: CPython before 3.11.5 then goes
# on after a failed try in the middle of it (gh-106052).

# Whitespace, comments and brackets before the first keyword. A lone \r ends a comment for some engines only,
# comments nest in one and not in another, and /*! … */ is code to MySQL: none of these is skipped.
_START = re.compile(r"(?:[ \t\n\r\f\v(]|--[^\n\r]*(?:\r?\n|\Z)|/\*(?![!M])(?:(?!/\*|\*/).)*\*/)*([A-Za-z]+)", re.DOTALL)

_MYSQL_QUOTED = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*+` | \#[^\n]*+ | --(?=[\s\x00-\x1f]|\Z)[^\n]*+
      | /\*(?!M?!)(?:(?!\*/).)*\*/""",
    re.DOTALL | re.VERBOSE,
)

_MYSQL_REFUSED = re.compile(r"""['"`]|/\*|:=|\binto\b""", re.IGNORECASE)
_SESSION_STATE = (function_names("get_lock last_insert_id"),)  # in the session, for whoever has it next

# Text that every SQL engine cuts into the same tokens: plain strings and names in quotes, comments of one kind, and no
# character that is a quote, an escape or a comment in one engine only.
_PLAIN = re.compile(
    r"""(?: (?<!\w)(?<![uU]&)'(?!'')(?:[^'\\]|'')*'(?!') | (?<!\w)(?<![uU]&)"(?!"")[^"\\]*+"
          | --[ \t][^\n\r]*+(?=\n|\Z) | /\*(?![!+M])(?:(?!/\*|\*/).)*\*/
          | -(?!-) | /(?!\*) | [^'"\\`\[\]\#$/;-] )*""",
    re.DOTALL | re.VERBOSE,
)


def first_keyword(sql: str) -> str | None:
    """The keyword that the statement begins with, in lower case; None where that is unclear."""
    match = _START.match(sql)
    return match[1].lower() if match else None


def is_read(sql: str) -> bool:
    """Whether the text begins as a statement that reads."""
    return first_keyword(sql) in READING


@lru_cache(maxsize=512)
def is_one_mysql_read(sql: str) -> bool:
    """Whether MySQL (backslash escapes, no ANSI_QUOTES) sees one statement, that reads, writes no file, and leaves
    nothing in its session for the next query: no user variable, lock or LAST_INSERT_ID.
    """
    code = _MYSQL_QUOTED.sub(" ", sql)
    if not is_read(sql) or _MYSQL_REFUSED.search(code) or calls_any(sql, DIALECTS["mysql"], _SESSION_STATE):
        return False
    return ";" not in code.rstrip(" \t\r\n;")


@lru_cache(maxsize=512)
def is_plain(sql: str) -> bool:
    """Whether every SQL engine reads this text the same way, as one statement."""
    return _PLAIN.fullmatch(sql.rstrip(" \t\r\n;")) is not None
