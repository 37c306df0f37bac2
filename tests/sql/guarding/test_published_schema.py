"""``docs/schemas/tables.schema.json``, for editors of ``tables.yaml``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engines.json_schema import validator
from tenantry.errors import TemplateError
from tenantry.sql.guarding import read_tables, tables_schema

PUBLISHED = Path(__file__).parents[3] / "docs" / "schemas" / "tables.schema.json"
TAKEN: tuple[dict[str, Any], ...] = (
    {"tables": {"orders": "customer_id", "main.t": "shared", '"Order Items"': {'"order id"': "orders.id"}}},
    {"tables": {"invoices": {"erp": "{{ user_group.properties.erp }}", "site": "in {{ user_group.properties.s }}"}}},
    {"tables": {"notes": "owner = {{ user_group.id }} and not hidden"}, "functions": ["f", "s.g"], "guard": "required"},
)
REFUSED: tuple[Any, ...] = (
    [],
    {"tabels": {"orders": "customer_id"}},
    {"tables": ["orders"]},
    {"tables": {"orders": []}},
    {"tables": {"orders": ""}},
    {"tables": {"orders": {}}},
    {"tables": {"orders": {"a.b": "{{ user_group.id }}"}}},
    {"tables": {"orders": {"customer_id": 7}}},
    {"tables": {"a b": "shared"}},
    {"tables": {"orders": "shared"}, "guard": "on"},
    {"tables": {"orders": "shared"}, "functions": "f"},
    {"tables": {"orders": "shared"}, "functions": ["f()"]},
)


def test_the_published_schema_is_that_of_the_reader() -> None:
    """Red when the reader has changed: run ``python -m tests.sql.guarding.test_published_schema``."""
    assert PUBLISHED.read_text("utf-8") == _written()


@pytest.mark.parametrize("value", TAKEN)
def test_an_editor_marks_nothing_that_the_reader_takes(value: dict[str, Any]) -> None:
    known = {"orders": "customer_id"}
    read_tables({**value, "tables": {**known, **value["tables"]}})
    assert validator(tables_schema()).is_valid(value)


@pytest.mark.parametrize("value", REFUSED)
def test_an_editor_marks_what_the_reader_refuses(value: Any) -> None:
    """Red with ``additionalProperties`` left out, and without a pattern."""
    with pytest.raises(TemplateError):
        read_tables(value)
    assert not validator(tables_schema()).is_valid(value)


def _written() -> str:
    return json.dumps(tables_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PUBLISHED.write_text(_written(), "utf-8")
