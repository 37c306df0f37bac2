"""Adds a list of revisions that can use the tables, so that two releases can share a store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    # Revisions separated by spaces; the tables' own revision is last. NULL until ``migrate`` writes them.
    op.add_column("generation", sa.Column("compatible", sa.Text))
