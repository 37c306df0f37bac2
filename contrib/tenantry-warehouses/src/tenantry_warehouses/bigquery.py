"""The BigQuery driver. Parameters are named and typed, a dry run finds out the kind of a statement, and queries are
cancelled by job id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from sqlalchemy.engine import URL

from tenantry.datasources import Limits, take_result
from tenantry.datasources.engines import Engine, is_loopback, parse_url, query_error, timeout_error, unreachable_error
from tenantry.errors import InvalidSource, TenantryError, UnbindableValue
from tenantry.groups import RegisteredSource
from tenantry.results import Result
from tenantry.sql import BoundSQL
from tenantry_warehouses.statements import BY_STATEMENT, ReadingStatements, Stopper, url_options

OPTIONS: Final = frozenset({"location", "credentials_path", "maximum_bytes_billed", "endpoint"})
_NO_SELECT: Final = "BigQuery reports that it is not a SELECT, the only statement that a data source runs on BigQuery"
_PAGE: Final = 1_000  # rows to fetch in one request
_AWAY: Final = frozenset(
    {"backendError", "internalError", "jobRateLimitExceeded", "quotaExceeded", "rateLimitExceeded"}
)
_STOPPED: Final = frozenset({"stopped", "timeout", "jobTimeout"})
_COSTS: Final = "bytesBilledLimitExceeded"
_BAD_VALUE: Final = re.compile(
    r"bad \w+ value|could not (?:cast|parse)|invalid (?:date|datetime|time|timestamp|value|parameter)"
    r"|no matching signature|failed to parse|out of range",
    re.IGNORECASE,
)
_KINDS: Final[Mapping[type, str]] = {
    str: "STRING",
    bool: "BOOL",
    int: "INT64",
    float: "FLOAT64",
    bytes: "BYTES",
    date: "DATE",
    time: "TIME",
    type(None): "STRING",
    UUID: "STRING",
}
_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("STRING", "GEOGRAPHY"), "text"),
    **dict.fromkeys(("INTEGER", "INT64"), "integer"),
    **dict.fromkeys(("FLOAT", "FLOAT64"), "float"),
    **dict.fromkeys(("NUMERIC", "BIGNUMERIC"), "decimal"),
    **dict.fromkeys(("BOOLEAN", "BOOL"), "boolean"),
    **dict.fromkeys(("DATETIME", "TIMESTAMP"), "datetime"),
    **dict.fromkeys(("RECORD", "STRUCT"), "struct"),
    "BYTES": "bytes",
    "DATE": "date",
    "TIME": "time",
    "JSON": "json",
}
_ARROW_TYPES: Final[Mapping[str, str]] = {
    "DATETIME": "timestamp",
    "TIMESTAMP": "timestamptz",
    "TIME": "time64",
    "NUMERIC": "decimal(38, 9)",
}


@dataclass(slots=True)
class JobConnection:
    """A connection: a client, and the id of its running job, if any."""

    client: Any
    job_id: str | None = None


def read_options(url: URL) -> dict[str, str]:
    """Return the options of ``bigquery://project/dataset?location=EU&credentials_path=/file.json``. Raises
    InvalidSource."""
    options = url_options(url, OPTIONS)
    if not url.host or url.username or url.password:
        raise InvalidSource(
            "a bigquery URL is bigquery://project/dataset?location=EU&credentials_path=/path/of/the/key.json",
            field="/url",
        )
    if not options.get("maximum_bytes_billed", "1").isdigit():
        raise InvalidSource("maximum_bytes_billed of a bigquery URL must be a whole number of bytes", field="/url")
    endpoint = urlsplit(options.get("endpoint", "https://"))
    if endpoint.scheme != "https" and not is_loopback(endpoint.hostname or ""):
        raise InvalidSource("the endpoint of a bigquery URL must begin with https://", field="/url")
    return options


class BigQueryDriver:
    """A Driver and DeclaringDriver for BigQuery. Raises InvalidSource for an unusable URL."""

    dialect = "bigquery"
    paramstyle = "named_at"
    enforcement = BY_STATEMENT

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self._limits = limits
        self._options = read_options(url)
        self._project, self._dataset = url.host, url.database
        self._statements = ReadingStatements(source.id, self.dialect)
        self._stopper = Stopper(source.id, limits)
        self._bigquery = import_module("google.cloud.bigquery")
        from google.api_core import exceptions
        from google.auth import exceptions as auth_exceptions

        self._errors = (exceptions.GoogleAPIError, auth_exceptions.GoogleAuthError, OSError)

    def open(self) -> JobConnection:
        endpoint = self._options.get("endpoint")
        return JobConnection(
            self._bigquery.Client(
                project=self._project,
                credentials=self._credentials(),
                location=self._options.get("location"),
                client_options={"api_endpoint": endpoint} if endpoint else None,
            )
        )

    def _credentials(self) -> Any:
        from google.auth.credentials import AnonymousCredentials
        from google.oauth2 import service_account

        path = self._options.get("credentials_path")
        if path is not None:
            return service_account.Credentials.from_service_account_file(
                path, scopes=("https://www.googleapis.com/auth/bigquery",)
            )
        is_plain = self._options.get("endpoint", "").startswith("http://")
        return AnonymousCredentials() if is_plain else None

    def fetch(self, connection: JobConnection, bound: BoundSQL) -> Result:
        params = [self._parameter(name, value) for name, value in dict(bound.params or {}).items()]
        failure: TenantryError
        try:
            self._statements.check(bound, lambda: self._dry_run(connection, bound.sql, params))
            connection.job_id = f"tenantry-{uuid4()}"
            return self._take(self._run(connection, bound.sql, params))
        except self._errors as error:
            failure = self._failure(error, has_values=bool(params))
        finally:
            connection.job_id = None
        raise failure

    def _config(self, params: Sequence[Any], **more: Any) -> Any:
        config = self._bigquery.QueryJobConfig(query_parameters=params, use_legacy_sql=False, **more)
        if self._dataset:
            config.default_dataset = f"{self._project}.{self._dataset}"
        if "maximum_bytes_billed" in self._options:
            config.maximum_bytes_billed = int(self._options["maximum_bytes_billed"])
        return config

    def _dry_run(self, connection: JobConnection, sql: str, params: Sequence[Any]) -> str | None:
        # BigQuery has no read-only mode. A dry run costs nothing and reports the kind of a statement. Any kind but
        # SELECT, such as a write or a script, is refused. Remote functions are permitted: they run with the rights of
        # the account.
        config = self._config(params, dry_run=True, use_query_cache=False)
        job = connection.client.query(sql, config, retry=None, job_retry=None, timeout=self._limits.timeout)
        return None if job.statement_type == "SELECT" else _NO_SELECT

    def _run(self, connection: JobConnection, sql: str, params: Sequence[Any]) -> Any:
        limits = self._limits
        config = self._config(params, job_timeout_ms=limits.timeout_ms)
        job = connection.client.query(
            sql, config, job_id=connection.job_id, retry=None, job_retry=None, timeout=limits.timeout
        )
        return job.result(page_size=_PAGE, max_results=limits.row_limit + 1, timeout=limits.timeout, job_retry=None)

    def _take(self, answer: Any) -> Result:
        names = [field.name for field in answer.schema]
        kinds = ["" if field.mode == "REPEATED" else field.field_type for field in answer.schema]
        return take_result(
            self.source_id,
            names,
            _tuples(answer),
            self._limits,
            types=[_TYPES.get(kind) if kind else "list" for kind in kinds],
            arrow_types=[_ARROW_TYPES.get(kind) for kind in kinds],
        )

    def _parameter(self, name: str, value: Any) -> Any:
        if isinstance(value, list | tuple):
            kind = _kind(value[0]) if value else "STRING"
            return self._bigquery.ArrayQueryParameter(name, kind, [_plain(item) for item in value])
        return self._bigquery.ScalarQueryParameter(name, _kind(value), _plain(value))

    def failure(self, error: Exception) -> TenantryError:
        return self._failure(error, has_values=False)

    def _failure(self, error: Exception, *, has_values: bool) -> TenantryError:
        details = getattr(error, "errors", None) or [{}]
        reason = str(details[0].get("reason", "")) if isinstance(details[0], dict) else ""
        evidence = type(error).__name__ + (f" ({reason})" if reason.isalnum() else "")
        if reason in _STOPPED or isinstance(error, TimeoutError):
            return timeout_error(self.source_id, self._limits.timeout)
        if reason in _AWAY or not hasattr(error, "code") or error.code in (401, 502, 503):
            return unreachable_error(self.source_id, error, f" ({reason})" if reason.isalnum() else "")
        if reason == _COSTS:
            evidence += ": it would read more bytes than maximum_bytes_billed in the URL of the data source allows"
        elif has_values and _BAD_VALUE.search(str(error)):
            return UnbindableValue(f"a value does not fit its position in the SQL: {evidence}", name="$")
        return query_error(self.source_id, evidence)

    def interrupt(self, connection: JobConnection) -> None:
        job_id, seconds = connection.job_id, self._limits.connect_timeout
        if job_id is not None:
            self._stopper.stop(connection, lambda: connection.client.cancel_job(job_id, retry=None, timeout=seconds))

    def close(self, connection: JobConnection) -> None:
        self._stopper.forget(connection)
        connection.client.close()

    def shutdown(self) -> None:
        self._stopper.shutdown()


ENGINE: Final = Engine(
    name="bigquery",
    dialect="bigquery",
    make_driver=BigQueryDriver,
    enforcement=BY_STATEMENT,
    check_url=read_options,
    package="google-cloud-bigquery",
    module="google.cloud.bigquery",
    install="tenantry-warehouses[bigquery]",
)


def _tuples(answer: Any) -> Iterator[tuple[Any, ...]]:
    return (row.values() for row in answer)


def _kind(value: Any) -> str:
    if isinstance(value, datetime):
        return "TIMESTAMP" if value.tzinfo else "DATETIME"
    if isinstance(value, Decimal):
        return "NUMERIC" if abs(value) < 10**29 and value == round(value, 9) else "BIGNUMERIC"
    kind = _KINDS.get(type(value))
    if kind is None:
        what = "a timedelta" if isinstance(value, timedelta) else f"a value of type {type(value).__name__}"
        raise UnbindableValue(f"{what} cannot be bound on BigQuery", name="$")
    return kind


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value
