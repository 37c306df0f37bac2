"""JSON Schema's validator. The package jsonschema, which OpenAPI's validators need, does the same and loads slowly."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest
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


def openapi_validators() -> ModuleType:
    """The package with the validators of OpenAPI documents, without rfc3987_syntax, which takes more than a second to
    load. jsonschema has it for the format ``iri``, which is OpenAPI's only for namespaces of XML."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "rfc3987_syntax", None)
        import openapi_spec_validator
    return openapi_spec_validator
