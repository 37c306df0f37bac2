"""The databases of stores, and Redis servers: their URLs, connections and migrations."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.database.address import RUN_MIGRATE as RUN_MIGRATE
    from tenantry.database.address import FileIdentity as FileIdentity
    from tenantry.database.address import PostgresServer as PostgresServer
    from tenantry.database.address import SQLiteFile as SQLiteFile
    from tenantry.database.address import libpq_url as libpq_url
    from tenantry.database.address import load_psycopg as load_psycopg
    from tenantry.database.address import read_address as read_address
    from tenantry.database.connection_problems import CLOSED as CLOSED
    from tenantry.database.connection_problems import OTHER_PROTOCOL as OTHER_PROTOCOL
    from tenantry.database.connection_problems import causes as causes
    from tenantry.database.connection_problems import connection_problem as connection_problem
    from tenantry.database.connection_problems import network_problem as network_problem
    from tenantry.database.connection_problems import postgres_problem as postgres_problem
    from tenantry.database.own_tables import IN_POSTGRESQL as IN_POSTGRESQL
    from tenantry.database.own_tables import TABLES as TABLES
    from tenantry.database.own_tables import check_postgresql_rows as check_postgresql_rows
    from tenantry.database.own_tables import check_source as check_source
    from tenantry.database.own_tables import check_sqlite as check_sqlite
    from tenantry.database.own_tables import is_sqlite as is_sqlite
    from tenantry.database.postgres import PARAMSTYLE as PARAMSTYLE
    from tenantry.database.postgres import PostgresConnection as PostgresConnection
    from tenantry.database.postgres import driver_of as driver_of
    from tenantry.database.postgres import write_engine as write_engine
    from tenantry.database.redis_server import RedisClient as RedisClient
    from tenantry.database.redis_server import RedisServer as RedisServer
    from tenantry.database.redis_server import ask_server as ask_server
    from tenantry.database.redis_server import load_redis as load_redis
    from tenantry.database.redis_server import read_redis_address as read_redis_address
    from tenantry.database.source_url import ENCRYPTED_OPTION as ENCRYPTED_OPTION
    from tenantry.database.source_url import TIMEZONE_OPTION as TIMEZONE_OPTION
    from tenantry.database.source_url import is_reference as is_reference
    from tenantry.database.source_url import replace_secrets as replace_secrets
    from tenantry.database.source_url import secret_values as secret_values
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.database.address": (
                "FileIdentity PostgresServer RUN_MIGRATE SQLiteFile libpq_url load_psycopg read_address"
            ),
            "tenantry.database.connection_problems": (
                "CLOSED OTHER_PROTOCOL causes connection_problem network_problem postgres_problem"
            ),
            "tenantry.database.own_tables": (
                "IN_POSTGRESQL TABLES check_postgresql_rows check_source check_sqlite is_sqlite"
            ),
            "tenantry.database.postgres": "PARAMSTYLE PostgresConnection driver_of write_engine",
            "tenantry.database.redis_server": "RedisClient RedisServer ask_server load_redis read_redis_address",
            "tenantry.database.source_url": (
                "ENCRYPTED_OPTION TIMEZONE_OPTION is_reference replace_secrets secret_values"
            ),
        },
    )
