"""Adds a column for the guarded tables of data sources. Stop all older versions before you migrate: they would run
queries without the guard."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("data_sources", sa.Column("tables", sa.Text))  # JSON, or NULL for none
