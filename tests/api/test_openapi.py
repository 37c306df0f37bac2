"""The OpenAPI documents: valid, whole, from the models, and the same but for QUERY."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, OpenAPIV32SpecValidator

from tenantry.api import openapi_document
from tenantry.api.models import GetOrCreate, Rotate, Update
from tenantry.api.operations import OPERATIONS
from tests.api.conftest import Service


@pytest.mark.parametrize(("path", "version"), [("/openapi.json", "3.1.1"), ("/openapi-3.2.json", "3.2.0")])
async def test_the_document_is_served_and_valid(service: Service, path: str, version: str) -> None:
    """Without a token; checked against the specification of its own version."""
    answer = await service.http.get(path)
    document = answer.json()
    assert document["openapi"] == version
    validator = OpenAPIV31SpecValidator if version.startswith("3.1") else OpenAPIV32SpecValidator
    validator(document).validate()


def test_query_is_the_only_difference() -> None:
    """3.1 has it under x-query, 3.2 as an operation of the same content."""
    old, new = openapi_document("3.1"), openapi_document("3.2")
    old_path, new_path = old["paths"]["/api/user"], new["paths"]["/api/user"]
    assert old_path.pop("x-query") == new_path.pop("query")
    old["openapi"] = new["openapi"]
    assert old == new


def test_every_operation_is_documented() -> None:
    """Each method that is served, with its body, its security and all its errors."""
    document = openapi_document("3.2")
    path = document["paths"]["/api/user"]
    assert {method.upper() for method in path} == set(OPERATIONS)
    for operation in path.values():
        assert operation["requestBody"]["required"] is True
        assert set(operation["responses"]) >= {"200", "400", "401", "403", "404", "409", "413", "415", "422", "503"}
    assert document["security"] == [{"apiToken": []}]


@pytest.mark.parametrize("model", [GetOrCreate, Update, Rotate])
def test_the_schemas_have_the_models_fields(model: Any) -> None:
    """They are generated: a field added to a model is in the document."""
    schema = openapi_document("3.1")["components"]["schemas"][model.__name__]
    assert set(schema["properties"]) == set(model.model_fields)
    assert schema["additionalProperties"] is False
    assert "title" not in str(schema)


def test_the_limits_are_in_the_schema() -> None:
    """What JSON Schema can say of a limit, it says."""
    schemas = openapi_document("3.1")["components"]["schemas"]
    name = schemas["GetOrCreate"]["properties"]["user_group_id"]
    assert (name["minLength"], name["maxLength"]) == (1, 255)
    assert schemas["Mapping"]["maxProperties"] == 100
    assert schemas["Properties"]["maxProperties"] == 256
    for said in ("32768 bytes", "8 levels", "2^53-1"):
        assert said in schemas["Properties"]["description"]


def test_the_examples_fit_their_schemas() -> None:
    """Requests and answers alike."""
    document = openapi_document("3.1")

    def check(schema: Any, value: Any) -> None:
        Draft202012Validator({**schema, "components": document["components"]}).validate(value)

    for operation in document["paths"]["/api/user"].values():
        content = operation["requestBody"]["content"]["application/json"]
        for example in content["examples"].values():
            check(content["schema"], example["value"])
        for answer in operation["responses"].values():
            content = answer["content"]["application/json"]
            check(content["schema"], content["example"])
