"""The tables of a store. Times are microseconds since 1970 (UTC). JSON is stored as text. No table holds a complete
token."""

# All databases and drivers agree on integers. ``jsonb`` would lose the order of keys and the spelling of numbers.

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
    false,
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

Number: TypeEngine[int] = BigInteger().with_variant(Integer, "sqlite")  # SQLite generates numbers only for INTEGER
Name: TypeEngine[str] = String(255, collation="C").with_variant(
    String(255, collation="BINARY"), "sqlite"
)  # compared byte for byte
Document: JSON = JSON(none_as_null=True)  # None is stored as NULL, not as JSON null

environments: Table = Table(
    "environments",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("name", Name, nullable=False, unique=True),
    Column("tag", String(16), nullable=False),
    Column("external_data_sources", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("grace_seconds", Integer, nullable=False, server_default="0"),
    # These two are not in EnvironmentRow: look-ups of groups do not need them.
    Column("embedding_hosts", Document),
    Column("viewer_usage", Boolean, nullable=False, server_default=false()),
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
    Column("suspended", Boolean, nullable=False, server_default=false()),
    Column("revoked_viewers", Document),
    UniqueConstraint("environment_id", "provided_id"),
    CheckConstraint("(previous_nonce is null) = (grace_until is null)", name="grace"),
    sqlite_autoincrement=True,  # never reuse a team_id
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
    Column("tables", Text),
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
    # the API token that issued the code; the code ends when the token expires or is revoked
    Column("api_token_id", BigInteger),
    Column("group_handle", LargeBinary),  # the field ``group`` of the CodeShare that limits the code
    Index(None, "expires_at"),
    Index(None, "group_handle", "purpose", "expires_at"),
)

generation: Table = Table(  # one row, locked by each writer until the commit, so that no number is skipped
    "generation",
    metadata,
    Column("store_id", String(32), primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("run_name", String(32)),  # names the run folder on each host
    Column("longest_lease", BigInteger, nullable=False, server_default="0"),  # microseconds; 0: no reader so far
    Column("sources", BigInteger, nullable=False, server_default="0"),  # ``number`` at the last write to a data source
    Column("compatible", Text),  # revisions of the programs that may use these tables; the last is the tables' revision
    # The last sealed entry, or the start of the chain.
    Column("audit_number", BigInteger, nullable=False, server_default="0"),
    Column("audit_mac", LargeBinary),  # MAC of the last sealed entry
)

changes: Table = Table(
    "changes",
    metadata,
    Column("generation", Number, primary_key=True, autoincrement=False),
    Column("handle", LargeBinary, nullable=False),
    Column("written_at", BigInteger, nullable=False),
)

audit: Table = Table(  # append-only: triggers reject UPDATE and DELETE
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
    Column("seal", LargeBinary),  # see tenantry.backends.audit.chain
    sqlite_autoincrement=True,
)

usage_by_hour: Table = Table(  # names instead of foreign keys, because usage outlives groups
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

usage_by_viewer: Table = Table(  # no foreign key, because writes of usage must not wait for writes of groups
    "usage_by_viewer",
    metadata,
    Column("team_id", BigInteger, primary_key=True, autoincrement=False),
    Column("day", BigInteger, primary_key=True, autoincrement=False),
    Column("viewer", Name, primary_key=True),
    Column("resolves", BigInteger, nullable=False),
    Column("queries", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("micros", BigInteger, nullable=False),
    Index(None, "day"),
)

usage_writers: Table = Table(  # the last batch of each UsageRecorder, so that no batch is added twice
    "usage_writers",
    metadata,
    Column("writer", LargeBinary, primary_key=True),
    Column("batch", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "expires_at"),
)

revisions: Table = Table("alembic_version", MetaData(), Column("version_num", String(32), nullable=False))
"""Alembic's table, which holds the revision of the tables."""
