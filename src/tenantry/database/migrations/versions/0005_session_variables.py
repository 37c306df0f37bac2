"""A data source may have session variables, which its database's policies read.

A process of an earlier version does not set them: policies that read them then let no row through.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Adds the column: JSON, or NULL for none."""
    op.add_column("data_sources", sa.Column("session", sa.Text))
