"""MariaDB: MySQL's rules, and what differs. Its scanner is sql_lex.cc too; the tests hold ours to a real server."""

from __future__ import annotations

from dataclasses import replace

from tenantry.sql.dialects import mysql

DIALECT = replace(
    mysql.DIALECT,
    name="mariadb",
    casts={**mysql.DIALECT.casts, "uuid": "uuid"},
)
