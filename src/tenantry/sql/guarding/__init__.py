"""Guarded tables: queries see only the rows of their group, whatever their authors wrote."""

from tenantry.sql.guarding.declaration import InvalidTables, TableEntry
from tenantry.sql.guarding.grammar import INSTALL as INSTALL
from tenantry.sql.guarding.guarded_tables import GuardedTables
from tenantry.sql.guarding.read_declaration import read_stored_tables as read_stored_tables
from tenantry.sql.guarding.read_declaration import read_tables
from tenantry.sql.guarding.safe_functions import known_functions as known_functions
from tenantry.sql.guarding.schema import tables_schema
from tenantry.sql.guarding.table_names import named_tables
from tenantry.sql.guarding.table_names import names_tables as names_tables
from tenantry.sql.guarding.tables_file import read_tables_file
from tenantry.sql.guarding.tables_file import read_tables_node as read_tables_node
from tenantry.sql.syntax_tree import AppliedGuard

__all__ = [
    "AppliedGuard",
    "GuardedTables",
    "InvalidTables",
    "TableEntry",
    "named_tables",
    "read_tables",
    "read_tables_file",
    "tables_schema",
]
