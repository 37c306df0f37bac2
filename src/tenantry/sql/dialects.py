"""The SQL dialects: what opens and closes a quoted region, and how an empty list is written.

Only the lexical rules that decide where a region ends are here. They are those of the engines' own scanners: SQLite's
tokenize.c, PostgreSQL's scan.l, DuckDB (observed), MySQL's sql_lex.cc.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_WORD = r"[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*+"
_DOLLAR = r"\$(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+)?\$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The lexical profile of one SQL dialect. ``opening`` finds the next lexeme; its named groups are the kinds."""

    name: str
    paramstyle: str
    """The paramstyle of the dialect's usual Python driver."""
    prefixes: str = ""
    """Regular expression of what may come directly before a string's quote."""
    backslash: bool = False
    """Whether a backslash escapes in every string (MySQL); in PostgreSQL and DuckDB it does in ``E''`` only."""
    double_is_string: bool = False
    """Whether ``"…"`` is a string; elsewhere it is a name."""
    line_end: str = r"\n"
    """The characters that end a comment of one line, in a regular expression's brackets."""
    hash_comment: bool = False
    """Whether ``#`` begins a comment."""
    dashes_need_space: bool = False
    """Whether ``--`` begins a comment only before a space or a control character; else it is refused."""
    nested_comments: bool = False
    executable_comments: bool = False
    """Whether ``/*! … */`` is code: it is refused."""
    dollar_quotes: bool = False
    """Whether ``$$ … $$`` and ``$tag$ … $tag$`` are strings."""
    backticks: bool = True
    """Whether `` ` … ` `` is a name."""
    bracket_names: bool = False
    """Whether ``[…]`` is a name."""
    arrays: bool = False
    """Whether ``[[`` can also be the start of an array in an array."""
    empty_in: str
    """After an expression: false for every value, NULL included, whatever the type."""
    empty_not_in: str
    """After an expression: true for every value, NULL included, whatever the type."""
    interval_takes_value: bool = False
    """Whether a placeholder may follow ``interval``."""
    is_takes_value: bool = False
    """Whether a placeholder may follow ``is``."""
    columns_expression: bool = False
    """Whether ``columns(…)`` chooses columns by the value that it is given (DuckDB)."""
    native_markers: frozenset[str] = frozenset()
    """Characters of placeholders that the engine itself recognises, whatever paramstyle its driver declares."""
    opening: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Makes ``opening``: a run of plain code, or the start of something that has an end of its own.

        No group is possessive: CPython before 3.11.5 then goes on after a failed try in the middle of it (gh-106052).
        """
        dash = r"--(?=[\x00-\x20\x7f]|\Z)" if self.dashes_need_space else "--"
        prefix = f"(?:{self.prefixes})?" if self.prefixes else ""
        special = "'\"\\[\\]{\\\\/$A-Za-z0-9_\\x80-\\U0010ffff-"
        code = [rf"[^{special}{'`' if self.backticks else ''}{'#' if self.hash_comment else ''}]++"]
        code += [rf"{_WORD}(?!'|&['\"])", r"[0-9][A-Za-z0-9_.]*+", "-(?!-)", r"/(?!\*)", r"\{(?![{%])"]
        code += [r"\\(?!\{[{%]|\[\[)", rf"\$(?!{_DOLLAR[2:]})" if self.dollar_quotes else r"\$"]
        groups = [("code", f"(?:{'|'.join(code)})+"), ("tag", r"\{\{"), ("statement", r"\{%")]
        groups += [("bracket", r"\\\[\[")] if self.bracket_names else []
        groups += [("escape", r"\\(?:\{[{%]|\[\[)"), ("open", r"\[\[")]
        groups += [("name", r"\[") if self.bracket_names else ("left", r"\["), ("right", r"\]")]
        groups += [("line", f"(?:{dash}{'|#' if self.hash_comment else ''})[^{self.line_end}]*+"), ("dashes", "--")]
        groups += [("executable", r"/\*M?!")] if self.executable_comments else []
        groups += [("hint", r"/\*\+"), ("block", r"/\*")]
        double = "string2" if self.double_is_string else "name2"
        groups += [("plain", r"'[^'{\\]*+'(?!')")]  # the common string at once; the rest is read part by part
        groups += [("string", f"{prefix}'"), (double, f'{"(?:[uU]&)?" if "&" in self.prefixes else ""}"')]
        groups += [("tick", "`")] if self.backticks else []
        groups += [("dollar", _DOLLAR)] if self.dollar_quotes else []
        groups += [("word", rf"{_WORD}|[\s\S]")]
        pattern = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in groups)
        object.__setattr__(self, "opening", re.compile(pattern))


DIALECTS: Final[dict[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            name="postgresql",
            paramstyle="numeric_dollar",
            prefixes="[eE]|[uU]&|[bBnNxX]",
            line_end=r"\r\n",
            nested_comments=True,
            dollar_quotes=True,
            backticks=False,
            arrays=True,
            # OPERATOR() binds as `in` does, a bare = would not; '{}' takes the array type of the left side, and an
            # empty array is compared with nothing, so NULL on the left gives false and true, not NULL.
            empty_in="operator(=) any ('{}')",
            empty_not_in="operator(<>) all ('{}')",
            native_markers=frozenset("$"),
        ),
        Dialect(
            name="sqlite",
            paramstyle="qmark",
            prefixes="[xX]",
            bracket_names=True,
            empty_in="in ()",
            empty_not_in="not in ()",
            is_takes_value=True,
            native_markers=frozenset("?:@$"),
        ),
        Dialect(
            name="duckdb",
            paramstyle="qmark",
            prefixes="[eE]|[bBnNxX]",
            line_end=r"\r\n",
            nested_comments=True,
            dollar_quotes=True,
            arrays=True,
            # `null in ()` is NULL in DuckDB, so `not in ()` would lose rows; an empty sub-select does not.
            empty_in="in (select null where false)",
            empty_not_in="not in (select null where false)",
            columns_expression=True,
            native_markers=frozenset("?$"),
        ),
        Dialect(
            name="mysql",
            paramstyle="format",
            prefixes="[bBnNxX]",
            backslash=True,
            double_is_string=True,
            hash_comment=True,
            dashes_need_space=True,
            executable_comments=True,
            empty_in="in (select null from dual where false)",
            empty_not_in="not in (select null from dual where false)",
            interval_takes_value=True,
        ),
    )
}
"""The dialects by name: postgresql, sqlite, duckdb, mysql."""


def dialect_named(name: str) -> Dialect:
    """The dialect of this name. Raises ValueError that lists the names."""
    try:
        return DIALECTS[name]
    except (KeyError, TypeError):
        raise ValueError(f"there is no SQL dialect {name!r}: give one of {', '.join(DIALECTS)}") from None
