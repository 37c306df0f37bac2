"""Text that a shell can pass on and a store cannot store, and text of others that must not control a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Terminal

NOT_UTF8 = "\udcff"  # how Python shows the byte 0xff of an argument


@pytest.mark.parametrize("word", [NOT_UTF8, "", "x" * 256])
@pytest.mark.parametrize(
    "words",
    [
        ("environment", "create", "{}", "--tag", "Customer"),
        ("data-source", "create", "{}", "--url", "sqlite:///w.db"),
        ("data-source", "delete", "{}"),
        ("group", "create", "{}"),
        ("group", "get", "{}"),
        ("group", "delete", "{}", "--yes"),
        ("group", "list", "--environment", "{}"),
    ],
)
def test_a_name_is_up_to_255_characters_of_utf_8(ready: Terminal, words: tuple[str, ...], word: str) -> None:
    """Anything else is wrong usage. Red without the type: a driver's traceback, or an environment without a name."""
    assert "Invalid value" in ready(*(each.format(word) for each in words), fails=2).err


def test_a_label_may_be_empty_and_is_utf_8(ready: Terminal) -> None:
    """A label need not be given."""
    assert ready("api-token", "create", "--label", "").out.startswith("ugkc_")
    ready("api-token", "create", "--label", NOT_UTF8, fails=2)


def test_an_id_beyond_every_number_is_wrong_usage(ready: Terminal) -> None:
    """Red when the number goes to the driver: an OverflowError came out."""
    ready("api-token", "revoke", "9" * 20, fails=2)
    ready("api-token", "revoke", "0", fails=2)


def test_a_port_beyond_the_last_is_wrong_usage(terminal: Terminal) -> None:
    """Red when the port goes to the socket: an OverflowError came out."""
    terminal("demo", "--port", "99999", fails=2)


def test_a_name_cannot_forge_a_row_or_steer_the_terminal(ready: Terminal) -> None:
    """Line breaks, escapes and direction marks are spelled out in tables, and are exact in JSON.

    Red when the cell is printed as it is: the second line looked like a row of its own.
    """
    name = "Acme\n9  evil\x1b[2J\u202e\x9b"
    ready("group", "create", "acme", "--name", name, "--property", 'note="a\u202eb"')
    lines = ready("group", "list").out.splitlines()
    assert len(lines) == 2
    assert r"Acme\n9  evil\x1b[2J\u202e\x9b" in lines[1]
    assert "\u202e" not in ready("group", "get", "acme").out
    assert ready("group", "list", "--json").json()[0]["name"] == name


def test_a_name_with_a_space_is_quoted_in_what_to_type_next(ready: Terminal) -> None:
    """A command that is shown can be pasted."""
    assert "--environment 'my env'" in ready("environment", "create", "my env", "--tag", "Testing").err


def test_contradictions_are_wrong_usage(ready: Terminal) -> None:
    """One property twice, or cleared and set: nothing is guessed. Red when the last one, or the clearing, wins."""
    ready("group", "create", "acme", "--property", "a=1")
    assert "twice" in ready("group", "update", "acme", "--property", "a=1", "--property", "a=2", fails=2).err
    result = ready("group", "update", "acme", "--clear", "properties", "--property", "a=2", fails=2)
    assert "contradict" in result.err
    assert ready("group", "get", "acme", "--json").json()["properties"] == {"a": 1}


def test_an_empty_name_is_refused(ready: Terminal) -> None:
    """``--name ''`` is not the same as no --name. Red when ``or`` decides: the group was called by its id."""
    assert "[invalid_body]" in ready("group", "create", "acme", "--name", "", fails=1).err


def test_what_is_not_json_is_text(ready: Terminal) -> None:
    """NaN is no JSON (RFC 8259), whatever Python's reader takes."""
    ready("group", "create", "acme", "--property", "a=NaN", "--property", "b=-Infinity", "--property", "c=1e3")
    assert ready("group", "get", "acme", "--json").json()["properties"] == {"a": "NaN", "b": "-Infinity", "c": 1000.0}


def test_a_settings_file_of_other_bytes_is_refused(terminal: Terminal, folder: Path) -> None:
    """Red when only TOML's own error is caught: a UnicodeDecodeError came out."""
    (folder / "tenantry.toml").write_bytes(b"\xff\xfe")
    assert "not TOML" in terminal("keys", "list", fails=2).err
