"""Commands of other distributions: found by their entry points, in a process of their own, from a real ``dist-info``
folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from engines.terminal import CommandResult
from tests.cli.one_process import run_all

WORKING = """
import click

@click.command()
@click.option("--loudly", is_flag=True)
def hello(loudly):
    '''Greet the reader.'''
    click.echo("HELLO" if loudly else "hello")

@click.group()
def tools():
    '''Hold other commands.'''

@tools.command()
def inner():
    click.echo("inner")
"""

Plugin = Callable[..., None]


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """``plugin("tenantry-hello", source, hello="hello_plugin:hello")`` installs a distribution with one module."""

    def install(distribution: str, source: str, points: Mapping[str, str]) -> None:
        module = distribution.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (info / "entry_points.txt").write_text("\n".join(["[tenantry.commands]", *lines, ""]))

    return install


def tenantry(folder: Path, *lines: str, before: str = "") -> list[CommandResult]:
    """Runs commands where the distributions of this folder are installed."""
    return run_all(folder, *lines, before=before, variables={"PYTHONPATH": str(folder)})


def test_a_distribution_adds_a_command_at_any_place(plugin: Plugin, tmp_path: Path) -> None:
    """At the top, within a group of Tenantry, and within a group of another distribution. Red when only the top level,
    or only the groups of Tenantry, look for entry points."""
    points = {"hello": "a:hello", "sql.hello": "a:hello", "tools": "a:tools", "tools.hello": "a:hello"}
    plugin("a", WORKING, points)
    *working, listed, listed_of_sql, elsewhere = tenantry(
        tmp_path, "hello --loudly", "sql hello", "tools hello", "tools inner", "--help", "sql --help", "group hello"
    )
    assert [result.out for result in working] == ["HELLO\n", "hello\n", "hello\n", "inner\n"]
    assert "  hello  " in listed.out
    assert "  hello " in listed_of_sql.out
    assert "  render " in listed_of_sql.out
    assert elsewhere.code == 2
    assert "No such command 'hello'" in elsewhere.err


BROKEN = {
    "raises": ("raise ValueError('first line\\nsecond line')", "ValueError: first line second line"),
    "exits": ("import sys; sys.exit(7)", "SystemExit: 7"),
    "is-no-python": ("def", "SyntaxError: "),
    "needs-what-is-not-installed": ("import nonsense_xyz", "No module named 'nonsense_xyz'"),
    "has-no-such-name": ("", "has no attribute 'hello'"),
    "has-no-such-module": (None, "No module named 'has_no_such_module'"),
    "is-no-command": ("hello = 3", "is_no_command:hello is not a click command"),
}
"""Distribution -> the source of its module, and why its commands cannot be loaded."""


def test_a_broken_plugin_is_one_line_and_breaks_nothing_else(plugin: Plugin, tmp_path: Path) -> None:
    """The line names the distribution and the error. Red when the exception goes through ``--help``, and when a plug-in
    that calls ``sys.exit`` ends the process."""
    for name, (source, _) in BROKEN.items():
        value = f"{name.replace('-', '_')}:hello"
        plugin(name, source or "", {name: value, f"sql.{name}": value})
    (tmp_path / "has_no_such_module.py").unlink()
    plugin("good", WORKING, {"hello": "good:hello"})
    lines = [line for name in BROKEN for line in (name, f"{name} a --option --help", f"sql {name}")]
    listed, hello, *refused = tenantry(tmp_path, "--help", "hello", *lines)
    for name in (*BROKEN, "hello", "serve"):
        assert f"  {name} " in listed.out
    assert listed.err == ""
    assert hello.out == "hello\n"
    for line, result in zip(lines, refused, strict=True):
        words = line.split()
        command, name = (line, words[1]) if words[0] == "sql" else (words[0], words[0])
        assert (result.code, result.out) == (1, ""), result
        (said,) = result.err.splitlines()
        assert said.startswith(f"tenantry: the command '{command}' of {name} 1.0 cannot be loaded: ")
        assert BROKEN[name][1] in said


def test_two_distributions_with_one_command_are_refused(plugin: Plugin, tmp_path: Path) -> None:
    """The order of an import path must not choose what runs. Red when the first one is taken."""
    plugin("one", WORKING, {"hello": "one:hello"})
    plugin("two", WORKING, {"hello": "two:hello"})
    refused, listed = tenantry(tmp_path, "hello", "--help")
    assert refused.code == 1
    assert refused.err == (
        "tenantry: the command 'hello' comes from several distributions: one 1.0, two 1.0. Uninstall all but one.\n"
    )
    assert "  hello " in listed.out


def test_no_plugin_replaces_a_command_of_tenantry(plugin: Plugin, tmp_path: Path) -> None:
    """Red when an entry point comes first: any package could read the secrets that ``keys`` and ``api-token`` print."""
    plugin("bad", "raise SystemExit(9)", {"sql": "bad:x", "sql.render": "bad:x", "keys": "bad:x", "keys.new": "bad:x"})
    render, keys = tenantry(tmp_path, "sql render --help", "keys new")
    assert "for a group" in render.out
    assert keys.code == 0


def test_a_command_of_tenantry_reads_no_entry_points(tmp_path: Path) -> None:
    """They cost a walk over all that is installed. Red when a group asks for them before it asks for its commands."""
    before = (
        "import importlib.metadata as m\n"
        "real = m.entry_points\n"
        "def scan(**given):\n"
        "    assert given['group'] != 'tenantry.commands'\n"
        "    return real(**given)\n"
        "m.entry_points = scan\n"
    )
    (done,) = tenantry(tmp_path, "keys new", before=before)
    assert done.code == 0, done


def test_a_command_that_is_not_installed_says_what_to_install(tmp_path: Path) -> None:
    """A name that the documentation has is not wrong usage, and help does not list it. Red when it is an unknown
    command."""
    requirements = {
        "site check handbook --strict": "'tenantry[site]'",
        "sql convert --from metabase a.sql": "tenantry-convert",
        "move explo --help": "tenantry-convert",
    }
    nothing_installed = "import importlib.metadata as m\nm.entry_points = lambda **_: m.EntryPoints(())\n"
    listed, listed_of_sql, *refused = tenantry(
        tmp_path, "--help", "sql --help", *requirements, before=nothing_installed
    )
    for result, requirement in zip(refused, requirements.values(), strict=True):
        expected = f"tenantry: this command is not installed: pip install {requirement}\n"
        assert (result.code, result.out, result.err) == (1, "", expected)
    assert listed.code == listed_of_sql.code == 0
    assert "  serve " in listed.out
    assert "  render " in listed_of_sql.out
    for name, result in (("site", listed), ("convert", listed_of_sql), ("move", listed)):
        assert f"  {name} " not in result.out
