"""Adds tables for hourly usage by group and data source. Older versions do not count usage."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    name = sa.String(255, collation="C").with_variant(sa.String(255, collation="BINARY"), "sqlite")
    op.create_table(
        "usage_by_hour",
        sa.Column("environment", name, nullable=False),
        sa.Column("provided_id", name, nullable=False),
        sa.Column("source", name, nullable=False),
        sa.Column("hour", sa.BigInteger, nullable=False),
        sa.Column("resolves", sa.BigInteger, nullable=False),
        sa.Column("queries", sa.BigInteger, nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("micros", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("environment", "provided_id", "hour", "source", name="pk_usage_by_hour"),
    )
    op.create_index("ix_usage_by_hour_hour", "usage_by_hour", ["hour"])
    op.create_table(
        "usage_writers",
        sa.Column("writer", sa.LargeBinary, nullable=False),
        sa.Column("batch", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("writer", name="pk_usage_writers"),
    )
    op.create_index("ix_usage_writers_expires_at", "usage_writers", ["expires_at"])
