"""Adds columns for suspended user groups and revoked viewers. Stop older versions first: they would serve both."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("user_groups", sa.Column("suspended", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("user_groups", sa.Column("revoked_viewers", sa.JSON(none_as_null=True)))
