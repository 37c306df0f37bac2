"""Revisions whose programs may use the tables, so two versions can share a store during an update."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Space-separated, last the tables' own; NULL until ``migrate`` writes it."""
    op.add_column("generation", sa.Column("compatible", sa.Text))
