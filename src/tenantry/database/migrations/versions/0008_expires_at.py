"""A user group may have an end date, after which its token is refused.

A process of an earlier version does not know it: it takes the token until it is replaced.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Adds the column: microseconds since 1970, or NULL for none."""
    op.add_column("user_groups", sa.Column("expires_at", sa.BigInteger))
