"""Adds a column for the name of the run folder on each host, and a column for the longest lease.

Older versions use another run folder and would miss writes. So this migration renames a column, which makes the polls
and writes of older versions fail. This version does not write until the leases of older versions have ended."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_USUAL_LEASE = 5_000_000
"""The default staleness bound in microseconds. Earlier versions did not record their leases."""


def upgrade() -> None:
    op.add_column("generation", sa.Column("run_name", sa.String(32)))
    op.add_column("generation", sa.Column("longest_lease", sa.BigInteger, nullable=False, server_default="0"))
    table = sa.table("generation", sa.column("run_name"), sa.column("longest_lease"))
    op.execute(table.update().values(run_name=secrets.token_hex(8)))
    in_use = sa.exists(sa.select(sa.literal(1)).select_from(sa.table("user_groups")))
    op.execute(table.update().where(in_use).values(longest_lease=_USUAL_LEASE))
    op.execute("alter table changes rename column at to written_at")
