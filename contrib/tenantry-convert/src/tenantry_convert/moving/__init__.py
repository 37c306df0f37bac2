from __future__ import annotations

import click

from tenantry_convert.moving.explo import from_explo
from tenantry_convert.moving.looker import from_looker
from tenantry_convert.moving.metabase_tenants import from_metabase
from tenantry_convert.moving.superset import from_superset


@click.group()
def move() -> None:
    """Convert an export of another product to a file for `tenantry group sync`.

    The commands print the file. They open no connection and write no files.
    """


for command in (from_explo, from_looker, from_metabase, from_superset):
    move.add_command(command)

__all__ = ["move"]
