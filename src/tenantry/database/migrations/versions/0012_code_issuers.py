"""Adds a column for the API token that issued a code or session. Codes and sessions end with their API token. Stop all
older versions before you migrate, because they would issue codes without an API token."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    # Existing codes and sessions name no API token; they end within ten minutes.
    op.add_column("single_use_codes", sa.Column("api_token_id", sa.BigInteger))
