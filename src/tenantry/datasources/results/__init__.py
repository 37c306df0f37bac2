from tenantry.datasources.results.arrow import to_arrow
from tenantry.datasources.results.chunks import StreamFormat
from tenantry.datasources.results.chunks import chunk_writers as chunk_writers
from tenantry.datasources.results.csv import to_csv
from tenantry.datasources.results.format import DEFAULT_FORMAT as DEFAULT_FORMAT
from tenantry.datasources.results.format import Format
from tenantry.datasources.results.format import missing_package_message as missing_package_message
from tenantry.datasources.results.format import scalar_text as scalar_text
from tenantry.datasources.results.json import json_row_parts as json_row_parts
from tenantry.datasources.results.json import to_json, to_ndjson
from tenantry.datasources.results.result import Result, ResultColumn

__all__ = ["Format", "Result", "ResultColumn", "StreamFormat", "to_arrow", "to_csv", "to_json", "to_ndjson"]
