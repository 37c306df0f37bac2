"""The private names of each engine. Names are in lower case."""

# In an engine's own schemas, and with the engine's own prefixes, each name is private unless it is listed as public. So
# a name that a later version of the engine adds is private until somebody has looked at it.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tenantry.sql.dialects import DIALECTS
from tenantry.sql.dialects.dialect import FunctionNames, function_names
from tenantry.sql.lexing.lexemes import word_set


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateNames:
    schemas: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Schemas of the engine, each with its public tables."""
    prefixes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Prefix of the engine's own names → the public names with this prefix."""
    only_in: str = ""
    """The schema to which these prefixes apply. In another schema, such a name is not private. If empty, they apply to
    every schema."""
    attributes: tuple[FunctionNames, ...] = ()
    """Private functions and types that SQL can call as ``value.name``. Other names after a dot are columns."""
    functions: tuple[FunctionNames, ...] = ()
    """Functions that read settings, files, other servers or the rights of users, that run a string as SQL, or that
    change something on the server, such as a log or a lock."""
    strings_name_tables: bool = False
    """Whether ``from 'name'`` reads the table ``name``."""
    variables: bool = False
    """Whether ``@@name`` reads a setting."""


SHOWN: Final = word_set("tables columns fields index indexes keys")
"""Public words after ``show``, or after ``show`` and SHOW_MODIFIERS. ``create`` is private: it shows who defined a
view."""
SHOW_MODIFIERS: Final = word_set("all extended full")

_INFORMATION: Final = {
    "information_schema": word_set(
        """character_sets check_constraints collations columns constraint_column_usage constraint_table_usage domains
        element_types engines key_column_usage partitions referential_constraints sequences statistics
        table_constraints tables view_column_usage view_table_usage views"""
    )
}
_NOTHING: Final = frozenset[str]()

_PG_TABLES: Final = """
    pg_am pg_attrdef pg_catalog pg_collation pg_constraint pg_depend pg_description pg_enum pg_index pg_indexes
    pg_inherits pg_operator pg_partitioned_table pg_range pg_sequence pg_timezone_abbrevs pg_timezone_names
"""
# Public only in DuckDB. In PostgreSQL, these tables show the rights of roles: `select c::text from pg_class c`.
_DUCKDB_PG_TABLES: Final = "pg_attribute pg_class pg_namespace pg_type"
# The types, also as arrays, that turn the number of a role into its name.
_PG_ROLES: Final = "regrole _regrole to_regrole aclitem _aclitem makeaclitem"
# Functions of one argument that change something, or show more than tables and types.
_PG_ATTRIBUTES: Final = """
    pg_advisory_* pg_backup_* pg_blocking_* pg_cancel_* pg_create_* pg_current_* pg_database_* pg_drop_* pg_extension_*
    pg_get_* pg_import_* pg_log_* pg_ls_* pg_options_* pg_promote* pg_read_* pg_relation_* pg_replication_* pg_restore_*
    pg_safe_* pg_sequence_* pg_settings_* pg_split_* pg_stat_* pg_tablespace_* pg_terminate_* pg_try_* pg_walfile_*
    pg_xact_*
"""
_PG_FUNCTIONS: Final = """
    pg_column_compression pg_column_size pg_get_constraintdef pg_get_expr pg_get_indexdef pg_get_serial_sequence
    pg_get_viewdef pg_indexes_size pg_is_other_temp_schema pg_lsn
    pg_partition_ancestors pg_partition_root pg_partition_tree pg_relation_size pg_size_bytes pg_size_pretty pg_sleep
    pg_table_is_visible pg_table_size pg_total_relation_size pg_type_is_visible pg_typeof
"""
_POSTGRESQL: Final = PrivateNames(
    schemas=_INFORMATION,
    prefixes={"pg_": word_set(_PG_TABLES + _PG_FUNCTIONS), **dict.fromkeys(_PG_ROLES.split(), _NOTHING)},
    only_in="pg_catalog",
    attributes=(function_names(_PG_ATTRIBUTES + _PG_ROLES.replace(" ", "* ") + "*"),),
    functions=(
        DIALECTS["postgresql"].dynamic_functions,
        function_names(
            """acldefault aclexplode array_in array_recv* domain_in domain_recv multirange_in multirange_recv range_in
            range_recv record_in record_recv binary_upgrade_* brin_* current_setting gin_clean_pending_list
            has_any_column_privilege has_column_privilege has_database_privilege has_foreign_data_wrapper_privilege
            has_function_privilege has_language_privilege has_largeobject_privilege has_parameter_privilege
            has_schema_privilege has_sequence_privilege has_server_privilege has_table_privilege
            has_tablespace_privilege has_type_privilege inet_client_addr inet_client_port inet_server_addr
            inet_server_port lo_* loread lowrite set_config""",
            attributes=True,
        ),
    ),
)
_REDSHIFT: Final = replace(
    _POSTGRESQL,
    prefixes={**_POSTGRESQL.prefixes, **dict.fromkeys(("stl_", "stv_", "svcs_", "svl_", "svv_", "sys_"), _NOTHING)},
)
_MYSQL: Final = PrivateNames(
    schemas={
        "information_schema": _INFORMATION["information_schema"] - {"views"},  # it has their definers
        **dict.fromkeys(("mysql", "performance_schema", "sys", "ndbinfo"), _NOTHING),
    },
    functions=(
        DIALECTS["mysql"].dynamic_functions,
        function_names(
            """is_free_lock is_used_lock master_gtid_wait master_pos_wait ps_* source_pos_wait
            wait_for_executed_gtid_set wait_until_sql_thread_after_gtids"""
        ),
    ),
    variables=True,
)
_CLICKHOUSE: Final = PrivateNames(
    schemas={
        **_INFORMATION,
        # `system.tables` has the paths of the data; information_schema.tables does not.
        "system": word_set(
            """aggregate_function_combinators collations columns data_type_families formats functions keywords numbers
            numbers_mt one primes table_engines table_functions time_zones zeros zeros_mt"""
        ),
    },
    functions=(
        # Functions that reach files and other servers are refused by the data source itself.
        function_names(
            """addressto* authenticateduser authuser buildid catboost* cluster clusterallreplicas currentprofiles
            currentrequesturl currentroles defaultprofiles defaultroles displayname enabledprofiles enabledroles
            eval filesystem* fqdn fullhostname fuzzquery getclienthttpheader getmacro getmergetreesetting
            getoskernelversion getserverport getserversetting getsetting* hascolumnintable hostname logtrace loop
            merge mergetree* serveruuid showcertificate tcpport timeseriesdata timeseriesmetricfamilies
            timeseriesmetrics timeseriessamples timeseriesselector timeseriestags viewexplain zookeeper*""",
            escaped_names="\\",
        ),
    ),
)
_DUCKDB: Final = PrivateNames(
    schemas=_INFORMATION,
    prefixes={
        "duckdb_": word_set(
            """duckdb_columns duckdb_constraints duckdb_functions duckdb_indexes duckdb_keywords duckdb_schemas
            duckdb_sequences duckdb_tables duckdb_types duckdb_views"""
        ),
        "pg_": word_set(_PG_TABLES + _DUCKDB_PG_TABLES + _PG_FUNCTIONS),
        "pragma_": word_set("pragma_collations pragma_show pragma_table_info pragma_version"),
    },
    functions=(
        DIALECTS["duckdb"].dynamic_functions,
        function_names(
            """arrow_scan* checkpoint create_external_resource current_setting delta_scan deregister_external_resource
            destroy_external_resource disable_logging disable_profiling ducklake_* enable_logging enable_profiling
            force_checkpoint getenv getvariable glob http_get http_post iceberg_* inet_client_addr inet_client_port
            inet_server_addr inet_server_port nextval pandas_scan parquet_* python_* read_*
            register_external_resource register_external_resource_type scan_arrow_ipc seq_scan setseed setval
            sniff_csv st_read* truncate_duckdb_logs which_secret write_log"""
        ),
    ),
    strings_name_tables=True,
)
_SQLITE: Final = PrivateNames(  # the data source itself refuses pragmas
    prefixes={
        "sqlite_": word_set(
            """sqlite_master sqlite_schema sqlite_sequence sqlite_source_id sqlite_stat1 sqlite_stat4 sqlite_temp_master
            sqlite_temp_schema sqlite_version"""
        ),
    },
    functions=(DIALECTS["sqlite"].dynamic_functions, function_names("bytecode tables_used")),
    strings_name_tables=True,
)

PRIVATE_NAMES: Final[Mapping[str, PrivateNames]] = {
    "postgresql": _POSTGRESQL,
    "redshift": _REDSHIFT,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "clickhouse": _CLICKHOUSE,
    "duckdb": _DUCKDB,
    "sqlite": _SQLITE,
}
"""The names of each dialect. chDB has the dialect of ClickHouse."""
OTHERS: Final = PrivateNames(schemas=_INFORMATION)
"""For the other dialects. In these, only the rights of the database user protect secrets."""

SYSTEM_DATABASES: Final = frozenset({"information_schema", "mysql", "performance_schema", "sys", "system"})
"""Databases that hold only the engine's own tables. In a connection to such a database, SQL can name a
private table without its schema."""
