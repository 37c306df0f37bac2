"""MariaDB: almost the rules of MySQL. Tests compare the rules with a server."""

from __future__ import annotations

from dataclasses import replace

from tenantry.sql.dialects import mysql

DIALECT = replace(
    mysql.DIALECT,
    name="mariadb",
    sqlglot_name="mysql",
    casts={**mysql.DIALECT.casts, "uuid": "uuid"},
)
