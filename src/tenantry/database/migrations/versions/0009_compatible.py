"""Which revisions' programs may use the tables, so that two versions serve one store while one replaces the other.

``migrate`` writes it after the steps, as a list of revisions that ends with the one that the tables have. A program of
an earlier version looks for its own.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Adds the column: revisions with spaces between them, or NULL before ``migrate`` has written it."""
    op.add_column("generation", sa.Column("compatible", sa.Text))
