"""API tokens may have an end, and show when they were last used.

A process of an earlier version does not look at the end: it goes on taking a token that has expired.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Adds the columns: microseconds since 1970 in UTC, or NULL for no end and for a token that nobody has used."""
    op.add_column("api_tokens", sa.Column("expires_at", sa.BigInteger))
    op.add_column("api_tokens", sa.Column("last_used_at", sa.BigInteger))
