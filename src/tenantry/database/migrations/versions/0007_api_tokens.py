"""Adds columns for the end date and last use of API tokens. Older versions ignore the end date."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    # Both columns hold microseconds since 1970 (UTC). NULL means: no end date, or never used.
    op.add_column("api_tokens", sa.Column("expires_at", sa.BigInteger))
    op.add_column("api_tokens", sa.Column("last_used_at", sa.BigInteger))
