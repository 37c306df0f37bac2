"""The editor in the browser finds tags, strings, names and comments where the server's lexer finds them."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from engines.samples import sampled
from tenantry.errors import TemplateError
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.lexing.tags import read_tag
from tenantry.sql.source import Source
from tests.clients.languages import node
from tests.sql.wild_spellings import SPELLINGS, Spelling

CODE = Path(__file__).parents[2] / "frontend" / "src" / "editor" / "code"
MAP = Path(__file__).with_name("lexer_map.mjs")
LETTERS = {LexemeKind.COMMENT: "c", LexemeKind.STRING: "s", LexemeKind.INTERPOLATED_STRING: "s", LexemeKind.TAG: "t"}
PIECES = (
    *(
        "select a",
        " from t ",
        "where b = ",
        "{{ x }}",
        "{{ user_group.y | json }}",
        "{{> part/one }}",
        "'",
        "''",
        '"',
        '""',
    ),
    *(
        "`",
        "``",
        "[[",
        "]]",
        "[",
        "]",
        "]]]",
        "\\",
        "\\\\",
        "\\{{",
        "\\[[",
        "{",
        "}",
        "}}",
        "(",
        ")",
        "-- line",
        "--",
        "#",
        "# x",
    ),
    *(
        "//",
        "/*",
        "*/",
        "/* {{ c }} */",
        "$$",
        "$tag$",
        "$1",
        "E'a\\'b'",
        "x'0f'",
        "N'n'",
        "U&'a'",
        "r'\\'",
        "'''",
        '"""',
        "\n",
    ),
    *(
        " ",
        "1.5e3",
        ",",
        ";",
        "::date",
        "é",
        "\u2018q\u2019",
        "\U0001f600",
        "{{ a | one_of(x: 'y {{ z }}', w: f(1)) }}",
    ),
    *(
        "/* a /* b */ {{ c }} */",
        "`a\\`b`",
        '"a\\"b"',
        "x'\\'",
        "[a]]b]",
        "'a''b'",
        "{{ p | within(d) }}",
        "'a {{ v }} b'",
        "[[ and c = {{ d }} ]]",
        "{{\n v\n}}",
    ),
)
"""What the dialects read differently, and our syntax."""


def server_map(text: str, dialect: str) -> str:
    """The letters of ``lexer_map.mjs``, by the server's lexer. Raises TemplateError for a tag that is not one."""
    letters = ["."] * len(text)
    source = Source(text)
    for lexeme in lex(source, DIALECTS[dialect]):
        _fill(letters, source, lexeme, ".")
    return "".join(
        letter * (2 if ord(character) > 0xFFFF else 1) for letter, character in zip(letters, text, strict=True)
    )


def _fill(letters: list[str], source: Source, lexeme: Lexeme, outside: str) -> None:
    text = source.text
    if lexeme.kind is LexemeKind.TAG and not text.startswith("{{>", lexeme.start):
        read_tag(source, lexeme)
    letter = LETTERS.get(lexeme.kind, outside)
    if lexeme.kind is LexemeKind.QUOTED:
        letter = {"$": "s", "/": "c"}.get(text[lexeme.start], "n")
    elif lexeme.kind is LexemeKind.ESCAPE and outside == "s":
        letter = "s"
    letters[lexeme.start : lexeme.end] = letter * (lexeme.end - lexeme.start)
    for part in lexeme.parts:
        _fill(letters, source, part, letter)


def browser_maps(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = "\n".join(json.dumps({"dialect": dialect, "text": text}) for dialect, text in texts)
    runner = node()
    command = [*runner.command, str(MAP), str(CODE)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    yield from done.stdout.splitlines()


def compared(maps: dict[tuple[str, str], str]) -> None:
    """The server's maps, by dialect and text, with the browser's. White space counts only within strings and names: a
    comment may or may not own the end of its line."""
    for ((dialect, text), expected), found in zip(maps.items(), browser_maps(maps), strict=True):
        units = text.encode("utf-16-le")
        spaces = [units[at : at + 2].decode("utf-16-le", "replace").isspace() for at in range(0, len(units), 2)]
        shown = [
            "".join(" " if space else letter for letter, space in zip(each, spaces, strict=True))
            for each in (found, expected)
        ]
        assert shown[0] == shown[1], (dialect, text)


def test_written_queries() -> None:
    """The corpus of wild queries in our language. Red with ``{{`` no longer read within strings."""
    written = [each for each in SPELLINGS.values() if isinstance(each, Spelling)]
    compared({(each.dialect, each.sql): server_map(each.sql, each.dialect) for each in written})


@sampled(3)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_composed_texts(dialect: str) -> None:
    """Texts composed of what dialects read differently; those that the server refuses are left out. Red with
    ``nested`` turned round, and with each other rule of frontend/src/editor/code/rules.js that a dialect sets."""
    chosen, maps = random.Random(33), dict[tuple[str, str], str]()  # not for secrets
    while len(maps) < 2_000:
        text = "".join(chosen.choices(PIECES, k=chosen.randint(1, 9)))
        with suppress(TemplateError):
            maps[dialect, text] = server_map(text, dialect)
    compared(maps)
