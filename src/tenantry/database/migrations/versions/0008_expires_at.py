"""Adds a column for the end date of user groups. Older versions ignore it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("user_groups", sa.Column("expires_at", sa.BigInteger))  # microseconds since 1970 (UTC), or NULL
