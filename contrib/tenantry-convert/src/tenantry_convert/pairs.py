"""Options that take two names: ``--column created=orders.created_at``."""

from __future__ import annotations

from collections.abc import Iterable

import click


def read_pairs(_context: click.Context, option: click.Parameter, values: Iterable[str]) -> dict[str, str]:
    """Callback of an option: returns its values as a dict. Raises BadParameter for a value that lacks a name."""
    pairs = {}
    for value in values:
        left, _, right = (part.strip() for part in value.partition("="))
        if not (left and right):
            raise click.BadParameter(f"{value!r} is not {option.metavar}")
        pairs[left] = right
    return pairs
