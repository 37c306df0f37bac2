"""Creates the tables of a new store in their latest form, without migration steps."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection

from tenantry.database.tables import generation, metadata

_HANDLE = "736f757263657300"  # tenantry.groups.SOURCES_HANDLE, in hexadecimal
_CHANNEL = "tenantry"


def create_tables(connection: Connection) -> None:
    """Create all tables, their triggers and the row of ``generation``. Fails if a table exists."""
    metadata.create_all(connection, checkfirst=False)
    connection.execute(
        generation.insert().values(store_id=secrets.token_hex(16), number=0, run_name=secrets.token_hex(8))
    )
    for statement in (*_APPEND_ONLY[connection.dialect.name], *_COUNTED[connection.dialect.name]):
        connection.exec_driver_sql(statement)


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


def _on_sqlite(verb: str) -> str:
    return f"""
    create trigger data_source_{verb}_is_counted after {verb} on data_sources begin
      update generation set number = number + 1, sources = number + 1;
      insert into changes (generation, handle, written_at)
        select number, x'{_HANDLE}', cast((julianday('now') - 2440587.5) * 86400000000.0 as integer) from generation;
    end
    """  # noqa: S608 - of constants


# Every write to a data source is listed as a change, even a write by hand.
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
