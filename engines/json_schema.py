"""JSON Schema's validator, loaded by the tests that need it: it takes a second of each process that collects tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


def validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    """A validator of this schema."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)
