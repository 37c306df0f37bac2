"""Adds seals to audit entries. Older versions add entries without a seal. The next seal covers these entries too."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    # Writers lock these tables in the opposite order. That causes no deadlock, because ``migrate`` holds all locks.
    op.add_column("audit", sa.Column("seal", sa.LargeBinary))
    op.add_column("generation", sa.Column("audit_number", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("generation", sa.Column("audit_mac", sa.LargeBinary))
    op.execute("update generation set audit_number = coalesce((select max(number) from audit), 0)")
