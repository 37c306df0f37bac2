from __future__ import annotations

import click

from tenantry.cli.options import OptionDecorator
from tenantry.editor import ALL_BUT_UNGUARDED, Right


def _with_view(_context: click.Context, _parameter: click.Parameter, rights: tuple[str, ...]) -> frozenset[Right]:
    return frozenset({Right.VIEW, *map(Right, rights)})


rights_option: OptionDecorator = click.option(
    "--right",
    "rights",
    type=click.Choice([each.value for each in Right]),
    multiple=True,
    default=[each.value for each in Right if each in ALL_BUT_UNGUARDED],
    show_default=True,
    callback=_with_view,
    help="What the author may do; repeatable. view is always included; unguarded permits reading all rows of "
    "guarded tables.",
)
