from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import literal_column, select, text

from tenantry.backends.sql.queries import Read
from tenantry.backends.sql.runner import Runner
from tenantry.database.tables import audit, generation, metadata, revisions

_ALL: Final = ("select", "insert", "update", "delete")
_FEWER: Final = {audit.name: ("select", "insert"), generation.name: ("select", "update"), revisions.name: ("select",)}
_NEEDED: Final = [
    (name, right) for name in sorted({*metadata.tables, revisions.name}) for right in _FEWER.get(name, _ALL)
]
_SQLITE_TRIGGERS: Final = frozenset({"audit_is_not_deleted", "audit_is_not_replaced", "audit_is_not_updated"})
_POSTGRES_TRIGGERS: Final = frozenset({"audit_is_append_only"})


class StoreDefects(NamedTuple):
    """Triggers and rights that the store needs but the database lacks."""

    triggers: tuple[str, ...] = ()
    """Missing triggers that keep the audit trail append-only."""
    grants: tuple[str, ...] = ()
    """The SQL statements that give the role its missing rights. Empty for a role that may not write groups at all, such
    as the role of an app."""


async def find_defects(runner: Runner, *, is_sqlite: bool) -> StoreDefects:
    """Return the triggers and rights that the database lacks. Raises StoreUnavailable."""
    deadline = runner.deadline()
    if is_sqlite:
        found = {row[0] for row in await runner.read(_TRIGGERS_OF_SQLITE, deadline)}
        return StoreDefects(tuple(sorted(_SQLITE_TRIGGERS - found)))
    found = {row[0] for row in await runner.read(_TRIGGERS_OF_POSTGRES, deadline)}
    grants = [row[0] for row in await runner.read(_GRANTS, deadline)]
    is_app = any(each.startswith("grant insert on audit ") for each in grants)
    return StoreDefects(tuple(sorted(_POSTGRES_TRIGGERS - found)), () if is_app else tuple(grants))


def _rows_of(column: str, source: str) -> Read:
    return select(literal_column(column)).select_from(text(source))


_TRIGGERS_OF_SQLITE: Final = _rows_of("name", "sqlite_master").where(text("type = 'trigger' and tbl_name = 'audit'"))
_TRIGGERS_OF_POSTGRES: Final = _rows_of("tgname", "pg_trigger").where(
    text("tgrelid = to_regclass('audit') and tgenabled in ('O', 'A')")
)
_VALUES: Final = ", ".join(f"('{name}', '{right}')" for name, right in _NEEDED)
_GRANTS: Final = _rows_of(
    "'grant ' || privilege || ' on ' || named || ' to ' || quote_ident(current_user)",
    f"""(
        with needed (name, privilege) as (values {_VALUES})
        select name as named, privilege, has_table_privilege(to_regclass(name), privilege) as is_given from needed
        union all
        select distinct 'sequence ' || relname, 'usage',
          case relkind when 'S' then has_sequence_privilege(sequences.oid, 'usage') else true end
        from needed
        join pg_depend on refobjid = to_regclass(name) and deptype = 'a'
        join pg_class sequences on sequences.oid = objid
    ) as rights""",  # noqa: S608 - of constants
).where(text("not is_given"))
