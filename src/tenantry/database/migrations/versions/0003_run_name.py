"""How the processes of a host meet: the name of their folder, and for how long one of them may use an answer.

A process of an earlier version looks for the others in another folder, so it would hear of no write of this version
before its next poll. It is therefore kept from polling and from writing: a column that it names is called otherwise
now. It answers from the store until it is replaced, and a write under a new table waits until its lease has run out.
"""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_USUAL_LEASE = 5_000_000
"""Microseconds: the default staleness bound. Earlier versions did not note theirs."""


def upgrade() -> None:
    """Gives the store its run name, and assumes the default lease where groups may be cached."""
    op.add_column("generation", sa.Column("run_name", sa.String(32)))
    op.add_column("generation", sa.Column("longest_lease", sa.BigInteger, nullable=False, server_default="0"))
    table = sa.table("generation", sa.column("run_name"), sa.column("longest_lease"))
    op.execute(table.update().values(run_name=secrets.token_hex(8)))
    in_use = sa.exists(sa.select(sa.literal(1)).select_from(sa.table("user_groups")))
    op.execute(table.update().where(in_use).values(longest_lease=_USUAL_LEASE))
    op.execute("alter table changes rename column at to written_at")
