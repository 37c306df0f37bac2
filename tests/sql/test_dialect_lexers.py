"""The lexer against a second reader of each dialect: ClickHouse's own lexer, and sqlglot's tokenizers.

(PostgreSQL's own scanner is in test_lexer.py.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from engines.clickhouse import ClickHouse
from engines.corpus import CORPUS
from tenantry.errors import TemplateError
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.lexing.lexer import LexemeKind, lex
from tenantry.sql.source import Source
from tests.sql.test_lexer import REGIONS, regions

LEFT_OUT = {"trino": "`", "redshift": "#", "tsql": "[["}
SECOND_READER = ("bigquery", "databricks", "mysql", "redshift", "snowflake", "trino", "tsql")
BEYOND_ASCII = "\u2018\u2019\u201c\u201d\u00e9"
PIECES = [*"aE1xbrRN \n\r$[]{}\\/*-#?:;%&U", *BEYOND_ASCII]
PIECES += ["--", "/*", "*/", "$$", "$a$", "//", "# ", "#!", "\\'", '\\"', "\\`", "'''", "r'", 'R"', "x'", "]]", "\\\\"]
PIECES += [*"'\"`", "''"] * 4
ENDS = ["", *"'\"`]\n", "$$", "*/", "'''"]


REFUSED = 1 if CORPUS.is_dir() else 3
"""How much more often a text is refused, and so not compared: random pieces more often than the corpus's payloads."""


def texts() -> list[str]:
    """Random pieces of SQL, and the payloads of the corpus where it is: bare and in a literal."""
    random = Random(12)
    made = ["".join([*random.choices(PIECES, k=random.randint(2, 9)), random.choice(ENDS)]) for _ in range(6_000)]
    file = CORPUS / "sqli_payloads.txt"
    lines = file.read_text("utf-8").split("\n")[::20] if file.is_file() else []
    payloads = [text for line in lines if not line.startswith("#!") for text in (line, f"select '{line}' -- x")]
    return [text for text in made + payloads if not any(sign in text for sign in ("{{", "{%", "\\[["))]


def own_regions(text: str, dialect: str, kinds: Iterable[LexemeKind] = REGIONS) -> list[tuple[int, int]] | None:
    """The quoted regions; None for a text that is refused."""
    try:
        lexemes = lex(Source(text), DIALECTS[dialect])
    except TemplateError:
        return None
    return [(lexeme.start, lexeme.end) for lexeme in lexemes if lexeme.kind in kinds]


CURVED = "\u2018a'b\u2019", "\u201cc`d\u201d"
CASES = {
    "clickhouse": [
        [r"'a\'b'", "'it''s'", *CURVED, "'x'"],
        ["# don't\n", "#x", "#! don't\n", "'x'", "// don't\n", "'y'"],
        [r"`a\`b`", r'"c\"d"', "x'41'", "$1$ ' $1$", "/* /* ' */ */"],
        ["\u00e9", "'a'", "$x", "'b'", "a$b$", "'c'", "b$"],
    ],
    "snowflake": [[r"'a\'b'", "$$it's$$", "// don't\n", "'x'", "$x$", "'y'", "$x$"]],
    "bigquery": [
        [r"'a\'b'", r"r'\''", r'rb"\""', '"""a"b"""', "'''it's'''", r"`a\`b`"],
        ["# don't\r", "'x'", "-- don't\n", "''", '""', "''''''"],
    ],
    "redshift": [[r"'a\'b'", "'it''s'", "$$don't$$", "/* /* ' */ */", "`", "'x'", "`"]],
    "databricks": [[r"'a\'b'", r"r'\'", r'"a\"b"', r'R"\"', "x'41'", "`a``b`", "/* /* ' */ */"]],
    "tsql": [[r"N'a\'", "[a]]'b]", "'it''s'", '"a""b"', "/* /* ' */ */", "#t", "'x'"]],
    "trino": [[r"U&'a\'", "'it''s'", '"a""b"', "/* /* */", "'x'", "-- don't\r", "'y'"]],
    "mariadb": [[r"'a\'b'", "# don't\n", "'x'"]],
}
CODE = {"#x", "\u00e9", "$x", "a$b$", "b$", "`", "#t", "$x$"}


@pytest.mark.parametrize(("dialect", "pieces"), [(dialect, case) for dialect, cases in CASES.items() for case in cases])
def test_regions_end_where_the_dialect_ends_them(dialect: str, pieces: list[str]) -> None:
    """Each dialect's own quotes: every piece but those in CODE is a region.

    Red for each when its rule is taken out of the dialect's file.
    """
    expected = [piece.rstrip("\r\n") for piece in pieces if piece not in CODE]
    assert regions(" ".join(pieces), dialect) == expected


def test_the_lexer_agrees_with_clickhouse(clickhouse: ClickHouse, tmp_path: Path) -> None:
    """Same regions as ClickHouse's own lexer: its function ``tokenizeQuery``.

    Red when one of ``slash_comment``, ``typographic_quotes``, ``ascii_words``, ``name_backslash``, ``nested_comments``
    or ``plain_prefixes`` is taken out of the dialect, or ``#`` made a comment everywhere.
    """
    given = texts()
    file = tmp_path / "texts"
    file.write_text("".join(text.encode().hex() + "\n" for text in given))
    tokens = "arrayMap(t -> (t.1, t.2, toString(t.3)), tokenizeQuery(unhex(line)))"
    rows = clickhouse.query(f"select {tokens} from file('{file}', 'LineAsString', 'line String')")
    assert len(rows) == len(given)
    compared = 0
    for text, (found,) in zip(given, rows, strict=True):
        own = own_regions(text, "clickhouse")
        if own is None or any(kind.startswith("Error") and kind != "Error" for *_, kind in found):
            continue  # a region without an end
        data = text.encode()
        quoted = {"StringLiteral", "QuotedIdentifier", "HereDoc", "Comment"}
        expected = [(len(data[:a].decode()), len(data[:b].decode())) for a, b, kind in found if kind in quoted]
        assert own == expected, text
        compared += 1
    assert compared * REFUSED > len(given) / 3


STRINGS = {
    *(TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING),
    *(TokenType.UNICODE_STRING, TokenType.BYTE_STRING, TokenType.HEX_STRING, TokenType.BIT_STRING),
}
_PREFIX = re.compile(r"[A-Za-z]*&?(?=['\"$])")


def sqlglot_regions(text: str, dialect: str) -> list[tuple[int, int]] | None:
    """The strings and quoted names; None for a text that it refuses, or whose body is one token to it."""
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(text)
    except SqlglotError:
        return None
    found = []
    for token in tokens:
        if token.token_type in STRINGS and text[token.start] != "0":
            if _PREFIX.match(text, token.start) is None:
                return None
            found.append((token.start, token.end + 1))
        elif token.token_type is TokenType.IDENTIFIER and text[token.start] in '"`[':
            found.append((token.start, token.end + 1))
    return found


def joined(text: str, found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Without the letters before a quote, and as one where one begins at the end of another."""
    last: tuple[int, int] | None = None
    for start, end in found:
        prefix = _PREFIX.match(text, start)
        start = prefix.end() if prefix else start
        if last and last[1] == start:
            last = (last[0], end)
            continue
        if last:
            yield last
        last = (start, end)
    if last:
        yield last


@pytest.mark.parametrize("dialect", SECOND_READER)
def test_the_lexer_agrees_with_sqlglot(dialect: str) -> None:
    """Same strings and quoted names as a second reader, where there is no engine to ask.

    Left out: text beyond ASCII; statements whose body sqlglot takes for one string; for Trino backticks, which its own
    grammar has and sqlglot has not; for Redshift ``#``, which sqlglot reads into names; for T-SQL ``[[``.
    Red when e.g. ``triple_quotes`` of bigquery, ``slash_comment`` of snowflake, ``bracket_doubled`` of tsql or
    ``backslash`` of redshift, databricks or snowflake is taken out.
    """
    compared, refused, given = 0, 0, texts()
    kinds = REGIONS - {LexemeKind.COMMENT}
    for text in given:
        if not text.isascii() or LEFT_OUT.get(dialect, "{{") in text:
            continue
        own, theirs = own_regions(text, dialect, kinds), sqlglot_regions(text, dialect)
        if own is None or theirs is None:
            refused += (own is None) != (theirs is None)
            continue
        own = [(start, end) for start, end in own if not text.startswith("/*+", start)]
        assert list(joined(text, own)) == list(joined(text, theirs)), text
        compared += 1
    assert compared * REFUSED > len(given) / 4
    most = 20 if dialect == "mysql" else 50  # MySQL's --x and /*! are refused
    assert refused < REFUSED * compared / most, "what one reader takes, the other takes"
