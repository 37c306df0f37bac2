"""The dialects: one module each; and what they write differently, on the real engines."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from tenantry.sql import dialects
from tenantry.sql.dialects import DIALECTS, UNITS


def test_every_module_is_a_dialect_of_its_name_and_postgresql_is_the_first() -> None:
    """A new dialect is one new file. Red when ``_dialects`` names the modules itself and one is missing there."""
    modules = sorted(path.stem for path in Path(dialects.__path__[0]).glob("*.py"))
    names = [name for name in modules if name not in {"__init__", "dialect"}]
    assert list(DIALECTS) == ["postgresql", *(name for name in names if name != "postgresql")]
    for name in names:
        assert import_module(f"tenantry.sql.dialects.{name}").DIALECT.name == name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_a_bucket_for_each_unit(dialect: str) -> None:
    """Red when a dialect lacks a unit, or a bucket its column."""
    for unit in UNITS:
        assert "col" in DIALECTS[dialect].trunc(unit, "col")
    with pytest.raises(ValueError, match="no unit 'eon'"):
        DIALECTS[dialect].trunc("eon", "col")
