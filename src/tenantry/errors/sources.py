"""Errors of data sources: between a group and its rows."""

from __future__ import annotations

from tenantry.errors.root import TenantryError


class DataSourceError(TenantryError):
    """The root of what can go wrong between a group and its rows. No message holds a URL's password."""

    code, status = "data_source_error", 502


class UnmappedSchema(DataSourceError):
    """The group's mapping has no entry for this schema. There is no default data source, on purpose."""

    code, status = "unmapped_schema", 422


class UnregisteredSource(DataSourceError):
    """The group's mapping names a data source that its environment does not have."""

    code, status = "unregistered_source", 422


class InvalidSource(DataSourceError):
    """A data source's URL is malformed, or its dialect cannot be held read-only and it is not trusted."""

    code, status = "invalid_source", 422


class NotOneStatement(DataSourceError):
    """The SQL is not exactly one statement that reads."""

    code, status = "not_one_statement", 422


class QueryFailed(DataSourceError):
    """The data source refused the query."""

    code, status = "query_failed", 502


class TooManyRows(DataSourceError):
    """The query gives more rows than the limit."""

    code, status = "too_many_rows", 422


class TooManyBytes(DataSourceError):
    """The rows of the query take more memory than the limit."""

    code, status = "too_many_bytes", 422


class QueryTimeout(DataSourceError):
    """The query ran longer than the statement timeout and was stopped."""

    code, status = "query_timeout", 504


class SourceUnavailable(DataSourceError):
    """The data source cannot be reached, or all of its connections are busy."""

    code, status = "source_unavailable", 503
