from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import click

from tenantry.cli.output import FAILED
from tenantry.tokens import mask_within

PLUGIN_GROUP: Final = "tenantry.commands"
"""The entry point group of plug-ins. An entry point named ``sql.convert`` is the click command of ``tenantry sql
convert``."""

_INSTALLED_BY: Final = {"move": "tenantry-convert", "site": "'tenantry[site]'", "sql.convert": "tenantry-convert"}
"""Path of a documented command -> what to install for it."""


class GroupCommands(MutableMapping[str, click.Command]):
    """The commands of a click group, each imported at its first use: Tenantry's own, and plug-ins from entry points. A
    plug-in never replaces a command of Tenantry."""

    def __init__(self, own: Mapping[str, click.Command], path: str = "") -> None:
        """``path``: the group's path with a trailing dot, such as ``sql.``; empty for ``tenantry``."""
        self._own = own
        self._path = path
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            path = f"{self._path}{name}"
            if name in self._own:
                command = self._own[name]
            elif points := _plugins().get(path):
                command = _load(path, points)
            elif path in _INSTALLED_BY:
                return _refusal(f"this command is not installed: pip install {_INSTALLED_BY[path]}")
            else:
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
        added = (path.removeprefix(self._path) for path in _plugins() if path.startswith(self._path))
        direct = (name for name in added if "." not in name)
        return iter(dict.fromkeys([*self._own, *direct, *self._loaded]))

    def __len__(self) -> int:
        return len(list(iter(self)))


@cache
def _plugins() -> Mapping[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=PLUGIN_GROUP):
        found.setdefault(point.name, []).append(point)
    return found


def _load(path: str, points: list[EntryPoint]) -> click.Command:
    name = path.replace(".", " ")
    point = points[0]
    origins = ", ".join(sorted(f"{each.dist.name} {each.dist.version}" for each in points if each.dist is not None))
    if len(points) > 1:
        return _refusal(f"the command '{name}' comes from several distributions: {origins}. Uninstall one.")
    try:
        command = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a plug-in's module may raise anything
        reason = f"{type(error).__name__}: {error}"
    else:
        if isinstance(command, click.Command):
            return command
        reason = f"{point.value} is not a click command"
    return _refusal(f"the command '{name}' of {origins} cannot be loaded: {' '.join(reason.split())}")


def _refusal(problem: str) -> click.Command:
    """A command that only prints the problem and exits with 1."""

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
