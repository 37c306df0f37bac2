"""Session variables of data sources, for row policies. Older versions do not set them, so such policies return no
rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """JSON, or NULL for none."""
    op.add_column("data_sources", sa.Column("session", sa.Text))
