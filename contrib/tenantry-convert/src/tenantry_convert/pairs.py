"""Options that take pairs, such as ``--column created=orders.created_at``."""

from __future__ import annotations

from collections.abc import Iterable

import click


def read_pairs(_context: click.Context, option: click.Parameter, values: Iterable[str]) -> dict[str, str]:
    """Click callback that returns an option's pairs as a dict. Raises BadParameter for a value that is not a pair."""
    pairs = {}
    for value in values:
        left, _, right = (part.strip() for part in value.partition("="))
        if not (left and right):
            raise click.BadParameter(f"{value!r} is not {option.metavar}")
        pairs[left] = right
    return pairs
