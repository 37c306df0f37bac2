"""``tenantry move``: customers of another product as a file for ``tenantry group sync``."""

from __future__ import annotations

import click

from tenantry_convert.moving.explo import from_explo
from tenantry_convert.moving.looker import from_looker
from tenantry_convert.moving.metabase_tenants import from_metabase
from tenantry_convert.moving.superset import from_superset


@click.group()
def move() -> None:
    """Turn an export of another product into a file of groups.

    The file is printed, for tenantry group sync. These commands connect to nothing and write nothing else.
    """


for command in (from_explo, from_looker, from_metabase, from_superset):
    move.add_command(command)

__all__ = ["move"]
