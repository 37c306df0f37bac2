"""MariaDB: MySQL's rules and its differences; tests compare with a server."""

from __future__ import annotations

from dataclasses import replace

from tenantry.sql.dialects import mysql

DIALECT = replace(
    mysql.DIALECT,
    name="mariadb",
    casts={**mysql.DIALECT.casts, "uuid": "uuid"},
)
