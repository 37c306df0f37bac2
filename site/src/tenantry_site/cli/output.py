"""What commands print: results on stdout, prose on stderr."""

from __future__ import annotations

import click


def say(text: str) -> None:
    """Prose: on stderr, so that stdout stays what a script asked for."""
    click.echo(text, err=True)


def printable(text: str) -> str:
    """Text on one line that does nothing to the terminal it is shown on: a page must not steer it."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def program() -> str:
    """What was typed before the name of this command: ``tenantry site`` or ``tenantry-site``."""
    context = click.get_current_context()
    return (context.parent or context).command_path
