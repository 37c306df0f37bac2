"""Adds triggers that list every write to a data source as a change, even a write by an older version or by hand. Also
adds the column ``sources``. Data sources are cached only if it exists."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_HANDLE = "736f757263657300"  # tenantry.groups.SOURCES_HANDLE, in hexadecimal
_CHANNEL = "tenantry"


def upgrade() -> None:
    for statement in _COUNTED[op.get_bind().dialect.name]:
        op.execute(statement)
    op.add_column("generation", sa.Column("sources", sa.BigInteger, nullable=False, server_default="0"))


def _on_sqlite(verb: str) -> str:
    return f"""
    create trigger data_source_{verb}_is_counted after {verb} on data_sources begin
      update generation set number = number + 1, sources = number + 1;
      insert into changes (generation, handle, written_at)
        select number, x'{_HANDLE}', cast((julianday('now') - 2440587.5) * 86400000000.0 as integer) from generation;
    end
    """  # noqa: S608 - of constants


_COUNTED = {
    "sqlite": [_on_sqlite(verb) for verb in ("insert", "update", "delete")],
    "postgresql": [  # names the schema of data_sources, because the writer may have another search_path
        f"""
        create function data_source_write_is_counted() returns trigger language plpgsql
        as $$
        declare counted record;
        begin
          execute format('update %I.generation set number = number + 1, sources = number + 1 '
            'returning number, store_id', tg_table_schema) into counted;
          if counted.number is not null then
            execute format('insert into %I.changes (generation, handle, written_at) values ($1, $2, $3)',
              tg_table_schema) using counted.number, '\\x{_HANDLE}'::bytea,
              (extract(epoch from clock_timestamp()) * 1000000)::bigint;
            perform pg_notify('{_CHANNEL}', counted.store_id || ' ' || counted.number || ' {_HANDLE}');
          end if;
          return null;
        end $$
        """,  # noqa: S608 - of constants
        """
        create trigger data_source_write_is_counted after insert or update or delete on data_sources
        for each row execute function data_source_write_is_counted()
        """,
        """
        create trigger data_source_truncation_is_counted after truncate on data_sources
        for each statement execute function data_source_write_is_counted()
        """,
    ],
}
