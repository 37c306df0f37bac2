from typing import Final

# Newer releases have these functions. The release whose catalogue was read lacks most of them.
SYNTAX: Final = """
    cast coalesce concat concat_ws if json_error_position jsonb median nullif octet_length percentile string_agg
    tenantry_local_time tenantry_utc_offset tenantry_zoned_start timediff unhex unistr
"""

TABLE_FUNCTIONS: Final = """
    json_each json_tree
"""

# scripts/safe_functions.py writes the rest, from the catalogue of SQLite 3.40.1.

FUNCTIONS: Final = """
    abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce cos cosh count cume_dist current_date
    current_time current_timestamp date datetime degrees dense_rank exp first_value floor format glob group_concat hex
    ifnull iif instr json json_array json_array_length json_extract json_group_array json_group_object json_insert
    json_object json_patch json_quote json_remove json_replace json_set json_type json_valid julianday lag last_value
    lead length like likelihood likely ln log log10 log2 lower ltrim max min mod nth_value ntile nullif percent_rank pi
    pow power printf quote radians random randomblob rank replace round row_number rtrim sign sin sinh soundex sqrt
    strftime substr substring sum tan tanh time total trim trunc typeof unicode unixepoch unlikely upper zeroblob
"""
