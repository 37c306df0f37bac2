"""What a store says of itself and of those who read it, changed."""

from __future__ import annotations

import secrets
from math import ceil

from sqlalchemy import Connection

from tenantry.backends.sql.queries import LONGEST_LEASE
from tenantry.backends.sql.tables import generation
from tenantry.backends.sql.words import StoreIdentity


def rename(connection: Connection, identity: StoreIdentity) -> None:
    """Gives the store another random run name if it has this one still: of many who want that, one does it."""
    this = (generation.c.store_id == identity.store_id, generation.c.run_name == identity.run_name)
    connection.execute(generation.update().where(*this).values(run_name=secrets.token_hex(8)))


def raise_lease(connection: Connection, seconds: float) -> float:
    """Notes that a process may use what it knows for so long, unless one could already for as long; what was noted
    before, in seconds. 0.0: no lease was ever given."""
    before: int = connection.execute(LONGEST_LEASE).scalar_one()
    wanted = ceil(seconds * 1e6)
    if wanted > before:
        connection.execute(generation.update().values(longest_lease=wanted))
    return before / 1e6
