"""Dialect: how the scanner of an engine reads SQL, and the SQL that differs between engines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final, NamedTuple

UNITS: Final = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
"""The units of ``trunc``. Weeks begin on Monday, unless the group's weeks begin on Sunday."""
WEEK: Final = "week"

MAX_PARAMETERS: Final = 32_766
"""SQLite's limit, the default of ``Dialect.max_parameters``."""

TAGGED_DOLLARS: Final = r"(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+)?\$"
"""``Dialect.dollar_quotes`` of PostgreSQL."""

UNICODE_NAMES: Final = 'u&"'
"""``FunctionNames.escaped_names`` of PostgreSQL."""

_CONTROLS = dict(zip("0abefnrtvZ", "\0\a\b\x1b\f\n\r\t\v\x1a", strict=True))
_TO_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_TO_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)
_BEYOND_ASCII = r"\x80-\U0010ffff"
_TYPOGRAPHIC = "\u2018\u201c"  # opening quotes


class Identifiers(StrEnum):
    """How an engine compares the names of tables."""

    FOLDS_LOWER = "folds_lower"
    """``Orders`` means ``orders``; ``"Orders"`` is another table (PostgreSQL)."""
    FOLDS_UPPER = "folds_upper"
    """``Orders`` means ``ORDERS``; ``"Orders"`` is another table (Snowflake)."""
    EXACT = "exact"
    """``Orders`` and ``orders`` are two tables, quoted or not."""
    IGNORES_CASE = "ignores_case"
    """``Orders``, ``orders`` and ``"ORDERS"`` are one table."""

    def key(self, name: str, *, quoted: bool) -> str:
        """Return the same string for all spellings of one table's name."""
        if self is Identifiers.EXACT or (quoted and self is not Identifiers.IGNORES_CASE):
            return name
        return name.translate(_TO_UPPER if self is Identifiers.FOLDS_UPPER else _TO_LOWER)


class FunctionNames(NamedTuple):
    """Function names (in lower case) and other syntax that can run a string as SQL in a dialect."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    attributes: bool = False
    """Whether ``value.name`` also calls the function ``name`` (PostgreSQL)."""
    escaped_names: str = ""
    r"""The beginning of a name that contains escapes, such as ``U&"`` in ``U&"\0074s_stat"``."""
    prepares: bool = False
    """Whether an expression may follow ``prepare name from``."""
    settings: bool = False
    """Whether a clause ``settings name = value`` can lift limits (ClickHouse)."""
    words: frozenset[str] = frozenset()
    """Keywords that run a string as SQL."""
    tables: frozenset[str] = frozenset()
    """Functions that can run a string as SQL, but only if they are called in ``from``."""

    def matches(self, name: str) -> bool:
        lower = name.lower()
        return lower in self.names or lower.startswith(self.prefixes)

    def may_appear_in(self, text: str) -> bool:
        """Whether lower-case SQL contains one of the names, even as a part of another word."""
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
    """Make FunctionNames from names separated by spaces. ``dblink*`` means all names that begin with ``dblink``."""
    whole = frozenset(name for name in names.split() if not name.endswith("*"))
    prefixes = tuple(name[:-1] for name in names.split() if name.endswith("*"))
    others = frozenset(words.split()), frozenset(tables.split())
    return FunctionNames(whole, prefixes, attributes, escaped_names, prepares, settings, *others)


def escapes(characters: str, *, kept: str = "") -> dict[str, str]:
    """Make ``Dialect.backslash_escapes`` for the ``characters`` that may follow a backslash. A letter or digit means a
    control character, and any other character means itself. A character of ``kept`` keeps its backslash, because
    ``like`` reads the backslash too."""
    return {each: _CONTROLS.get(each, each) for each in characters} | {each: f"\\{each}" for each in kept}


def for_each_unit(bucket: str) -> dict[str, str]:
    return {unit: bucket.replace("{unit}", unit) for unit in UNITS}


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialect:
    """The rules of one SQL dialect. In its SQL, names in braces, such as ``{column}``, are placeholders."""

    name: str
    paramstyle: str
    """Paramstyle of the usual Python driver."""

    # How its SQL is read.
    prefixes: str = ""
    """Regular expression for string prefixes, such as the ``E`` of ``E'…'``."""
    double_is_string: bool = False
    """``"…"`` is a string, not a name."""
    double_takes_prefix: bool = False
    """``prefixes`` apply to ``"`` too."""
    triple_quotes: bool = False
    """Three quotes delimit a string."""
    ascii_words: bool = False
    """Words are ASCII and may contain ``$`` (ClickHouse)."""
    typographic_quotes: bool = False
    """Typographic quotes delimit strings and names."""
    doubled_quotes: bool = True
    """A doubled quote in a string means one quote."""
    backslash: bool = False
    """Every string can contain backslash escapes."""
    escape_prefixes: str = ""
    """First letters of string prefixes that enable backslash escapes: PostgreSQL's ``E``."""
    plain_prefixes: str = ""
    """First letters of string prefixes that disable every escape: Databricks' ``r``."""
    backslash_escapes: Mapping[str, str] = field(default_factory=dict)
    """The escapes that a string with variables may contain: the character after the backslash → the character that the
    escape means."""
    other_escapes: bool = False
    """Whether the engine ignores a backslash before a character that is not in ``backslash_escapes``. If False, a
    string with variables must not contain such a backslash."""
    name_backslash: bool = False
    """Quoted names can contain backslash escapes."""
    backticks: bool = True
    """Backticks delimit a name."""
    bracket_names: bool = False
    """``[…]`` is a name."""
    bracket_doubled: bool = False
    """``]]`` in a bracketed name means one ``]``."""
    dollar_quotes: str = ""
    """Regular expression for ``tag$`` in the opening ``$tag$``; empty if the dialect has no such strings."""
    line_end: str = r"\n"
    """Characters that end a line comment, written for the ``[…]`` of a regular expression."""
    hash_comment: str = ""
    """Regular expression for a ``#`` that begins a comment."""
    slash_comment: bool = False
    """``//`` begins a comment."""
    dashes_need_space: bool = False
    """``--`` begins a comment only if a space follows. ``--`` without the space is refused."""
    nested_comments: bool = False
    """``/* /* */ */`` is one comment."""
    executable_comments: bool = False
    """The engine runs the content of ``/*! … */``, so such comments are refused."""
    arrays: bool = False
    """``[[`` can begin a nested array."""
    identifiers: Identifiers
    """How the engine compares the names of tables."""
    name_quote: str = '"'
    """The quote that Tenantry writes around a name."""
    sqlglot_name: str = ""
    """The name of the dialect in sqlglot; empty if sqlglot uses the same name."""
    nested_with: bool = True
    """A WITH in an inner query sees the names of the outer WITH (not on MariaDB)."""
    in_reads_tables: bool = False
    """In ``x in (name)``, the name is a table (ClickHouse)."""
    array_joins: bool = False
    """``array join`` is followed by a column (ClickHouse)."""
    named_lambdas: bool = False
    """WITH can give a lambda a name, which then hides the function of that name (ClickHouse)."""
    row_ids: frozenset[str] = frozenset()
    """Columns that every real table has, but a derived table lacks (SQLite)."""
    or_operators: frozenset[str] = frozenset({"or"})
    """Operators that join alternatives. They bind less tightly than ``and``."""
    and_operators: frozenset[str] = frozenset({"and"})
    """Operators that join conditions."""
    native_markers: frozenset[str] = frozenset()
    """Placeholder characters of the engine itself."""

    # Where placeholders are allowed, whether two of them are equal, and which functions run a string as SQL.
    equal_values_are_one: bool = False
    """Whether the engine treats an expression in ``select`` and one in ``group by`` as the same if their parameters
    have equal values. If False, both must use the same placeholder."""
    interval_takes_value: bool = False
    """A placeholder may follow ``interval``."""
    interval_fix: str = "write {{ n }} * interval '1 day', with the unit that you need"
    """The suggested fix in the error for a placeholder after ``interval``."""
    top_takes_value: bool = False
    """``top ({{ n }})`` limits rows (T-SQL)."""
    is_takes_value: bool = False
    """A placeholder may follow ``is``."""
    columns_expression: bool = False
    """``columns(…)`` selects columns by a value (DuckDB)."""
    dynamic_functions: FunctionNames
    """Functions that run a string as SQL, or read a relation or server file by name."""

    row_functions: str = ""
    """A query for the user-defined functions that SQL can call as ``table.function`` (PostgreSQL). Its column ``name``
    has their names."""

    max_parameters: int = MAX_PARAMETERS
    """Maximum number of placeholders in a statement."""

    # SQL that dialects write differently.
    empty_in: str
    """SQL for ``in`` with an empty list. It is false for every value on the left side, also for NULL."""
    empty_not_in: str
    """SQL for ``not in`` with an empty list. It is true for every value on the left side, also for NULL."""
    like_escape: str = "!"
    """The escape character in a ``like`` pattern. It is written before a wildcard, and before another escape
    character."""
    like_escape_clause: str = "escape '!'"
    """The SQL that follows a ``like`` pattern; empty if the engine has no ``escape`` clause."""
    like_wildcards: str = "%_"
    """Wildcards of ``like``, which are escaped in values."""
    array_parameter: str = ""
    """SQL with ``{placeholder}``, for a list that is bound as one parameter; empty if the driver does not accept
    lists."""
    json_parameter: str = "{placeholder}"
    """SQL with ``{placeholder}``, for a string that contains JSON."""
    null_safe_equal: str = "{left} is not distinct from {right}"
    """SQL for ``=`` that treats two NULLs as equal. The SQL may contain ``{left}`` or ``{right}`` twice."""
    exact_equal: str = "{column} = {value}"
    """SQL that is true if ``{column}`` is exactly ``{value}``. If the engine's ``=`` ignores case, accents, trailing
    spaces or leading zeros, the SQL has two comparisons with ``{value}``: ``=``, which can use an index, and a
    comparison of bytes."""
    casts: Mapping[str, str]
    """Parameter type → SQL type, to cast placeholders whose context does not determine a type."""
    types_placeholders: bool = False
    """Whether a declared parameter that is not a string can get a cast. Without a cast, the engine infers a type from
    the context."""
    loose_texts: bool = False
    """The engine's usual collations ignore case and accents."""
    guarded_form: str = ""
    """SQL with ``{placeholder}``, for a value of the group; empty if the placeholder can be used alone."""
    bind_as: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """Parameter type → function that converts a value to the type that the usual driver expects."""
    day_of: str = "cast({column} as date)"
    """SQL for the date of ``{column}``, which is a date or a timestamp."""
    time_buckets: Mapping[str, str]
    """Unit → SQL for the start of the unit that contains ``{column}``."""
    weeks_from_sunday: str = "(date_trunc('week', {column} + interval '1' day) - interval '1' day)"
    """SQL for the Sunday with which the week of ``{column}`` begins."""
    local_time: str = ""
    """SQL for the local time of ``{column}`` in ``{zone}``; empty if the engine has no time zones. A column without a
    time zone is taken to be in the session's time zone."""

    is_date: str = "length(cast({column} as varchar)) = 10"
    """SQL that is true if ``{column}`` is a date without a time."""
    instant: str = "{column}"
    """SQL for ``{column}`` in a comparison with instants. A column without a time zone is taken to be in UTC."""
    local_starts: str = ""
    """SQL for the instant at which the hour, minute or second of ``{column}`` begins in ``{zone}``. ``{start}`` is the
    local time of this instant, and ``{local}`` the local time of ``{column}``. If empty, an hour that clocks show twice
    counts as one hour."""
    local_days: str = ""
    """Like ``local_time``, but a date without a time stays the same day in every zone. If empty, Tenantry builds this
    SQL from ``is_date``, ``instant`` and the ``at time zone`` of standard SQL."""

    def trunc(self, unit: str, column: str, zone: str = "") -> str:
        """Return SQL for the start of the ``unit``, such as the month, that contains the time in ``column``. With
        ``zone``, the SQL uses the local time in this zone.

        Raises ValueError for an unknown unit, or for a zone if the engine has no time zones.
        """
        if unit not in self.time_buckets:
            raise ValueError(f"there is no unit {unit!r}: give one of {', '.join(UNITS)}")
        if zone:
            if not self.local_time:
                raise ValueError(f"{self.name} knows no time zones")
            column = self.local_time.format(column=column, zone=zone)
        return self.time_buckets[unit].format(column=column)

    def days_in(self, column: str, zone: str) -> str:
        """Return SQL that converts a column to the local time of ``zone``. A date stays the same day in every zone."""
        local = self.local_days or (
            f"case when {self.is_date} then cast({{column}} as timestamp)"
            f" else ({self.instant}) at time zone {{zone}} end"
        )
        return local.format(column=column, zone=zone)

    @cached_property
    def joining_signs(self) -> Mapping[str, str]:
        """The dialect's signs for ``and``, such as ``&&`` in MySQL, each mapped to ``and``."""
        # Without `||`, because it may concatenate strings.
        return dict.fromkeys(self.and_operators - {"and"}, "and")

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """Regular expression that matches the next lexeme or its beginning, such as an opening quote. The name of the
        matching regex group tells the lexeme's kind."""
        # No regex group has a possessive quantifier: CPython before 3.11.5 backtracks into possessive ones (gh-106052).
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
        prefix = f"(?:{self.prefixes})?" if self.prefixes else ""
        double = "(?:[uU]&)?" if "&" in self.prefixes else ""
        double = (prefix if self.double_takes_prefix else double) + '"'
        groups = [("plain", r"'[^'{\\]*+'(?!')")]  # matches most strings in one step; the others are read part by part
        groups += [("string3", f"{prefix}'''|{double}{double[-1] * 2}")] if self.triple_quotes else []
        groups += [("string", f"{prefix}'"), ("string2" if self.double_is_string else "name2", double)]
        groups += [("tick", "`")] if self.backticks else []
        groups += [("typographic", f"[{_TYPOGRAPHIC}]")] if self.typographic_quotes else []
        groups += [("dollar", rf"\${self.dollar_quotes}")] if self.dollar_quotes else []
        return groups


def naive_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def seconds(length: timedelta) -> int | float:
    total = length.total_seconds()
    return int(total) if total.is_integer() else total
