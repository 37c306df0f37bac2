"""How the processes of a host meet: the name of their folder, and for how long one of them may use an answer."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("generation", sa.Column("run_name", sa.String(32)))
    op.add_column("generation", sa.Column("longest_lease", sa.BigInteger, nullable=False, server_default="0"))
    table = sa.table("generation", sa.column("run_name"))
    op.execute(table.update().values(run_name=secrets.token_hex(8)))
