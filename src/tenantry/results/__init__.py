"""Results: the rows of a query with the names and types of their columns, and the formats that they are sent in."""

from tenantry.results.arrow import to_arrow
from tenantry.results.csv import to_csv
from tenantry.results.format import Format
from tenantry.results.json import to_json, to_ndjson
from tenantry.results.pieces import StreamFormat
from tenantry.results.result import Result, ResultColumn

__all__ = ["Format", "Result", "ResultColumn", "StreamFormat", "to_arrow", "to_csv", "to_json", "to_ndjson"]
