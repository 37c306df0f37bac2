from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Final

import click

from tenantry._lazy import EntryPointError, entry_points_of, load_entry_point
from tenantry.cli.output import FAILED
from tenantry.tokens import mask_within

PLUGIN_GROUP: Final = "tenantry.commands"
"""The group of entry points for plug-ins. An entry point named ``sql.convert``, for example, is the click command
``tenantry sql convert``."""

_INSTALLED_BY: Final = {"move": "tenantry-convert", "site": "'tenantry[site]'", "sql.convert": "tenantry-convert"}
"""Path of a documented command -> what to install for it."""


class GroupCommands(MutableMapping[str, click.Command]):
    """The commands of a click group: Tenantry's own, and plug-ins from entry points. A plug-in never replaces a command
    of Tenantry."""

    def __init__(self, own: Mapping[str, click.Command], path: str = "") -> None:
        """``path``: the click group's path with a trailing dot, such as ``sql.``."""
        self._own = own
        self._path = path
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            path = f"{self._path}{name}"
            command = self._own.get(name) or _plugin(path)
            if command is None:
                if path in _INSTALLED_BY:
                    return _refusal(f"this command is not installed: pip install {_INSTALLED_BY[path]}")
                raise KeyError(name)
            if isinstance(command, click.Group) and not isinstance(command.commands, GroupCommands):
                command.commands = GroupCommands(command.commands, f"{path}.")
            self._loaded[name] = command
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        added = (path.removeprefix(self._path) for path in entry_points_of(PLUGIN_GROUP) if path.startswith(self._path))
        direct = (name for name in added if "." not in name)
        return iter(dict.fromkeys([*self._own, *direct, *self._loaded]))

    def __len__(self) -> int:
        return len(list(iter(self)))


def _plugin(path: str) -> click.Command | None:
    title = f"the command '{path.replace('.', ' ')}'"
    try:
        return load_entry_point(PLUGIN_GROUP, path, click.Command, expected="a click command", title=title)
    except EntryPointError as error:
        return _refusal(str(error))


def _refusal(problem: str) -> click.Command:
    def refuse() -> None:
        click.echo(mask_within(f"tenantry: {problem}"), err=True)
        sys.exit(FAILED)

    return click.Command(
        None,
        callback=refuse,
        short_help=f"({problem})",
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )


__all__ = ["PLUGIN_GROUP", "GroupCommands"]
