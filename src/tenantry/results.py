"""Query results and their formats; the code is in ``tenantry.datasources.results``."""

from tenantry.datasources.results import Format as Format
from tenantry.datasources.results import Result as Result
from tenantry.datasources.results import ResultColumn as ResultColumn
from tenantry.datasources.results import StreamFormat as StreamFormat
from tenantry.datasources.results import to_arrow as to_arrow
from tenantry.datasources.results import to_csv as to_csv
from tenantry.datasources.results import to_json as to_json
from tenantry.datasources.results import to_ndjson as to_ndjson

__all__ = ["Format", "Result", "ResultColumn", "StreamFormat", "to_arrow", "to_csv", "to_json", "to_ndjson"]
