"""Creates the first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_name = sa.String(255, collation="C").with_variant(sa.String(255, collation="BINARY"), "sqlite")


def upgrade() -> None:
    op.create_table(
        "environments",
        sa.Column("id", _number, primary_key=True, autoincrement=True),
        sa.Column("name", _name, nullable=False),
        sa.Column("tag", sa.String(16), nullable=False),
        sa.Column("external_data_sources", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_environments"),
        sa.UniqueConstraint("name", name="uq_environments_name"),
        sa.CheckConstraint("tag in ('Customer', 'Testing')", name="ck_environments_tag"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "user_groups",
        sa.Column("team_id", _number, primary_key=True, autoincrement=True),
        sa.Column("environment_id", _number, nullable=False),
        sa.Column("provided_id", _name, nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("properties", sa.JSON),
        sa.Column("mapping", sa.JSON),
        sa.Column("handle", sa.LargeBinary, nullable=False),
        sa.Column("token_version", sa.BigInteger, nullable=False),
        sa.Column("key_id", sa.String(2), nullable=False),
        sa.Column("nonce", sa.LargeBinary, nullable=False),
        sa.Column("previous_key_id", sa.String(2)),
        sa.Column("previous_nonce", sa.LargeBinary),
        sa.Column("grace_until", sa.BigInteger),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("team_id", name="pk_user_groups"),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name="fk_user_groups_environment_id"),
        sa.UniqueConstraint("handle", name="uq_user_groups_handle"),
        sa.UniqueConstraint("environment_id", "provided_id", name="uq_user_groups_environment_id_provided_id"),
        sa.CheckConstraint("(previous_nonce is null) = (grace_until is null)", name="ck_user_groups_grace"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", _number, primary_key=True, autoincrement=True),
        sa.Column("environment_id", _number, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("hint", sa.String(16), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("revoked_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name="fk_api_tokens_environment_id"),
        sa.UniqueConstraint("digest", name="uq_api_tokens_digest"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_api_tokens_environment_id", "api_tokens", ["environment_id"])
    op.create_table(
        "data_sources",
        sa.Column("environment_id", _number, nullable=False),
        sa.Column("id", _name, nullable=False),
        sa.Column("provided_id", _name, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("trusted", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id", name="pk_data_sources"),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name="fk_data_sources_environment_id"),
        sa.UniqueConstraint("environment_id", "provided_id", name="uq_data_sources_environment_id_provided_id"),
    )
    op.create_table(
        "idempotency_answers",
        sa.Column("environment_id", _number, nullable=False),
        sa.Column("key", _name, nullable=False),
        sa.Column("body_hash", sa.LargeBinary, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("handle", sa.LargeBinary),
        sa.Column("answer", sa.JSON),
        sa.PrimaryKeyConstraint("environment_id", "key", name="pk_idempotency_answers"),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name="fk_idempotency_answers_environment_id"),
    )
    op.create_index("ix_idempotency_answers_expires_at", "idempotency_answers", ["expires_at"])
