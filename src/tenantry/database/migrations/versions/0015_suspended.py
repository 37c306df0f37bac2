"""Adds a column for suspended user groups. Stop older versions first: they would serve a suspended group."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("user_groups", sa.Column("suspended", sa.Boolean, nullable=False, server_default=sa.false()))
