"""What the rules of one SQL dialect are: how its text is read, and how it writes what dialects write differently.

The rules of reading are only those that decide where a quoted region ends. They are those of the engines' own scanners.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final, NamedTuple

UNITS: Final = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
"""The units of ``trunc``. A week begins on Monday."""

MAX_PARAMETERS: Final = 32_766
"""Placeholders of one statement: SQLite's default limit, and the smallest among drivers (asyncpg has one more)."""

TAGGED_DOLLARS: Final = r"(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+)?\$"
"""``dollar_quotes`` of PostgreSQL."""

UNICODE_NAMES: Final = 'u&"'
"""``escaped_names`` of PostgreSQL."""

_BEYOND_ASCII = r"\x80-\U0010ffff"
_TYPOGRAPHIC = "\u2018\u201c"  # the opening ones


class FunctionNames(NamedTuple):
    """Names of functions of one dialect, in lower case.

    ``attributes``: ``value.name`` is a call too: PostgreSQL's functional notation, also for one scalar.
    ``prepares``: ``prepare name from`` takes an expression; elsewhere ``prepare`` can be a column.
    ``escaped_names``: how a name begins that is written in escapes, ``U&"\\0074s_stat"``, and could be any of them; a
    backslash where it escapes in every quoted name.
    ``words``: keywords that begin a statement which runs a text, without a parenthesis.
    ``settings``: a query can end in ``settings name = value``, which lifts the limits of its user.
    ``tables``: names that read the relation that a text names in ``from``, and that are harmless functions elsewhere.
    """

    names: frozenset[str]
    prefixes: tuple[str, ...]
    attributes: bool = False
    escaped_names: str = ""
    prepares: bool = False
    settings: bool = False
    words: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()

    def matches(self, name: str) -> bool:
        """Whether a name is one of them; letters of either case."""
        lower = name.lower()
        return lower in self.names or lower.startswith(self.prefixes)

    def may_appear_in(self, text: str) -> bool:
        """A fast check of a text in lower case: False only if none of the names is anywhere in it."""
        stems = (*self.prefixes, *self.names, *self.words, *self.tables)
        return (
            any(stem in text for stem in stems)
            or (self.escaped_names != "" and self.escaped_names in text)
            or (self.settings and "settings" in text)
        )


def function_names(
    names: str,
    *,
    attributes: bool = False,
    escaped_names: str = "",
    prepares: bool = False,
    settings: bool = False,
    words: str = "",
    tables: str = "",
) -> FunctionNames:
    """FunctionNames from their names, with spaces between; ``dblink*`` are all whose names begin so."""
    whole = frozenset(name for name in names.split() if not name.endswith("*"))
    prefixes = tuple(name[:-1] for name in names.split() if name.endswith("*"))
    others = frozenset(words.split()), frozenset(tables.split())
    return FunctionNames(whole, prefixes, attributes, escaped_names, prepares, settings, *others)


def for_each_unit(bucket: str) -> dict[str, str]:
    """Time buckets that differ by the unit's name alone: ``{unit}`` in the text becomes it."""
    return {unit: bucket.replace("{unit}", unit) for unit in UNITS}


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialect:
    """The rules of one SQL dialect. Texts with ``{…}`` are templates of SQL for ``str.format``."""

    name: str
    paramstyle: str
    """The paramstyle of the dialect's usual Python driver."""

    # How its text is read.
    prefixes: str = ""
    """Regular expression of what may come directly before the quote ``'`` of a string."""
    double_is_string: bool = False
    """Whether ``"…"`` is a string; elsewhere it is a name."""
    double_takes_prefix: bool = False
    """Whether ``prefixes`` may come before ``"`` too."""
    triple_quotes: bool = False
    """Whether three quotes begin a string that three quotes end, with others in it."""
    ascii_words: bool = False
    """Whether letters beyond ASCII are in no word, and ``$`` is in one wherever it is (ClickHouse)."""
    typographic_quotes: bool = False
    """Whether typographic quotes make a string (single ones) or a name (double ones), in which nothing escapes."""
    doubled_quotes: bool = True
    """Whether two quotes in a string are one. Elsewhere they end it and begin the next one."""
    backslash: bool = False
    """Whether a backslash escapes in every string (MySQL)."""
    escape_prefixes: str = ""
    """First letters of the prefixes with which a backslash escapes though ``backslash`` is not set: ``E''`` of
    PostgreSQL."""
    plain_prefixes: str = ""
    """First letters of the prefixes with which nothing escapes, and the next quote ends the string: ``r''`` of
    Databricks. (In that of BigQuery a backslash still keeps the quote after it from ending the string.)"""
    backslash_escapes: Mapping[str, str] = field(default_factory=dict)
    """Character after a backslash -> what both are, for a string with variables in it."""
    other_escapes: bool = False
    """Whether any other character after a backslash is itself; else it is refused beside variables."""
    name_backslash: bool = False
    """Whether a backslash escapes in quoted names."""
    backticks: bool = True
    """Whether `` ` … ` `` is a name."""
    bracket_names: bool = False
    """Whether ``[…]`` is a name."""
    bracket_doubled: bool = False
    """Whether ``]]`` in such a name is one ``]``."""
    dollar_quotes: str = ""
    """Regular expression of what follows the first ``$`` of ``$$`` or ``$tag$``, where they begin and end a string."""
    line_end: str = r"\n"
    """The characters that end a comment of one line, in a regular expression's brackets. Comments are left out of what
    is sent, so this is about what the author meant."""
    hash_comment: str = ""
    """Regular expression of ``#`` where it begins a comment."""
    slash_comment: bool = False
    """Whether ``//`` begins a comment."""
    dashes_need_space: bool = False
    """Whether ``--`` begins a comment only before a space or a control character; else it is refused."""
    nested_comments: bool = False
    executable_comments: bool = False
    """Whether ``/*! … */`` is code: it is refused."""
    arrays: bool = False
    """Whether ``[[`` can also be the start of an array in an array."""
    or_operators: frozenset[str] = frozenset({"or"})
    """What joins conditions, or chooses between them, and binds less than ``and`` does: ``a and b or c`` can be true
    though ``b`` is not. Words in lower case, and signs."""
    and_operators: frozenset[str] = frozenset({"and"})
    """What joins conditions that are all to be true."""
    native_markers: frozenset[str] = frozenset()
    """Characters of placeholders that the engine itself recognises, whatever paramstyle its driver declares."""

    # Where a placeholder may stand, what the engine makes of two, and which functions run a text.
    equal_values_are_one: bool = False
    """Whether an expression in ``select`` is the one in ``group by`` where both have a placeholder of the same value:
    the engine compares the values. Elsewhere it compares the placeholders."""
    interval_takes_value: bool = False
    """Whether a placeholder may follow ``interval``."""
    interval_fix: str = "write {{ n }} * interval '1 day', with the unit that you need"
    """What to write where it may not."""
    top_takes_value: bool = False
    """Whether ``top ({{ n }})`` is how rows are counted (T-SQL)."""
    is_takes_value: bool = False
    """Whether a placeholder may follow ``is``."""
    columns_expression: bool = False
    """Whether ``columns(…)`` chooses columns by the value that it is given (DuckDB)."""
    dynamic_functions: FunctionNames
    """Its functions that run a text as SQL, or read the relation or the server's file that a text names. Where there
    is a real engine, tests ask it which these are."""

    max_parameters: int = MAX_PARAMETERS
    """Placeholders of one statement."""

    # How it writes what dialects write differently.
    empty_in: str
    """After an expression: false for every value, NULL included, whatever the type."""
    empty_not_in: str
    """After an expression: true for every value, NULL included, whatever the type."""
    like_escape: str = "!"
    """What protects a wildcard in the pattern of ``like``, and itself."""
    like_escape_clause: str = "escape '!'"
    """What follows the pattern to say so; empty where the engine has no such clause and ``like_escape`` is a
    backslash."""
    like_wildcards: str = "%_"
    """The characters to protect in a pattern, beside ``like_escape`` itself."""
    array_parameter: str = ""
    """How one placeholder for a whole list is written, ``{placeholder}``; empty where none can be bound."""
    json_parameter: str = "{placeholder}"
    """How a placeholder is written whose value is JSON in a text, so that it is of the engine's JSON type if there is
    one."""
    null_safe_equal: str = "{left} is not distinct from {right}"
    """``=`` to which NULL equals NULL. A side can be there more than once."""
    casts: Mapping[str, str]
    """Type of a declared parameter (``text``, ``integer``, ``decimal``, ``boolean``, ``date``, ``datetime``, ``uuid``,
    ``interval``) -> the type to cast a placeholder to where nothing beside it says its type. One that is not here
    needs no cast, or has none."""
    types_placeholders: bool = False
    """Whether the placeholder of a declared parameter is cast to the type of ``casts``, text aside: the engine reads
    a placeholder as the type of its neighbour, which need not be the declared one."""
    loose_texts: bool = False
    """Whether the usual collation of a column takes capitals and accents for equal."""
    guarded_form: str = ""
    """How the placeholder of a value of the group is written, ``{placeholder}``; empty where it stands alone."""
    bind_as: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """Type of a declared parameter, as in ``casts`` -> what makes of its value one that the usual driver takes and the
    engine compares as that type. One that is not here is given as it is."""
    day_of: str = "cast({column} as date)"
    """The date of ``{column}``, which is one, or has a time too, so that it compares with a date."""
    time_buckets: Mapping[str, str]
    """Unit of UNITS -> the start of the unit that ``{column}`` is in; ``{column}`` can be there more than once."""
    local_time: str = ""
    """The clock time of ``{column}`` in the zone ``{zone}``, a text or a placeholder; empty where the engine knows no
    zones. A column that has no zone of its own is read in the session's."""

    def trunc(self, unit: str, column: str, zone: str = "") -> str:
        """SQL of the start of the unit that a column is in: of the clock time in ``zone``, where one is given.

        ``column`` and ``zone`` are SQL texts. Raises ValueError for a unit that is not in UNITS, and for a zone where
        the engine knows none (``local_time`` is empty).
        """
        if unit not in self.time_buckets:
            raise ValueError(f"there is no unit {unit!r}: give one of {', '.join(UNITS)}")
        if zone:
            if not self.local_time:
                raise ValueError(f"{self.name} knows no time zones")
            column = self.local_time.format(column=column, zone=zone)
        return self.time_buckets[unit].format(column=column)

    @cached_property
    def joining_signs(self) -> Mapping[str, str]:
        """Sign that does what a word does, and nothing else -> the word: ``&&`` -> ``and``, in MySQL. Not ``||``, which
        may join texts there too."""
        return dict.fromkeys(self.and_operators - {"and"}, "and")

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """Finds the next lexeme: a run of plain code, or the start of something that has an end of its own. Its named
        groups are the kinds.

        No group is possessive: CPython before 3.11.5 then goes on after a failed try in the middle of it (gh-106052).
        """
        letters = "A-Za-z_" + _BEYOND_ASCII * (not self.ascii_words)
        word = rf"[{letters}][{letters}0-9$]*+"
        after_word = "['\"]" if self.double_takes_prefix else "'"
        special = "'\"\\[\\]{\\\\/$A-Za-z0-9_" + "`" * self.backticks + "#" * bool(self.hash_comment)
        special += (_TYPOGRAPHIC if self.ascii_words else _BEYOND_ASCII) + "-"
        code = [rf"[^{special}]++", rf"{word}(?!{after_word}|&['\"])", r"[0-9][A-Za-z0-9_.]*+", "-(?!-)"]
        code += [r"/(?![*/])" if self.slash_comment else r"/(?!\*)", r"\{(?![{%])", r"\\(?!\{[{%]|\[\[)"]
        dollar = rf"\$(?!{self.dollar_quotes})" if self.dollar_quotes else r"\$"
        code += [dollar + rf"[{letters}0-9$]*+" * self.ascii_words]
        code += [rf"(?!{self.hash_comment})#"] if self.hash_comment else []
        groups = [("code", f"(?:{'|'.join(code)})+"), ("tag", r"\{\{"), ("statement", r"\{%")]
        groups += [("bracket", r"\\\[\[")] if self.bracket_names else []
        groups += [("escape", r"\\(?:\{[{%]|\[\[)"), ("open", r"\[\[")]
        groups += [("name", r"\[") if self.bracket_names else ("left", r"\["), ("right", r"\]")]
        line = [r"--(?=[\x00-\x20\x7f]|\Z)" if self.dashes_need_space else "--"]
        line += [self.hash_comment] if self.hash_comment else []
        line += ["//"] if self.slash_comment else []
        groups += [("line", f"(?:{'|'.join(line)})[^{self.line_end}]*+"), ("dashes", "--")]
        groups += [("executable", r"/\*M?!")] if self.executable_comments else []
        groups += [("hint", r"/\*\+"), ("block", r"/\*"), *self._quoted(), ("word", rf"{word}|[\s\S]")]
        pattern = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in groups)
        return re.compile(pattern)

    def _quoted(self) -> list[tuple[str, str]]:
        """The groups of ``opening`` that begin a string or a quoted name."""
        prefix = f"(?:{self.prefixes})?" if self.prefixes else ""
        double = "(?:[uU]&)?" if "&" in self.prefixes else ""
        double = (prefix if self.double_takes_prefix else double) + '"'
        groups = [("plain", r"'[^'{\\]*+'(?!')")]  # the common string at once; the rest is read part by part
        groups += [("string3", f"{prefix}'''|{double}{double[-1] * 2}")] if self.triple_quotes else []
        groups += [("string", f"{prefix}'"), ("string2" if self.double_is_string else "name2", double)]
        groups += [("tick", "`")] if self.backticks else []
        groups += [("typographic", f"[{_TYPOGRAPHIC}]")] if self.typographic_quotes else []
        groups += [("dollar", rf"\${self.dollar_quotes}")] if self.dollar_quotes else []
        return groups


def naive_utc(moment: datetime) -> datetime:
    """An instant in UTC without its zone: for engines whose columns have none."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def utc_text(moment: datetime) -> str:
    """An instant in UTC as ``2026-01-31 09:30:00``."""
    return naive_utc(moment).isoformat(sep=" ")


def seconds(length: timedelta) -> int | float:
    """A length of time in seconds: for engines that have no such type."""
    total = length.total_seconds()
    return int(total) if total.is_integer() else total
