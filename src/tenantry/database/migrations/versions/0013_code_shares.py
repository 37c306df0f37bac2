"""Adds a column to single-use codes: the group whose CodeShare limits their number. It is null for codes of older
versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("single_use_codes", sa.Column("group_handle", sa.LargeBinary))
    name = "ix_single_use_codes_group_handle_purpose_expires_at"
    op.create_index(name, "single_use_codes", ["group_handle", "purpose", "expires_at"])
