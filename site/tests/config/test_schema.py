"""The two JSON Schemas: they agree with the reader on every file, and the published ones are those of today."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from engines.corpus import needs_corpus
from engines.hypothesis_profile import examples
from engines.json_schema import validator
from tenantry_site.config import json_schema, loads
from tenantry_site.config.diagnostics import CODE_TABLE
from tests.config.random_files import configurations, damaged
from tests.config.real import Real, each_real
from tests.config.reported import WHOLE
from tests.config.test_model import EVERYTHING
from tests.config.test_values import WRONG

PUBLISHED = Path(__file__).parents[3] / "docs" / "schemas"


@cache
def _validator(strict: bool) -> Any:
    return validator(json_schema(strict=strict))


def published(strict: bool) -> tuple[Path, str]:
    """Where a schema is published, and what is to stand there."""
    path = PUBLISHED / ("site.strict.schema.json" if strict else "site.schema.json")
    return path, json.dumps(json_schema(strict=strict), indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("strict", [False, True])
def test_the_published_schema_is_that_of_the_code(strict: bool) -> None:
    """Red when the model has changed: write them again with ``python -m tests.config.test_schema``."""
    path, text = published(strict)
    assert path.read_text("utf-8") == text


def agree(value: Any) -> None:
    """The schemas refuse a value exactly when the reader says of it what a schema can express."""
    found = [one for one in loads(json.dumps(value))[1] if CODE_TABLE[one.code].in_schema]
    for strict, levels in ((False, {"error"}), (True, {"error", "warning"})):
        found_diagnostics = [one for one in found if one.severity in levels]
        schema = _validator(strict)
        assert bool(found_diagnostics) != schema.is_valid(value), (
            strict,
            found_diagnostics,
            [f"{error.instance_path}: {error.message:.200}" for error in schema.iter_errors(value)],
        )


@needs_corpus
@each_real
def test_reader_and_schemas_agree_on_real_files(real: Real) -> None:
    """Red when one of them refuses what the other takes."""
    if real.parses:
        agree(json.loads(real.data.decode("utf-8-sig")))


@pytest.mark.parametrize("fields", [fields for fields, _, _ in WRONG])
def test_reader_and_schemas_agree_on_each_mistake(fields: dict[str, Any]) -> None:
    """Red when one of them refuses what the other takes."""
    agree(WHOLE | fields)


@settings(max_examples=examples(250), deadline=None)
@given(damaged(EVERYTHING))
def test_reader_and_schemas_agree_on_damaged_files(value: Any) -> None:
    """Red when one of them refuses what the other takes: these files have one or two mistakes and no others."""
    agree(value)


@settings(max_examples=examples(20), deadline=None)
@given(configurations())
def test_reader_and_schemas_agree_on_random_files(value: Any) -> None:
    """Red when one of them refuses what the other takes."""
    agree(value)


def test_what_the_schemas_let_pass() -> None:
    """Red when a whole right file is refused, an unknown key is by the lenient one, or is not by the strict one."""
    agree(EVERYTHING)
    unknown = EVERYTHING | {"brandName": "x"}
    assert _validator(False).is_valid(unknown)
    assert not _validator(True).is_valid(unknown)
    known = EVERYTHING | {"analytics": {}}
    assert _validator(True).is_valid(known)
    assert json_schema()["properties"]["analytics"]["x-known-extension"] is True


def test_a_group_refers_to_itself() -> None:
    """Red when the schema has groups of a fixed depth."""
    group = json_schema()["$defs"]["Group"]
    assert {"$ref": "#/$defs/Group"} in group["properties"]["pages"]["items"]["anyOf"]


if __name__ == "__main__":
    for kind in (False, True):
        target, content = published(kind)
        target.write_text(content, "utf-8")
