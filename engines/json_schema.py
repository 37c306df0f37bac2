"""JSON Schema's validator. The package jsonschema does the same and takes two seconds of each process that loads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema_rs import Draft202012Validator


def validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    """A validator of this schema. Raises ValidationError unless it is a JSON Schema of draft 2020-12."""
    return Draft202012Validator(schema)


def keywords() -> set[str]:
    """The keywords of JSON Schema, draft 2020-12."""
    from jsonschema_specifications import REGISTRY

    parts = ("core", "applicator", "validation", "meta-data", "format-annotation", "content")
    metaschemas = [REGISTRY.contents(f"https://json-schema.org/draft/2020-12/meta/{part}") for part in parts]
    return {keyword for metaschema in metaschemas for keyword in metaschema["properties"]}
