"""A single-use code and a session record the API token that issued them, so that they end with it.

A process of an earlier version neither records it nor ends anything when a token is revoked, so none may go on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Adds the column. Codes and sessions of before name no API token: they end within ten minutes."""
    op.add_column("single_use_codes", sa.Column("api_token_id", sa.BigInteger))
