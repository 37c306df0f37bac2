"""Adds a table of single-use codes, and a column for embedding hosts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "single_use_codes",
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_single_use_codes"),
    )
    op.create_index("ix_single_use_codes_expires_at", "single_use_codes", ["expires_at"])
    op.add_column("environments", sa.Column("embedding_hosts", sa.JSON))  # a list of origins, or NULL for none
