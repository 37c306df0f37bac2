"""docs/settings.md gives an option its environment variable: every command that has the option takes the variable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tenantry.cli import commands

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
ROWS = re.findall(r"^\| `(TENANTRY_\w+)` \| `(--[\w-]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)


def _commands(command: click.Command, *names: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(names), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from _commands(found, *names, name)


COMMANDS = dict(_commands(commands))


def test_the_page_and_the_commands_are_read() -> None:
    assert ("TENANTRY_PORT", "--port") in ROWS
    assert {"demo", "serve", "site serve", "group rotate"} <= set(COMMANDS)


@pytest.mark.parametrize(("variable", "option"), ROWS, ids=lambda value: value)
def test_every_command_reads_an_option_s_variable(variable: str, option: str) -> None:
    """Red for ``demo`` when its --port is written without TENANTRY_PORT."""
    having = {
        name: parameter
        for name, command in COMMANDS.items()
        for parameter in command.params
        if option in parameter.opts and not parameter.multiple  # a list limits something else than one choice does
    }
    assert having
    assert [name for name, parameter in having.items() if parameter.envvar != variable] == []
