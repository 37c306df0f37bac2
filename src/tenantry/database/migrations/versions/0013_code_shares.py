"""A group has a share of the single-use codes of a purpose, beyond which its oldest ones are deleted.

A process of an earlier version adds codes that are in no share: they end by their time alone.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Adds the column, and the index by which the oldest codes of a share are found."""
    op.add_column("single_use_codes", sa.Column("group_handle", sa.LargeBinary))
    name = "ix_single_use_codes_group_handle_purpose_expires_at"
    op.create_index(name, "single_use_codes", ["group_handle", "purpose", "expires_at"])
