"""Adds columns for suspended user groups and revoked viewers, and a table for daily usage by viewer. Stop all older
versions before you migrate: they would serve suspended groups and revoked viewers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("user_groups", sa.Column("suspended", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("user_groups", sa.Column("revoked_viewers", sa.JSON(none_as_null=True)))
    op.add_column("environments", sa.Column("viewer_usage", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_table(
        "usage_by_viewer",
        sa.Column("team_id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("day", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column(
            "viewer",
            sa.String(255, collation="C").with_variant(sa.String(255, collation="BINARY"), "sqlite"),
            nullable=False,
        ),
        sa.Column("resolves", sa.BigInteger, nullable=False),
        sa.Column("queries", sa.BigInteger, nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("micros", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("team_id", "day", "viewer", name="pk_usage_by_viewer"),
    )
    op.create_index("ix_usage_by_viewer_day", "usage_by_viewer", ["day"])
