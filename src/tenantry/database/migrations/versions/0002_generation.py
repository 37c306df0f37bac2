"""Adds the generation, the list of changes, the audit trail and the default grace period."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    table = op.create_table(
        "generation",
        sa.Column("store_id", sa.String(32), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("store_id", name="pk_generation"),
    )
    op.bulk_insert(table, [{"store_id": secrets.token_hex(16), "number": 0}])
    op.create_table(
        "changes",
        sa.Column("generation", _number, nullable=False, autoincrement=False),
        sa.Column("handle", sa.LargeBinary, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("generation", name="pk_changes"),
    )
    op.create_table(
        "audit",
        sa.Column("number", _number, primary_key=True, autoincrement=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("environment", sa.String(255), nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_audit"),
        sqlite_autoincrement=True,
    )
    for statement in _APPEND_ONLY[op.get_bind().dialect.name]:
        op.execute(statement)
    op.add_column("environments", sa.Column("grace_seconds", sa.Integer, nullable=False, server_default="0"))


_REFUSE = "select raise(abort, 'the audit trail is append-only')"
_APPEND_ONLY = {
    "sqlite": [
        f"create trigger audit_is_not_updated before update on audit begin {_REFUSE}; end",
        f"create trigger audit_is_not_deleted before delete on audit begin {_REFUSE}; end",
        # INSERT OR REPLACE deletes the old row without running the DELETE trigger.
        f"""
        create trigger audit_is_not_replaced before insert on audit
        when exists (select 1 from audit where number = new.number) begin {_REFUSE}; end
        """,  # noqa: S608 - of constants
    ],
    "postgresql": [
        """
        create function audit_is_append_only() returns trigger language plpgsql
        as $$ begin raise exception 'the audit trail is append-only'; end $$
        """,
        """
        create trigger audit_is_append_only before update or delete or truncate on audit
        for each statement execute function audit_is_append_only()
        """,
    ],
}
