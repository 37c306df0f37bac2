"""Commands of other distributions: found by their entry points, in a real process, from a real ``dist-info`` folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

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


def tenantry(folder: Path, *words: str, fails: int = 0) -> tuple[str, str]:
    """The output and the errors of ``tenantry`` where the distributions of this folder are installed."""
    done = subprocess.run(
        [sys.executable, "-m", "tenantry", *words],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == fails, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def test_a_distribution_adds_a_command_at_any_place(plugin: Plugin, tmp_path: Path) -> None:
    """At the top, within a group of Tenantry, and within a group of another distribution. Red when only the top level,
    or only the groups of Tenantry, look for entry points."""
    points = {"hello": "a:hello", "sql.hello": "a:hello", "tools": "a:tools", "tools.hello": "a:hello"}
    plugin("a", WORKING, points)
    assert tenantry(tmp_path, "hello", "--loudly")[0] == "HELLO\n"
    assert tenantry(tmp_path, "sql", "hello")[0] == "hello\n"
    assert tenantry(tmp_path, "tools", "hello")[0] == "hello\n"
    assert tenantry(tmp_path, "tools", "inner")[0] == "inner\n"
    assert "  hello  " in tenantry(tmp_path, "--help")[0]
    listed, _ = tenantry(tmp_path, "sql", "--help")
    assert "  hello " in listed
    assert "  render " in listed
    assert "No such command 'hello'" in tenantry(tmp_path, "group", "hello", fails=2)[1]


BROKEN = {
    "raises": ("raise ValueError('first line\\nsecond line')", "bad:hello", "ValueError: first line second line"),
    "exits": ("import sys; sys.exit(7)", "bad:hello", "SystemExit: 7"),
    "is no Python": ("def", "bad:hello", "SyntaxError: "),
    "needs what is not installed": ("import nonsense_xyz", "bad:hello", "No module named 'nonsense_xyz'"),
    "has no such name": ("", "bad:hello", "has no attribute 'hello'"),
    "has no such module": ("", "worse:hello", "No module named 'worse'"),
    "is no command": ("hello = 3", "bad:hello", "bad:hello is not a click command"),
}
FIRST = ("exits", "is no command")
"""Those of the first tier."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[] if case in FIRST else pytest.mark.slow) for case in BROKEN]
)
def test_a_broken_plugin_is_one_line_and_breaks_nothing_else(case: str, plugin: Plugin, tmp_path: Path) -> None:
    """The line names the distribution and the error. Red when the exception goes through ``--help``, and when a plug-in
    that calls ``sys.exit`` ends the process."""
    source, value, reason = BROKEN[case]
    plugin("bad", source, {"broken": value, "sql.broken": value})
    plugin("good", WORKING, {"hello": "good:hello"})
    listed, errors = tenantry(tmp_path, "--help")
    assert "  broken " in listed
    assert "  hello " in listed
    assert "  serve " in listed
    assert errors == ""
    assert tenantry(tmp_path, "hello")[0] == "hello\n"
    for words in (("broken",), ("broken", "a", "--option", "--help"), ("sql", "broken")):
        output, errors = tenantry(tmp_path, *words, fails=1)
        assert output == ""
        (line,) = errors.splitlines()
        name = "sql broken" if "sql" in words else "broken"
        assert line.startswith(f"tenantry: the command '{name}' of bad 1.0 cannot be loaded: ")
        assert reason in line


def test_two_distributions_with_one_command_are_refused(plugin: Plugin, tmp_path: Path) -> None:
    """The order of an import path must not choose what runs. Red when the first one is taken."""
    plugin("one", WORKING, {"hello": "one:hello"})
    plugin("two", WORKING, {"hello": "two:hello"})
    _, errors = tenantry(tmp_path, "hello", fails=1)
    assert (
        errors == "tenantry: the command 'hello' comes from several distributions: one 1.0, two 1.0. Uninstall one.\n"
    )
    assert "  hello " in tenantry(tmp_path, "--help")[0]


def test_no_plugin_replaces_a_command_of_tenantry(plugin: Plugin, tmp_path: Path) -> None:
    """Red when an entry point comes first: any package could read the secrets that ``keys`` and ``api-token`` print."""
    plugin("bad", "raise SystemExit(9)", {"sql": "bad:x", "sql.render": "bad:x", "keys": "bad:x", "keys.new": "bad:x"})
    assert "for a group" in tenantry(tmp_path, "sql", "render", "--help")[0]
    tenantry(tmp_path, "keys", "new")


def test_a_command_of_tenantry_reads_no_entry_points(tmp_path: Path) -> None:
    """They cost a walk over all that is installed. Red when a group asks for them before it asks for its commands."""
    code = (
        "import importlib.metadata as m\n"
        "real = m.entry_points\n"
        "def scan(**given):\n"
        "    assert given['group'] != 'tenantry.commands'\n"
        "    return real(**given)\n"
        "m.entry_points = scan\n"
        "from tenantry.cli import commands\n"
        "commands(['keys', 'new'], prog_name='tenantry')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("group", "words", "requirement"),
    [
        ((), ("site", "check", "handbook", "--strict"), "'tenantry[site]'"),
        (("sql",), ("convert", "--from", "metabase", "a.sql"), "tenantry-convert"),
        ((), ("move", "explo", "--help"), "tenantry-convert"),
    ],
)
def test_a_command_that_is_not_installed_says_what_to_install(
    group: tuple[str, ...], words: tuple[str, ...], requirement: str, tmp_path: Path
) -> None:
    """A name that the documentation has is not wrong usage, and help does not list it. Red when it is an unknown
    command."""
    code = (
        "import importlib.metadata as m, sys\n"
        "m.entry_points = lambda **_: m.EntryPoints(())\n"
        "from tenantry.cli import commands\n"
        "commands(sys.argv[1:], prog_name='tenantry')\n"
    )

    def run(*given: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *group, *given]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)

    done = run(*words)
    expected = f"tenantry: this command is not installed: pip install {requirement}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", expected)
    done = run("--help")
    assert done.returncode == 0, done.stderr
    assert f"  {words[0]} " not in done.stdout
