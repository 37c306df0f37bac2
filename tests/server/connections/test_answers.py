"""The server's own answers are answers of the API: its document has them, and its client reads them."""

from __future__ import annotations

import json

import pytest

from engines.json_schema import validator
from tenantry.client.answers import read_error
from tenantry.errors import HeadersTooLarge, RequestTimeout, TenantryError, TooManyConnections
from tenantry.provisioning.http.openapi import openapi_document
from tenantry.server.connections.connection import _raw_response
from tests.provisioning.http.test_openapi import responses

DOCUMENT = openapi_document("3.1")
METHODS = frozenset({"get", "put", "post", "patch", "delete"})


@pytest.mark.parametrize("kind", [HeadersTooLarge, RequestTimeout, TooManyConnections])
def test_the_server_answers_as_the_api_does(kind: type[TenantryError]) -> None:
    """Red without a request id, and with a code that the document does not list. Introspection has a form of its own,
    and says in its description which answers have not."""
    head, _, body = _raw_response(kind("no")).partition(b"\r\n\r\n")
    document, status = json.loads(body), int(head.split()[1])
    read = read_error(status, document, None)
    assert type(read) is kind
    assert document["request_id"] in str(read)
    assert f"x-request-id: {document['request_id']}".encode() in head
    schema = {"$ref": "#/components/schemas/ErrorAnswer", "components": DOCUMENT["components"]}
    validator(schema).validate(document)
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS & item.keys():
            operation = item[method]
            if path == "/oauth/introspect":
                assert f"`{kind.code}`" in operation["description"]
            else:
                listed = dict(responses(DOCUMENT, operation))[str(status)]
                assert kind.code in listed["content"]["application/json"]["examples"], (method, path)
