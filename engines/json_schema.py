"""JSON Schema's validator, loaded by the tests that need it: it takes each process that collects tests two seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


def validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    """A validator of this schema."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raise SchemaError unless this is a JSON Schema of draft 2020-12."""
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema)


def keywords() -> set[str]:
    """The keywords of JSON Schema, draft 2020-12."""
    from jsonschema_specifications import REGISTRY

    parts = ("core", "applicator", "validation", "meta-data", "format-annotation", "content")
    metaschemas = [REGISTRY.contents(f"https://json-schema.org/draft/2020-12/meta/{part}") for part in parts]
    return {keyword for metaschema in metaschemas for keyword in metaschema["properties"]}
