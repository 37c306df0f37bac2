"""Adds a column for the session variables of data sources. Older versions do not set these variables, so row-level
security policies return no rows to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("data_sources", sa.Column("session", sa.Text))  # JSON, or NULL for none
