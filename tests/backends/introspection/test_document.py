"""What the OpenAPI documents say of the endpoint, compared with what it does."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_rs import ValidationError

from engines.json_schema import validator
from tenantry.provisioning.http import openapi_document
from tests.backends.introspection.conftest import PATH, ask, make_issued, rotate
from tests.provisioning.http.conftest import Service
from tests.provisioning.http.test_openapi import examples, responses

DOCUMENT = openapi_document("3.1")
OPERATION = DOCUMENT["paths"][PATH]["post"]


def check(schema: dict[str, Any], value: Any) -> None:
    validator({**schema, "components": DOCUMENT["components"]}).validate(value)


async def test_every_answer_is_as_described(service: Service) -> None:
    """Live, in its grace, dead; with and without properties and mapping. Red when a member is left out of either."""
    schema = OPERATION["responses"]["200"]["content"]["application/json"]["schema"]
    issued, old = await make_issued(service, properties={"a": [1, {"b": None}]}, mapping={"main": "eu"})
    _, new = await rotate(service, issued, grace_seconds=60)
    _, bare = await make_issued(service, provided_id="bare", properties=None)
    answers = [(await ask(service, token)).json() for token in (old, new, bare, "x")]
    assert [answer["active"] for answer in answers] == [True, True, True, False]
    for answer in answers:
        check(schema, answer)
    for wrong in ({}, {"active": True}, {"active": False, "sub": "acme"}, {**answers[0], "token": "x"}):
        with pytest.raises(ValidationError):
            check(schema, wrong)


def test_the_examples_fit() -> None:
    """Those of the form and of the answers."""
    form = OPERATION["requestBody"]["content"]["application/x-www-form-urlencoded"]
    for example in form["examples"].values():
        check(form["schema"], example["value"])
    for _, answer in responses(DOCUMENT, OPERATION):
        for content in answer["content"].values():
            for example in examples(DOCUMENT, content).values():
                check(content["schema"], example)


def test_every_status_is_documented() -> None:
    """All that the endpoint answers with, and the three schemes."""
    assert set(OPERATION["responses"]) == {"200", "400", "401", "403", "408", "413", "415", "500", "503"}
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert all(name in schemes for each in OPERATION["security"] for name in each)
    assert OPERATION["security"] == [{scheme: ["introspect"]} for scheme in ("apiToken", "bearer", "basic")]
    for status, answer in responses(DOCUMENT, OPERATION):
        assert ("Retry-After" in answer["headers"]) == (status == "503")
        assert ("WWW-Authenticate" in answer["headers"]) == (status in {"401", "403"})  # RFC 6750 section 3.1
