"""The functions in MariaDB's list that also exist in MySQL, and a few others."""

from typing import Final

from tenantry.sql.guarding.function_lists import mariadb

# In MySQL such a name could be a stored function.
_MARIADB_ONLY: Final = """
    add_months chr column_check column_exists column_json column_list concat_operator_oracle crc32c decode
    decode_histogram decode_oracle des_decrypt des_encrypt encode encrypt json_compact json_detailed json_equals
    json_exists json_loose json_normalize json_query lengthb lpad_oracle ltrim_oracle median natural_sort_key nvl
    nvl2 percentile_cont percentile_disc replace_oracle rpad_oracle rtrim_oracle sformat substr_oracle sys_guid
    to_char trim_oracle
"""
_MYSQL_ONLY: Final = """
    any_value bin_to_uuid format_bytes format_pico_time grouping is_uuid json_schema_valid
    json_schema_validation_report json_storage_size json_value random_bytes regexp_like uuid_to_bin weight_string
"""

FUNCTIONS: Final = " ".join({*mariadb.FUNCTIONS.split()} - {*_MARIADB_ONLY.split()} | {*_MYSQL_ONLY.split()})
SYNTAX: Final = mariadb.SYNTAX
TABLE_FUNCTIONS: Final = mariadb.TABLE_FUNCTIONS
