"""JSON with mistakes in it: each is explained at its place, and nothing but commas and comments is forgiven."""

from __future__ import annotations

import pytest

from tenantry_site.config import loads
from tenantry_site.config.source import SourceText

# Name of the mistake, text, code, line, column, a word of the message or the fix.
MISTAKES = [
    ("missing comma in a list", '{"name": "a", "navigation": [\n  "a"\n  "b"\n]}', "CFG009", 2, 5, "comma"),
    ("missing comma in an object", '{"name": "a"\n"navigation": []}', "CFG009", 1, 12, "comma"),
    ("lone =", '{\n=\n"name": "a"}', "CFG010", 2, 1, '"="'),
    ("point for comma", '{"name": "a".\n"b": 1}', "CFG010", 1, 13, "write a comma"),
    ("semicolon", '{"name": "a";\n"b": 1}', "CFG010", 1, 13, "write a comma"),
    ("comment of a shell", '{\n# here\n"name": "a"}', "CFG010", 2, 1, "no comments with #"),
    ("blank that does not break", '{\u00a0"name": "a"}', "CFG010", 1, 2, "U+00A0"),
    ("slash", '{"a": 1 / 2}', "CFG010", 1, 9, '"/"'),
    ("two commas", "[1,,2]", "CFG010", 1, 4, "two commas"),
    ("comma at the beginning", "[,1]", "CFG010", 1, 2, "value is expected"),
    ("comma before the first key", '{,"a": 1}', "CFG010", 1, 2, "key is expected"),
    ("colon in a list", '["a": 1]', "CFG010", 1, 5, "lists have no keys"),
    ("two colons", '{"a":: 1}', "CFG010", 1, 6, "value is expected"),
    ("quote in a string", '{"a": "say "hello" there"}', "CFG010", 1, 12, '\\"'),
    ("path twice", '{"pages": ["a/b"a/b", "c"]}', "CFG010", 1, 16, "follows without a comma"),
    ("YAML", "name: foo\nnavigation: []", "CFG010", 1, 1, "begins with"),
    ("HTML", "<!doctype html>", "CFG010", 1, 1, "begins with"),
    ("list closed by }", '{"pages": ["a"\n}', "CFG011", 2, 1, "[ at line 1, column 11"),
    ("object closed by ]", '[{"pages": ["a"]\n]', "CFG011", 2, 1, "{ at line 1, column 2"),
    ("nothing closed", '{"a": [\n1', "CFG011", 2, 1, "[ at line 1, column 7"),
    ("end after a comma", '{"a": 1,', "CFG011", 1, 8, "{ at line 1, column 1"),
    ("end before a value", '{"a":', "CFG011", 1, 5, "ends"),
    ("end before a colon", '{"a"', "CFG011", 1, 2, "ends"),
    ("path of Windows", r'{"a": "introduction\09-x\fast"}', "CFG012", 1, 20, "write / between folders"),
    ("escape of JavaScript", r'{"a": "\x41"}', "CFG012", 1, 8, "\\x"),
    ("no closing quote", '{"a": "b,\n"c": 1}', "CFG013", 1, 7, "closing quote"),
    ("no closing quote at the end", '{"a": "b', "CFG013", 1, 7, "closing quote"),
    ("end inside a string", '{"name": "a",\n  "\n', "CFG013", 2, 3, "end of the file missing"),
    ("comment without an end", '{"a": 1 /* ', "CFG013", 1, 9, "close it with */"),
    ("merge", '{"a": 1,\n<<<<<<< HEAD\n"b": 1\n=======\n"b": 2\n>>>>>>> x\n}', "CFG014", 2, 1, "merge"),
    ("merge, indented", '{\n  <<<<<<< HEAD\n"b": 1\n  =======\n"b": 2\n  >>>>>>> x\n}', "CFG014", 2, 3, "merge"),
    (
        "merge, and a comma before it",
        '["a" "x"\n<<<<<<< HEAD\n, "b"\n=======\n, "c"\n>>>>>>> x\n]',
        "CFG014",
        2,
        1,
        "merge",
    ),
    ("fence", '```json\n{"a": 1}\n```\n', "CFG015", 1, 1, "fence"),
    ("fence at the end", '{"a": 1}\n```\n', "CFG015", 2, 1, "fence"),
    ("address without quotes", '{"a": https://example.com/x,\n"b": 1}', "CFG016", 1, 7, '"https://example.com/x"'),
    ("word without quotes", '{"a": hello world}', "CFG016", 1, 7, '"hello world"'),
    ("key without quotes", '{name: "a"}', "CFG016", 1, 2, '"name"'),
    ("Python's True", '{"a": True}', "CFG016", 1, 7, "write true"),
    ("undefined", '{"a": undefined}', "CFG016", 1, 7, "write null"),
    ("NaN", '{"a": NaN}', "CFG016", 1, 7, "write null"),
    ("key and value without blanks", "{name:'a'}", "CFG016", 1, 2, 'write "name"'),
    ("a word of Python as a key", "{True: 1}", "CFG016", 1, 2, 'write "True"'),
    ("gzip", b"\x1f\x8b\x08", "CFG003", 1, 2, "not text"),
    ("an image", b"\x89PNG\r\n\x1a\n\0", "CFG003", 1, 1, "not text"),
    ("single quotes", "{'a': 1}", "CFG016", 1, 2, "must be in double quotes"),
    ("typographic quotes", "{\u201ca\u201d: 1}", "CFG016", 1, 2, "must be in double quotes"),
    ("text after the end", '{"name": "a"}\nfoo', "CFG017", 2, 1, '"foo"'),
    ("one brace too many", '{"name": "a"}}', "CFG017", 1, 14, "one too many"),
    ("closed too early", '{"name": "a"},\n"b": 1}', "CFG017", 1, 14, "too early"),
    ("65 brackets", '{"a": ' + "[" * 64 + "]" * 64 + "}", "CFG018", 1, 70, "64"),
    ("number with a zero before", '{"a": 01}', "CFG019", 1, 7, "01"),
    ("number with a plus", '{"a": +1}', "CFG019", 1, 7, "+1"),
    ("number without a zero", '{"a": .5}', "CFG019", 1, 7, ".5"),
    ("list", "[]", "CFG020", 1, 1, "an empty list"),
    ("null", "null", "CFG020", 1, 1, "null"),
    ("no colon", '{"name" "a"}', "CFG022", 1, 8, "no colon"),
    ("equals for colon", '{"name" = "a"}', "CFG022", 1, 9, "write a colon"),
    ("list in braces", '{"a", "b"}', "CFG022", 1, 2, "[ ]"),
    ("no value", '{"a": , "b": 1}', "CFG022", 1, 2, "no value"),
    ("group without a name", '{"a": {"b": 1}, {"c": 2}}', "CFG022", 1, 17, "key is expected"),
    ("tab in a string", '{"a": "x\ty"}', "CFG023", 1, 9, "\\t"),
    ("empty", "", "CFG002", 1, 1, "empty"),
    ("blank", " \n\n", "CFG002", 1, 1, "empty"),
    ("NUL", '{"a":\n"\0"}', "CFG005", 2, 2, "NUL"),
    ("half of a character", '{"a": "\ud800"}', "CFG003", 1, 8, "U+D800"),
    ("Latin-1", b'{"a":\n"\xe9"}', "CFG003", 2, 2, "0xE9"),
    ("UTF-16 with a mark", '{"a": 1}'.encode("utf-16"), "CFG004", 1, 1, "UTF-16"),
    ("UTF-16 without", '{"a": 1}'.encode("utf-16-be"), "CFG004", 1, 1, "UTF-16"),
    ("UTF-32", '{"a": 1}'.encode("utf-32"), "CFG004", 1, 1, "UTF-32"),
]


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "word"), [one[1:] for one in MISTAKES], ids=[one[0] for one in MISTAKES]
)
def test_a_mistake_is_explained(text: str | bytes, code: str, line: int, column: int, word: str) -> None:
    """Red when a mistake gets another code, another place, or no remedy."""
    config, found = loads(text)
    assert config is None
    errors = [one for one in found if one.severity == "error"]
    assert [(one.code, one.line, one.column) for one in errors] == [(code, line, column)]
    assert word in errors[0].message + errors[0].fix
    assert errors[0].fix


def test_what_is_forgiven() -> None:
    """Red when a mark, a comment or a comma keeps a file from being read, or goes without a warning."""
    text = '\ufeff// site\n{"name": /* a */ "a", /* b */ "navigation": [{"group": "g", "pages": ["a", ],},], // c\n}\n'
    for given in (text, text.encode(), text.replace("\n", "\r\n").encode()):
        config, found = loads(given)
        assert config is not None
        assert config.navigation[0].pages == ("a",)
        reported = [(one.code, one.line) for one in found if one.code < "CFG030"]
        assert sorted(reported) == [("CFG006", 1), ("CFG007", 1)] + [("CFG007", 2)] * 3 + [("CFG008", 2)] * 4
        assert {one.severity for one in found} == {"warning"}


def test_all_missing_commas_are_reported() -> None:
    """Red when reading stops at the first missing comma."""
    _, found = loads('{"name": "a"\n"navigation": [{"group": "g" "pages": ["a"\n"b"]}]}')
    assert [(one.code, one.line) for one in found] == [("CFG009", 1), ("CFG009", 2), ("CFG009", 2)]


def test_keys_that_stand_twice() -> None:
    """Red when a key is lost in silence, or two groups in one object are not called so."""
    text = '{"name": "a",\n"name": "b", "navigation": [{"group": "g", "pages": ["a"],\n"group": "h", "pages": ["b"]}]}'
    config, found = loads(text)
    twice = [one for one in found if one.code == "CFG030"]
    assert [(one.line, one.pointer) for one in twice] == [
        (2, "/name"),
        (3, "/navigation/0/group"),
        (3, "/navigation/0/pages"),
    ]
    assert "line 1" in twice[0].message
    assert "}, {" in twice[1].fix
    assert config is not None
    assert (config.name, config.navigation[0].group) == ("b", "h")


def test_escapes_are_characters() -> None:
    """Red when an escape is read wrongly, or half a character gets into the model."""
    config, found = loads(r'{"name": "\u00e9\n\"\ud83d\ude00\ud800", "navigation": []}')
    assert config is not None
    assert config.name == 'é\n"😀\ufffd'
    assert ("CFG024", "/name") in [(one.code, one.pointer) for one in found]


def test_positions_count_every_kind_of_line_end() -> None:
    """Red when lines or columns are off by one, or a pair of CR and LF counts as two."""
    source = SourceText("a\nbc\r\nd\re")
    assert [source.position(offset) for offset in (0, 1, 2, 3, 6, 8)] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (3, 1),
        (4, 1),
    ]
    assert [source.line(line) for line in range(6)] == ["", "a", "bc", "d", "e", ""]
