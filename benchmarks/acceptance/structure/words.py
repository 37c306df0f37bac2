"""What the templates of one dialect are written with: types, and the author's own text that is hard to read.

Literals, comments and names hold quotes, comment signs, percent signs and placeholders of drivers: whoever mistakes
where one of them ends would put a placeholder into a string, or take a string for code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Words:
    """The words of one dialect. ``literals`` are expressions of text, ``comments`` can stand between two words,
    ``names`` are quoted. ``same`` compares with NULL as a value, ``member`` with an array, where there are arrays."""

    text: str
    integer: str
    literals: tuple[str, ...]
    comments: tuple[str, ...]
    names: tuple[str, ...]
    concat: str = "({} || {})"
    same: str = "is not distinct from"
    member: str = ""


_LITERALS: Final = (
    "'author''s'",
    "'author -- '",
    "'/* author'",
    "'author */'",
    "'100% author'",
    "'author %s ?'",
    "':author $1 @a'",
    "'author \\{{ name }}'",
    "'[[ author'",
    "'author ]]'",
    "'\u2019author\u2018'",
    "'\"author'",
    "''",
)
_COMMENTS: Final = (" ", "\n", "/* author's */", '/* "author */', "-- author's \"\n", "/* 100% ? :a $1 */", "/**/")
_STANDARD: Final = ('"author\'s"', '"author--"', '"/*author"', '"100%"', '"author""s"', '"a?"')
_TICKS: Final = ("`author's`", "`author--`", "`/*author`", "`100%`", '`author"s`', "`author``s`")
_DOLLARS: Final = ("$$author's$$", "$a$ author' $$ $a$", "E'author\\'s'", "E'author\\\\'", "E'a''b'")
_NESTED: Final = ("/* a /* author's */ ' */", "/* /**/ ' */")

WORDS: Final[dict[str, Words]] = {
    "postgresql": Words(
        "text",
        "bigint",
        (*_LITERALS, "'author\\'", *_DOLLARS, "U&'author\\0041'"),
        (*_COMMENTS, *_NESTED),
        _STANDARD,
        member="{} = any({})",
    ),
    "duckdb": Words(
        "varchar",
        "bigint",
        (*_LITERALS, "'author\\'", *_DOLLARS),
        (*_COMMENTS, *_NESTED),
        _STANDARD,
        member="{} = any({})",
    ),
    "sqlite": Words(
        "text", "integer", (*_LITERALS, "'author\\'"), (*_COMMENTS, "/* /* ' */"), (*_STANDARD, *_TICKS, "[author's]")
    ),
    "mysql": Words(
        "char",
        "signed",
        (*_LITERALS, "'author\\'s'", "'author\\\\'", '"author\'s"', '"author\\"s"', "N'author'"),
        (*_COMMENTS, "# author's\n", "/* /* ' */"),
        _TICKS,
        "concat({}, {})",
        "<=>",
    ),
    "clickhouse": Words(
        "String",
        "Int64",
        (*_LITERALS, "'author\\'s'", "'author\\\\'", *_DOLLARS[:2], "'a' || x'41'"),
        (*_COMMENTS, *_NESTED, "# author's\n", "#! author's\n", "// author's\n"),
        (*_STANDARD, *_TICKS),
        member="has({1}, {0})",
    ),
}
