"""For each dialect, SQL that lists the columns and foreign keys of all tables that a query can read."""

from __future__ import annotations

from typing import Final, NamedTuple


class CatalogueQueries(NamedTuple):
    columns: str
    """Selects a row for each column of each table, in the order of the table's columns. A row has four values: the
    schema, the table, the column, and 1 if the table is a view, otherwise 0. The schema is '' if queries can omit
    it."""
    foreign_keys: str = ""
    """Selects a row for each foreign key of a single column. A row has six values: schema, table and column of the key,
    then schema, table and column to which the key refers. Each schema may be ''."""


_POSTGRESQL_SCHEMA: Final = "case when pg_table_is_visible({0}.oid) then '' else {0}n.nspname end"
_POSTGRESQL: Final = CatalogueQueries(
    # Partitions are left out: queries should read the parent table, which has their rows.
    f"""
    select {_POSTGRESQL_SCHEMA.format("c")}, c.relname, a.attname,
      case when c.relkind in ('v', 'm') then 1 else 0 end as is_view
    from pg_class c
    join pg_namespace cn on cn.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
      and cn.nspname <> 'information_schema' and cn.nspname !~ '^pg_'
      and has_any_column_privilege(c.oid, 'select')
    order by 1, 2, a.attnum
    """,  # noqa: S608 - of constants
    f"""
    select {_POSTGRESQL_SCHEMA.format("c")} as s, c.relname as c, a.attname as a,
      {_POSTGRESQL_SCHEMA.format("p")} as t, p.relname as p, b.attname as b
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace cn on cn.oid = c.relnamespace
    join pg_class p on p.oid = k.confrelid
    join pg_namespace pn on pn.oid = p.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
    join pg_attribute b on b.attrelid = p.oid and b.attnum = k.confkey[1]
    where k.contype = 'f' and cardinality(k.conkey) = 1
    order by 1, 2, a.attnum
    """,  # noqa: S608 - of constants
)
_MYSQL: Final = CatalogueQueries(
    """
    select '', c.table_name, c.column_name, case when t.table_type like '%VIEW' then 1 else 0 end
    from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = database()
    order by c.table_name, c.ordinal_position
    """,
    """
    select '' as s, table_name, max(column_name), '' as t, max(referenced_table_name), max(referenced_column_name)
    from information_schema.key_column_usage
    where table_schema = database() and referenced_table_schema = database()
    group by table_name, constraint_name
    having count(*) = 1
    order by table_name, constraint_name
    """,
)
_DUCKDB: Final = CatalogueQueries(
    """
    select case when c.schema_name = current_schema() then '' else c.schema_name end, c.table_name, c.column_name,
      case when v.view_name is null then 0 else 1 end
    from duckdb_columns() c
    left join duckdb_views() v
      on v.database_name = c.database_name and v.schema_name = c.schema_name and v.view_name = c.table_name
    where c.database_name = current_database() and not c.internal
    order by 1, 2, c.column_index
    """,
    """
    select case when schema_name = current_schema() then '' else schema_name end as s, table_name,
      constraint_column_names[1], s as t, referenced_table, referenced_column_names[1]
    from duckdb_constraints()
    where constraint_type = 'FOREIGN KEY' and database_name = current_database() and len(constraint_column_names) = 1
    order by 1, 2, constraint_index
    """,
)
_CLICKHOUSE: Final = CatalogueQueries(
    """
    select '', c.table, c.name, t.engine like '%View'
    from system.columns c
    join system.tables t on t.database = c.database and t.name = c.table
    where c.database = currentDatabase() and c.table not like '.inner%'
    order by c.table, c.position
    """
)
QUERIES: Final = {
    "postgresql": _POSTGRESQL,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "duckdb": _DUCKDB,
    "clickhouse": _CLICKHOUSE,
}
