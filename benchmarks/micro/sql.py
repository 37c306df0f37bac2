"""Binding a SQL template, warm and cold, compared with a hand-written function, jinjasql2 and SQLAlchemy's text()."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinjasql import JinjaSql
from sqlalchemy import bindparam, text
from sqlalchemy.dialects import sqlite

from benchmarks.harness.measure import Cell, repeat, run
from benchmarks.harness.table import Aim, Table
from benchmarks.micro.templates import Size, large, medium, small
from tenantry.groups import Record
from tenantry.sql import DIALECTS, SQLTemplate, declare
from tenantry.sql.parameters.requests import ParameterConversion

WARM_AIM = {"small": 5.0, "medium": 2.7, "large": 2.0}
JINJA_WARM_AIM, JINJA_COLD_AIM = 10.0, 3.0
"""How many times as fast as jinjasql2: warm for medium and large, cold for all."""

_DECLARED = {"small": ("since", "date"), "medium": ("since until", "date"), "large": ("o0 o1 o2 o3", "integer")}
"""Size -> the names of its declared parameters, and their type."""
_SENT = {"date": "2013-01-01", "integer": "1"}


def _conversion(size: Size) -> Cell:
    """Converts a viewer's values for declared parameters, which binding then uses."""
    names, kind = _DECLARED[size.name]
    conversion = ParameterConversion(declare(dict.fromkeys(names.split(), kind)))
    given = {**size.values, "params": dict.fromkeys(names.split(), _SENT[kind])}
    assert len(conversion.convert(given, DIALECTS["sqlite"], None)["params"]) == len(names.split())
    return repeat(lambda: conversion.convert(given, DIALECTS["sqlite"], None))


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in values.items() if name != "params"}, **values.get("params", {})}


def _cells(size: Size) -> dict[str, Cell]:
    template = SQLTemplate(size.template, dialect="sqlite")
    expected = len(size.by_hand(size.values)[1])
    assert len(template.bind(size.values, paramstyle="qmark").params or ()) == expected  # the same work is measured
    jinja = JinjaSql(param_style="qmark")
    prepared = jinja.env.from_string(size.jinja)
    assert len(jinja.prepare_query(prepared, size.values)[1]) == expected
    record = Record(size.values)  # what variables(request) gives; the others are given plain dicts
    dialect = sqlite.dialect()
    flat = _flat(size.values)

    def statement() -> Any:
        lists: list[Any] = [bindparam(name, expanding=True) for name, value in flat.items() if isinstance(value, list)]
        return text(size.sqlalchemy).bindparams(*lists).compile(dialect=dialect)

    compiled = statement()

    def alchemy(of: Any) -> object:
        return of._process_parameters_for_postcompile(of.construct_params(flat))

    return {
        "nothing": repeat(lambda: None),
        "by hand": repeat(lambda: size.by_hand(size.values)),
        "Tenantry, warm": repeat(lambda: template.bind(size.values, paramstyle="qmark")),
        "Tenantry, warm, a group's Record": repeat(lambda: template.bind(record, paramstyle="qmark")),
        "declared parameters, added to the bind": _conversion(size),
        "jinjasql2, warm": repeat(lambda: jinja.prepare_query(prepared, size.values)),
        "SQLAlchemy text(), warm": repeat(lambda: alchemy(compiled)),
        "Tenantry, cold": repeat(
            lambda: SQLTemplate(size.template, dialect="sqlite").bind(size.values, paramstyle="qmark")
        ),
        "jinjasql2, cold": repeat(lambda: JinjaSql(param_style="qmark").prepare_query(size.jinja, size.values)),
        "SQLAlchemy text(), cold": repeat(lambda: alchemy(statement())),
    }


def table() -> Table:
    """Runs it."""
    result = Table("SQL templates: text and parameters", ["what", "small µs", "×", "medium µs", "×", "large µs", "×"])
    columns = {size.name: run(_cells(size), rounds=15) for size in (small(), medium(), large())}
    for name in list(columns["small"].rounds)[1:]:
        cells = []
        for figures in columns.values():
            cells += [f"{figures.median(name) / 1000:,.2f}", f"{figures.net_ratio(name, 'by hand', 'nothing'):,.1f}"]
        result.add(name, *cells)
    for size_name, figures in columns.items():
        warm = figures.net_ratio("Tenantry, warm", "by hand", "nothing")
        result.aims.append(Aim(f"{size_name}, warm, × by hand", warm, WARM_AIM[size_name]))
        jinja = figures.net_ratio("jinjasql2, warm", "Tenantry, warm", "nothing")
        if size_name != "small":
            result.aims.append(Aim(f"{size_name}, warm, jinjasql2 ÷ ours", jinja, JINJA_WARM_AIM, at_least=True))
        jinja = figures.ratio("jinjasql2, cold", "Tenantry, cold")
        result.aims.append(Aim(f"{size_name}, cold, jinjasql2 ÷ ours", jinja, JINJA_COLD_AIM, at_least=True))
    return result
