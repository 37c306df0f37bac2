"""Entries of the audit trail may be sealed; the chain begins after those that are there.

A process of an earlier version, or one without the keys, goes on to add entries without a seal. The next seal covers
them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Adds the columns. A writer locks the two tables in the other order, so ``migrate`` has locked both by now."""
    op.add_column("audit", sa.Column("seal", sa.LargeBinary))
    op.add_column("generation", sa.Column("audit_number", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("generation", sa.Column("audit_mac", sa.LargeBinary))
    op.execute("update generation set audit_number = coalesce((select max(number) from audit), 0)")
