"""Results: the rows of a query with the names and types of their columns, and the formats that they are sent in."""

from tenantry.datasources.results.arrow import to_arrow
from tenantry.datasources.results.chunk_writers import StreamFormat
from tenantry.datasources.results.csv import to_csv
from tenantry.datasources.results.format import Format
from tenantry.datasources.results.json import to_json, to_ndjson
from tenantry.datasources.results.result import Result, ResultColumn

__all__ = ["Format", "Result", "ResultColumn", "StreamFormat", "to_arrow", "to_csv", "to_json", "to_ndjson"]
