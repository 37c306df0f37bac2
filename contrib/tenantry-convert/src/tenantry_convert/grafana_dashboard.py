"""Reads queries and variables from the JSON of a dashboard or a panel of Grafana."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenantry_convert.conversion import ImportedQuery, ImportedVariable

_DIALECTS: Final = {
    "postgres": "postgresql",
    "grafana-postgresql-datasource": "postgresql",
    "mysql": "mysql",
    "mssql": "tsql",
    "grafana-clickhouse-datasource": "clickhouse",
    "vertamedia-clickhouse-datasource": "clickhouse",
    "grafana-snowflake-datasource": "snowflake",
    "grafana-bigquery-datasource": "bigquery",
    "grafana-redshift-datasource": "redshift",
    "grafana-databricks-datasource": "databricks",
    "frser-sqlite-datasource": "sqlite",
    "motherduck-duckdb-datasource": "duckdb",
    "trino-datasource": "trino",
}
"""The type of a data source -> the dialect."""
_SINCE = re.compile(r"now-(\d{1,4})([mhdwMy])")
_UNITS: Final = {"m": "minute", "h": "hour", "d": "day", "w": "week", "M": "month", "y": "year"}
_OPTION = re.compile(r"(?:\\,|[^,])+")
_NO_SQL: Final = {
    "adhoc": "ad hoc filters write conditions of their own: write one {{ params.x | matches(column) }} for each column",
    "groupby": "a choice of columns: write {{ params.x | one_of(name: column, …) }}",
    "datasource": "a choice of the data source: a group's mapping chooses it",
    "system": "a built-in variable of Grafana",
}


def read_dashboard(document: Any, name: str) -> list[ImportedQuery]:
    """Return the queries of the panels, in order. ``name``: for a query without a title."""
    variables = dict(_variables(document))
    known = variables if variables or _has_variables(document) else None
    period = _period(document)
    return [
        ImportedQuery(text=text, name=title, dialect=dialect, variables=known, period=period)
        for title, text, dialect in _queries(document, name, None)
    ]


def _period(document: Any) -> str:
    for each in _mappings(document):
        for name in ("time", "timeSettings"):
            time = each.get(name)
            if isinstance(time, Mapping) and time.get("to") == "now":
                match = _SINCE.fullmatch(str(time.get("from")))
                if match is not None:
                    return f"last {match[1]} {_UNITS[match[2]]}s"
    return ""


def _has_variables(document: Any) -> bool:
    return any("templating" in each or "variables" in each for each in _mappings(document))


def _mappings(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, Mapping):
        yield document
        for each in document.values():
            yield from _mappings(each)
    elif isinstance(document, list):
        for each in document:
            yield from _mappings(each)


def _queries(document: Any, title: str, dialect: str | None) -> Iterator[tuple[str, str, str | None]]:
    if isinstance(document, list):
        for each in document:
            yield from _queries(each, title, dialect)
    elif isinstance(document, Mapping):
        title = document["title"] if isinstance(document.get("title"), str) and document["title"] else title
        dialect = _dialect(document) or dialect
        text = document.get("rawSql")
        if isinstance(text, str) and text.strip():
            yield title, text, dialect
        for name, each in document.items():
            if name not in {"templating", "variables", "annotations"}:
                yield from _queries(each, title, dialect)


def _dialect(document: Mapping[str, Any]) -> str | None:
    source = document.get("datasource")
    kind = source.get("type") if isinstance(source, Mapping) else document.get("group")
    return _DIALECTS.get(kind) if isinstance(kind, str) else None


def _variables(document: Any) -> Iterator[tuple[str, ImportedVariable]]:
    for each in _mappings(document):
        templating = each.get("templating")
        listed = templating.get("list") if isinstance(templating, Mapping) else each.get("variables")
        for variable in listed if isinstance(listed, list) else []:
            if isinstance(variable, Mapping):
                spec = variable.get("spec")
                newer = isinstance(spec, Mapping)  # {"kind": "CustomVariable", "spec": {…}}
                kind = str(variable.get("kind" if newer else "type")).removesuffix("Variable").lower()
                fields = spec if isinstance(spec, Mapping) else variable
                if isinstance(fields.get("name"), str):
                    yield fields["name"], _variable(fields, kind)


def _variable(variable: Mapping[str, Any], kind: str) -> ImportedVariable:
    if kind in _NO_SQL:
        return ImportedVariable(definition={"type": "text"}, kind="other", reason=_NO_SQL[kind])
    if kind == "constant":
        return ImportedVariable(definition={"type": "text", "default": str(variable.get("query", ""))}, kind="constant")
    choices = _choices(variable, kind)
    many = bool(variable.get("multi"))
    all_values = bool(variable.get("includeAll"))
    definition: dict[str, Any] = {"type": "interval" if kind == "interval" else "text"}
    if choices and kind == "custom":
        definition = {"type": "choice", "choices": list(choices)}
    default = _default(variable)
    if default is not None and not many and not all_values:
        definition["default"] = default
    if isinstance(variable.get("label"), str) and variable["label"]:
        definition["label"] = variable["label"]
    return ImportedVariable(definition=definition, choices=choices, many=many, all_values=all_values)


def _default(variable: Mapping[str, Any]) -> str | None:
    current = variable.get("current")
    value = current.get("value") if isinstance(current, Mapping) else None
    return value if isinstance(value, str) and value and not value.startswith("$__") else None


def _choices(variable: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    if kind not in {"custom", "interval"}:
        return ()  # the values come from a query and may change
    options = variable.get("options")
    values = [
        each["value"]
        for each in (options if isinstance(options, list) else [])
        if isinstance(each, Mapping) and isinstance(each.get("value"), str) and not each["value"].startswith("$__")
    ]
    if not values and isinstance(variable.get("query"), str):
        written = [match.group().replace("\\,", ",").strip() for match in _OPTION.finditer(variable["query"])]
        values = [each.rpartition(" : ")[2].strip() if kind == "custom" else each for each in written]
    return tuple(dict.fromkeys(values))
