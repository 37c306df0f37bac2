"""The lexer: where each quoted region ends, by dialect; linear time; nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pglast
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from engines.samples import sampled
from tenantry.errors import TemplateError
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.lexing.lexer import Lexeme, LexemeKind, lex
from tenantry.sql.source import Source
from tests.sql.each_dialect import each_dialect

REGIONS = {LexemeKind.STRING, LexemeKind.INTERPOLATED_STRING, LexemeKind.QUOTED, LexemeKind.COMMENT}


def regions(text: str, dialect: str) -> list[str]:
    """The quoted regions and comments of a text, as text."""
    return [text[p.start : p.end] for p in lex(Source(text), DIALECTS[dialect]) if p.kind in REGIONS]


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgresql", "a 'it''s' b", ["'it''s'"]),
        ("postgresql", r"'a\' b 'c'", [r"'a\'", "'c'"]),
        ("postgresql", r"E'a\' b' c", [r"E'a\' b'"]),
        ("postgresql", r"te'a\' || 'b'", [r"'a\'", "'b'"]),
        ("postgresql", r"U&'d\0061' U&" + '"x"', [r"U&'d\0061'", 'U&"x"']),
        ("postgresql", "$$a'b$$ $x$a$$b$x$", ["$$a'b$$", "$x$a$$b$x$"]),
        ("postgresql", "a$b$ 'x' c$b$", ["'x'"]),
        ("postgresql", "1$$'$$", ["$$'$$"]),
        ("postgresql", "$1 'a' $2", ["'a'"]),
        ("postgresql", "/* a /* b */ ' */ 'x'", ["/* a /* b */ ' */", "'x'"]),
        ("postgresql", "-- don't\r'x'", ["-- don't", "'x'"]),
        ("postgresql", "a - -1 -- b", ["-- b"]),
        ("postgresql", 'select "a""b"\'c\'', ['"a""b"', "'c'"]),
        ("postgresql", "# 'a'", ["'a'"]),
        ("postgresql", "/*+ hint */ 1", ["/*+ hint */"]),
        ("sqlite", "[a'b] 'c' `d'`", ["[a'b]", "'c'", "`d'`"]),
        ("sqlite", "/* a /* b */ 'x'", ["/* a /* b */", "'x'"]),
        ("sqlite", "-- a\r'b'\n'c'", ["-- a\r'b'", "'c'"]),
        ("sqlite", r"'a\' || 'b'", [r"'a\'", "'b'"]),
        ("sqlite", "x'41' $$", ["x'41'"]),
        ("duckdb", r"e'a\'b' $$'$$ /* /* */ */ 'c'", [r"e'a\'b'", "$$'$$", "/* /* */ */", "'c'"]),
        ("duckdb", "{'a': {'b': 1}} [1]", ["'a'", "'b'"]),
        ("mysql", r"'a\'b' 'c\\' 'd'", [r"'a\'b'", r"'c\\'", "'d'"]),
        ("mysql", r'"a\"b" "c""d" `e"`', [r'"a\"b"', '"c""d"', '`e"`']),
        ("mysql", "1 # don't\n'x'", ["# don't", "'x'"]),
        ("mysql", "-- don't\n- -1 --\t'\n'x'", ["-- don't", "--\t'", "'x'"]),
        ("mysql", "/* a /* b */ 'x'", ["/* a /* b */", "'x'"]),
        ("mysql", "a$$'b'$$", ["'b'"]),
    ],
)
def test_regions_end_where_the_dialect_ends_them(dialect: str, text: str, expected: list[str]) -> None:
    """Strings, quoted names, dollar quotes and comments. Red when e.g. `nested_comments` of sqlite is turned on."""
    assert regions(text, dialect) == expected


@each_dialect
@pytest.mark.parametrize("text", ["'", '"', "/*", "{{", "'{{ x", "'{{ x }}", "[[ {{", "/* /* */ /*"])
def test_what_never_ends_is_an_error_and_no_endless_loop(dialect: str, text: str) -> None:
    """Unterminated strings, names, comments and tags."""
    with pytest.raises(TemplateError):
        lex(Source(f"select {text}"), DIALECTS[dialect])


@sampled(60)
# Between them they have every rule of reading that a dialect can have.
@pytest.mark.parametrize("dialect", ["postgresql", "mysql", "clickhouse", "bigquery", "tsql"])
@pytest.mark.parametrize(
    "unit",
    [
        *(
            "'{{",
            "{{",
            "{{'",
            '{{"',
            "'",
            "''",
            '"',
            "`",
            "[",
            "[[",
            "]]",
            "/*",
            "/**/",
            "*/",
            "--",
            "-- \n",
            "$$",
            "$a",
        ),
        *("$a$", "\\", "\\{{", "'\\{{", "{", "{%", "E'\\", "U&", "n'", "a", "1e", "?", ":a", "[[{{x}}", "[[{{x}}]]"),
        *("'''", "r'", "//", "\u2018", "[a]]"),
        *("{{x}} ", "in ", "(", ",", "/*+", "#", "a[1:2]", "{'a':", "\x80", "\u2028"),
    ],
)
def test_16_kib_of_anything_is_read_in_linear_time(dialect: str, unit: str) -> None:
    """Hostile repetitions either parse or are refused; a quadratic step would hold this test for minutes."""
    from tenantry.sql.parsing.parser import parse

    whole, inside = (unit * (size // len(unit)) for size in (16_384, 10_000))
    for text in (whole, f"select '{inside}", f"/* {inside} */ {{{{ x }}}}"):
        try:
            parse(Source(text), DIALECTS[dialect])
        except TemplateError:
            continue


@given(
    text=st.lists(
        st.sampled_from([*"aE1 \n\r'\"`$[]{}\\/*-#?:;%xn&U", "{{ a }}", "--", "/*", "*/", "$$", "é"]), max_size=60
    ).map("".join),
    dialect=st.sampled_from(sorted(DIALECTS)),
)
@settings(max_examples=examples(400), deadline=None)
def test_pieces_cover_the_text_without_gaps(text: str, dialect: str) -> None:
    """Every character is in exactly one lexeme, whatever the text. Red when a reader gives a wrong end."""
    try:
        lexemes = lex(Source(text), DIALECTS[dialect])
    except TemplateError:
        return
    assert [p.start for p in lexemes] == [0, *(p.end for p in lexemes)][: len(lexemes)]
    assert (lexemes[-1].end if lexemes else 0) == len(text)


def _postgres_regions(text: str) -> list[tuple[int, int]] | None:
    try:
        tokens = pglast.parser.scan(text)
    except pglast.parser.ParseError:
        return None
    kinds = {"SCONST", "USCONST", "XCONST", "BCONST", "UIDENT", "SQL_COMMENT", "C_COMMENT"}
    return [
        (token.start, token.end + 1)
        for token in tokens
        if token.name in kinds or (token.name == "IDENT" and text[token.start] == '"')
    ]


def _own_regions(text: str, lexemes: list[Lexeme]) -> list[tuple[int, int]]:
    """Our regions, with literals that PostgreSQL joins across a newline joined, and the N of N'' left out."""
    found: list[tuple[int, int]] = []
    for lexeme in lexemes:
        if lexeme.kind not in REGIONS:
            continue
        start = lexeme.start + (text[lexeme.start] in "nN")
        between = text[found[-1][1] : start] if found else "x"
        is_string = text[start] == "'"
        joins = is_string and between.isspace() and ("\n" in between or "\r" in between)
        if joins and text[found[-1][1] - 1] == "'" and not text[found[-1][0] :].startswith(("--", "/*")):
            found[-1] = (found[-1][0], lexeme.end)
        else:
            found.append((start, lexeme.end))
    return found


def test_the_lexer_agrees_with_postgresql(corpus: Path) -> None:
    """Same regions as PostgreSQL's own scanner over the payloads, bare and in a literal; never refuses what it takes.

    Red when `backslash` is turned on for plain strings, `nested_comments` off, or `line_end` loses its ``\\r``.
    """
    compared = 0
    for line in (corpus / "sqli_payloads.txt").read_text().split("\n"):
        if line.startswith("#!") or not line.isascii() or any(sign in line for sign in ("{{", "{%", "\\[[")):
            continue
        for text in (line, f"select '{line}' -- x"):
            expected = _postgres_regions(text)
            if expected is None:
                continue
            assert _own_regions(text, lex(Source(text), DIALECTS["postgresql"])) == expected, text
            compared += 1
    assert compared > 25_000
