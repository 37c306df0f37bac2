"""Table definitions. Times are UTC microseconds since 1970, so that both engines and raw drivers agree. JSON is a
string, not ``jsonb``, to keep key order, ``1.0`` and long numbers. Tables hold parts of tokens, never tokens."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine

metadata: MetaData = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

Number: TypeEngine[int] = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only what is called INTEGER
Name: TypeEngine[str] = String(255, collation="C").with_variant(
    String(255, collation="BINARY"), "sqlite"
)  # byte for byte
Document: JSON = JSON(none_as_null=True)  # None is NULL and {} is '{}': two different things

environments: Table = Table(
    "environments",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("name", Name, nullable=False, unique=True),
    Column("tag", String(16), nullable=False),
    Column("external_data_sources", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("grace_seconds", Integer, nullable=False, server_default="0"),
    Column("embedding_hosts", Document),  # read by itself: no look-up of a group needs it
    CheckConstraint("tag in ('Customer', 'Testing')", name="tag"),
    sqlite_autoincrement=True,
)

groups: Table = Table(
    "user_groups",
    metadata,
    Column("team_id", Number, primary_key=True, autoincrement=True),
    Column("environment_id", Number, ForeignKey("environments.id"), nullable=False),
    Column("provided_id", Name, nullable=False),
    Column("name", String(255), nullable=False),
    Column("properties", Document),
    Column("mapping", Document),
    Column("handle", LargeBinary, nullable=False, unique=True),
    Column("token_version", BigInteger, nullable=False),
    Column("key_id", String(2), nullable=False),
    Column("nonce", LargeBinary, nullable=False),
    Column("previous_key_id", String(2)),
    Column("previous_nonce", LargeBinary),
    Column("grace_until", BigInteger),
    Column("revision", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    UniqueConstraint("environment_id", "provided_id"),
    CheckConstraint("(previous_nonce is null) = (grace_until is null)", name="grace"),
    sqlite_autoincrement=True,  # a team_id is never given twice
)

api_tokens: Table = Table(
    "api_tokens",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("environment_id", Number, ForeignKey("environments.id"), nullable=False, index=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("label", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("hint", String(16), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
    Column("expires_at", BigInteger),
    Column("last_used_at", BigInteger),
    sqlite_autoincrement=True,
)

data_sources: Table = Table(
    "data_sources",
    metadata,
    Column("environment_id", Number, ForeignKey("environments.id"), primary_key=True),
    Column("id", Name, primary_key=True),
    Column("provided_id", Name, nullable=False),
    Column("url", Text, nullable=False),
    Column("trusted", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("session", Text),
    UniqueConstraint("environment_id", "provided_id"),
)

answers: Table = Table(
    "idempotency_answers",
    metadata,
    Column("environment_id", Number, ForeignKey("environments.id"), primary_key=True),
    Column("key", Name, primary_key=True),
    Column("body_hash", LargeBinary, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("handle", LargeBinary),
    Column("answer", Document),
    Index(None, "expires_at"),
)

single_use_codes: Table = Table(
    "single_use_codes",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("purpose", String(16), nullable=False),
    Column("payload", Text, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("api_token_id", BigInteger),  # of the API token that issued it, with which it ends
    Column("group_handle", LargeBinary),  # of the group in whose share it is
    Index(None, "expires_at"),
    Index(None, "group_handle", "purpose", "expires_at"),
)

generation: Table = Table(  # one row: its lock lets one change after the other commit, so no number is ever skipped
    "generation",
    metadata,
    Column("store_id", String(32), primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("run_name", String(32)),  # by it the processes of each host find their run folder
    Column("longest_lease", BigInteger, nullable=False, server_default="0"),  # microseconds; 0: nobody ever asked
    Column("sources", BigInteger, nullable=False, server_default="0"),  # the number of the last write to a data source
    Column("compatible", Text),  # revisions whose programs may use these tables; the last is that of the tables
    Column("audit_number", BigInteger, nullable=False, server_default="0"),  # the entry that was sealed last, or before
    Column("audit_mac", LargeBinary),  # the first one those that are of no chain; its MAC
)

changes: Table = Table(
    "changes",
    metadata,
    Column("generation", Number, primary_key=True, autoincrement=False),
    Column("handle", LargeBinary, nullable=False),
    Column("written_at", BigInteger, nullable=False),
)

audit: Table = Table(  # append-only: triggers refuse to update and to delete
    "audit",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),
    Column("author", Text, nullable=False),
    Column("request_id", Text),
    Column("action", String(32), nullable=False),
    Column("environment", String(255), nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", JSON, nullable=False),
    Column("seal", LargeBinary),  # tenantry.backends.audit.chain
    sqlite_autoincrement=True,
)

usage_by_hour: Table = Table(  # names, not numbers of rows: it outlives groups
    "usage_by_hour",
    metadata,
    Column("environment", Name, primary_key=True),
    Column("provided_id", Name, primary_key=True),
    Column("hour", BigInteger, primary_key=True, autoincrement=False),
    Column("source", Name, primary_key=True),
    Column("resolves", BigInteger, nullable=False),
    Column("queries", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("micros", BigInteger, nullable=False),
    Index(None, "hour"),
)

usage_writers: Table = Table(  # the last batch that each has added, so that none is added twice
    "usage_writers",
    metadata,
    Column("writer", LargeBinary, primary_key=True),
    Column("batch", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "expires_at"),
)

revisions: Table = Table("alembic_version", MetaData(), Column("version_num", String(32), nullable=False))
"""Alembic's own table, which records how far the database was migrated."""
