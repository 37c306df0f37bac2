"""The OpenAPI documents: valid, whole, from the models, and the same but for QUERY."""

from __future__ import annotations

import json
import typing
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from starlette.applications import Starlette

from engines.json_schema import keywords, openapi_validators, validator
from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import InvalidSettings
from tenantry.groups import Scope
from tenantry.provisioning.http import create_api, openapi_document
from tenantry.provisioning.http.operations import OPERATIONS, ROTATION, GetOrCreate, Merge, Rotate, Update
from tenantry.server.app import make_app
from tenantry.server.settings import load_settings
from tenantry.tokens.keys import create_key_file
from tests.provisioning.http.conftest import Service, make_caller, make_keys
from tests.test_errors import STABLE as STATUSES


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from (operation for method, operation in methods.items() if not method.startswith("x-"))


def item_schemas(document: dict[str, Any], name: str) -> list[Any]:
    """What is under this name in the media types of lines, which have it no more then."""
    bulk, rotations = (document["paths"][path]["post"] for path in ("/api/users/bulk", "/api/users/rotate"))
    contents = [bulk["requestBody"], bulk["responses"]["200"], rotations["responses"]["200"]]
    return [each["content"]["application/x-ndjson"].pop(name) for each in contents]


def responses(document: dict[str, Any], operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Status and response, references followed."""
    for status, response in operation["responses"].items():
        name = response.get("$ref", "").removeprefix("#/components/responses/")
        yield status, document["components"]["responses"][name] if name else response


def examples(document: dict[str, Any], content: dict[str, Any]) -> dict[str, Any]:
    """The values of a media type's examples, by name."""
    if "example" in content:
        return {"example": content["example"]}
    named = document["components"]["examples"]
    return {name: named[given["$ref"].rpartition("/")[2]]["value"] for name, given in content["examples"].items()}


def references(schemas: dict[str, Any], name: str) -> set[str]:
    """The schemas that this one leads to."""
    found: set[str] = set()
    waiting = [schemas[name]]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            target = str(value.get("$ref", "")).rpartition("/")[2]
            if target and target not in found:
                found.add(target)
                waiting.append(schemas[target])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return found


@pytest.mark.parametrize(("path", "version"), [("/openapi.json", "3.1.1"), ("/openapi-3.2.json", "3.2.0")])
async def test_the_document_is_served_and_valid(service: Service, path: str, version: str) -> None:
    """Without a token; checked against the specification of its own version."""
    answer = await service.http.get(path)
    document = answer.json()
    assert document["openapi"] == version
    valid = openapi_validators()
    checker = valid.OpenAPIV31SpecValidator if version.startswith("3.1") else valid.OpenAPIV32SpecValidator
    checker(document).validate()


def test_query_is_the_only_difference() -> None:
    """3.1 has it under x-query, 3.2 as an operation of the same content; and so the schema of a line of a bulk."""
    old, new = openapi_document("3.1"), openapi_document("3.2")
    old_path, new_path = old["paths"]["/api/user"], new["paths"]["/api/user"]
    assert old_path.pop("x-query") == new_path.pop("query")
    assert item_schemas(old, "x-itemSchema") == item_schemas(new, "itemSchema") != []
    old["openapi"] = new["openapi"]
    assert old == new


def test_every_operation_is_documented() -> None:
    """Each method that is served, with its body, its security and all its errors."""
    document = openapi_document("3.2")
    path, rotation = document["paths"]["/api/user"], document["paths"]["/api/user/rotate"]
    assert {method.upper() for method in path} == set(OPERATIONS)
    assert {method.upper() for method in rotation} == set(ROTATION)
    found = {"200", "400", "401", "403", "408", "409", "413", "415", "422", "431", "500", "503"}
    deletion = path.pop("delete")
    assert "requestBody" not in deletion
    assert set(deletion["responses"]) == found - {"409", "422"} | {"404"}
    for method, operation in (*path.items(), *rotation.items()):
        assert operation["requestBody"]["required"] is True
        assert set(operation["responses"]) == found | ({"404"} if method in ("put", "patch", "post") else set())
    assert document["security"] == [{"apiToken": []}]


@pytest.mark.parametrize("model", [GetOrCreate, Update, Merge, Rotate])
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
    assert schemas["DataSourceMapping"]["maxProperties"] == 100
    assert schemas["Properties"]["maxProperties"] == 256
    for limit in ("32768 bytes", "8 levels", "2^53-1"):
        assert limit in schemas["Properties"]["description"]


def test_the_examples_fit_their_schemas() -> None:
    """Requests and answers alike."""
    document = openapi_document("3.1")

    def check(schema: Any, value: Any) -> None:
        validator({**schema, "components": document["components"]}).validate(value)

    for operation in operations(document):
        for content in operation.get("requestBody", {"content": {}})["content"].values():
            for example in content["examples"].values():
                check(content["schema"], example["value"])
        for status, answer in responses(document, operation):
            for content in answer["content"].values():
                shown = examples(document, content)
                assert shown, (operation["operationId"], status)
                for example in shown.values():
                    check(content["schema"], example)


def test_an_error_example_carries_a_code_of_its_status() -> None:
    """Every example of every error, in both forms, is under its own status and has its own code; and the description
    names the same codes. Red with one example for all, as there was."""
    document = openapi_document("3.1")
    seen = 0
    for operation in operations(document):
        for status, answer in responses(document, operation):
            if status == "200":
                continue
            for content in answer["content"].values():
                for code, example in examples(document, content).items():
                    named = example["code"] if isinstance(example["error"], str) else example["error"]["code"]
                    assert (named, str(STATUSES[named])) == (code, status)
                    assert example.get("status", STATUSES[named]) == STATUSES[named]
                    assert f"(`{code}`)" in answer["description"]
                    seen += 1
    assert seen > 100


def schemas_in(value: Any, *, is_schema: bool = False) -> Iterator[dict[str, Any]]:
    """Each schema of a document, with those inside it."""
    if isinstance(value, list):
        for each in value:
            yield from schemas_in(each, is_schema=is_schema)
    if not isinstance(value, dict):
        return
    if is_schema:
        yield value
    for key, inner in value.items():
        if key in {"schemas", "properties", "patternProperties"}:
            yield from schemas_in([*inner.values()], is_schema=True)
        elif key not in {"const", "default", "enum", "example", "examples", "x-extensible-enum"}:
            yield from schemas_in(inner, is_schema=is_schema or key in {"schema", "itemSchema"})


def test_every_keyword_of_a_schema_is_one_of_json_schema() -> None:
    """JSON Schema allows unknown keywords, and they say nothing. Red when a ``$ref`` or ``pattern`` is misspelt: the
    document is valid, and its clients accept anything."""
    found = [*schemas_in(openapi_document("3.2"))]
    assert len(found) > 100
    assert {key for schema in found for key in schema if not key.startswith("x-")} - keywords() == set()


def test_codes_are_an_extensible_enum() -> None:
    """The codes of this version are listed, and the type is any text: a generated client raises on none that it does
    not know (tests/clients asks some). Red with ``enum``."""
    schemas = openapi_document("3.1")["components"]["schemas"]
    for code in (schemas["ErrorDetail"]["properties"]["code"], schemas["OAuthErrorAnswer"]["properties"]["code"]):
        assert code["type"] == "string"
        assert "enum" not in code
        assert {"bad_json", "not_found", "method_not_allowed", "outcome_unknown"} <= set(code["x-extensible-enum"])


def test_what_makes_generators_stumble_is_not_there() -> None:
    """No schema refers to itself, or has a name of Python's typing or of one of its own fields; no object within
    another has no name; and no answer is one of several.

    Red with the ``Value`` of once, which was an array of itself; with ``Mapping``, which a generated module imports;
    with ``Error``, whose field ``error`` was another variable of that name; with a nested ``type: object``; with
    ``oneOf``.
    """
    document = openapi_document("3.1")
    schemas = document["components"]["schemas"]
    assert not set(schemas) & set(typing.__all__)
    for name, schema in schemas.items():
        assert name not in references(schemas, name), name
        for field, value in schema.get("properties", {}).items():
            assert value.get("type") != "object", name
            assert field != name.lower(), name
    for operation in operations(document):
        for _, answer in responses(document, operation):
            assert all(set(content["schema"]) == {"$ref"} for content in answer["content"].values())


def test_operations_have_honest_names() -> None:
    """Each once, also where 3.1 has no field for QUERY; and the tags, the licence and nobody's address."""
    document = openapi_document("3.2")
    names = [operation["operationId"] for operation in operations(document)]
    assert names == [
        "getOrCreateUserGroup",
        "updateUserGroup",
        "mergeUserGroup",
        "deleteUserGroup",
        "postUserGroup",
        "getOrCreateUserGroupByQuery",
        "rotateUserGroupToken",
        "createPass",
        "revokeViewer",
        "listUserGroups",
        "bulkUserGroups",
        "rotateUserGroups",
        "listDataSources",
        "createDataSource",
        "updateDataSource",
        "deleteDataSource",
        "introspectUserGroupToken",
        "getHealth",
        "getReadiness",
    ]
    assert all(tag["description"] for tag in document["tags"])
    assert document["info"]["license"] == {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
    assert "contact" not in document["info"]


@pytest.mark.parametrize(
    ("contact", "shown"),
    [
        ("https://acme.example/help", {"url": "https://acme.example/help"}),
        ("api@acme.example", {"email": "api@acme.example"}),
    ],
)
async def test_a_contact_is_named_where_the_operator_sets_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contact: str, shown: dict[str, str]
) -> None:
    """An address of the web or of mail, in both documents of a server; what is neither is refused before it starts.

    Red when the setting does not get as far as the document.
    """
    monkeypatch.setenv("TENANTRY_API_CONTACT", contact)
    create_key_file(tmp_path / "tenantry.keys")
    settings = load_settings(database=f"sqlite:///{tmp_path}/t.db", keys=tmp_path / "tenantry.keys")
    app = make_app(settings, lambda: False)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://tenantry.test") as http:
        for path in ("/openapi.json", "/openapi-3.2.json"):
            assert (await http.get(path)).json()["info"]["contact"] == shown
    for wrong in ("ring us", "https://", "a@b@c", f"{contact} x"):
        with pytest.raises(ValueError, match="contact must be"):
            openapi_document("3.1", contact=wrong)
        with pytest.raises(InvalidSettings, match="TENANTRY_API_CONTACT"):
            load_settings(api_contact=wrong)


async def test_documents_are_made_when_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for all apps of a process, and not at the start of each; a wrong contact is refused at the start.

    Red when ``create_api`` makes them, when nobody keeps them, and when nobody checks the contact before.
    """
    made = []

    def counted(version: Any, *, contact: str | None) -> dict[str, Any]:
        made.append(version)
        return openapi_document(version, contact=contact)

    monkeypatch.setattr("tenantry.provisioning.http.openapi.openapi_document", counted)
    contact = f"{uuid.uuid4()}@acme.example"  # of no other test
    apps = [Starlette(routes=[*create_api(MemoryStore(), make_keys(), contact=contact)]) for _ in range(2)]
    assert made == []
    for app in apps:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://tenantry.test") as http:
            for _ in range(2):
                assert (await http.get("/openapi.json")).json()["info"]["contact"] == {"email": contact}
    assert made == ["3.1"]
    with pytest.raises(ValueError, match="contact must be"):
        create_api(MemoryStore(), make_keys(), contact="ring us")


async def test_every_example_request_gets_its_stated_status(service: Service) -> None:
    """Each is sent as it is, in the order of the document, to an app that knows no group and no data source.

    Red with an example of ``mapping``, whose source nobody registered, and with a state that is wrong.
    """
    document = openapi_document("3.2")
    both = await make_caller(service.store, service.production, *Scope)
    sent = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for kind, content in operation.get("requestBody", {"content": {}})["content"].items():
                for example in content["examples"].values():
                    value = example["value"]
                    plain = isinstance(value, str)
                    text = value if plain else json.dumps(value) if kind == "application/json" else urlencode(value)
                    raw = text.encode()
                    answer = await service.send(method.upper(), raw, {"Content-Type": kind}, caller=both, path=path)
                    assert answer.status_code == example["x-status"], (path, method, answer.text)
                    sent += 1
    assert sent == 19


@pytest.mark.parametrize(("method", "model"), [("GET", "GetOrCreate"), ("PUT", "Update"), ("POST", "GetOrCreate")])
async def test_a_body_made_of_the_fields_examples_is_taken(service: Service, method: str, model: str) -> None:
    """As documentation viewers make one: the first example of each field. Red with one of ``mapping``: 422."""
    fields = openapi_document("3.1")["components"]["schemas"][model]["properties"]
    body = {name: schema["examples"][0] for name, schema in fields.items() if "examples" in schema}
    assert {"user_group_id", "properties"} <= set(body)
    await service.ask("GET", {"user_group_id": body["user_group_id"]})
    assert (await service.ask(method, body)).status_code == 200


def test_each_operation_names_the_scope_that_it_needs() -> None:
    """``provision:write`` for all of ``/api/user``, GET too; ``provision:read`` for the list. Red when an operation
    takes the document's own security, which names none."""
    needed = {
        (path, method): [scope for each in operation["security"] for scopes in each.values() for scope in scopes]
        for path, item in openapi_document("3.2")["paths"].items()
        for method, operation in item.items()
        if "security" in operation
    }
    assert needed.pop(("/api/users", "get")) == ["provision:read"]
    assert needed.pop(("/oauth/introspect", "post")) == ["introspect"] * 3
    assert needed.pop(("/api/user/passes", "post")) == ["passes"]
    for method in ("get", "post", "patch", "delete"):
        assert needed.pop(("/api/data-sources", method)) == ["sources"]
    assert needed.pop(("/healthz", "get")) == needed.pop(("/readyz", "get")) == []
    assert {"/api/user", "/api/user/rotate"} <= {path for path, _ in needed}
    assert len(needed) >= 7
    assert set(map(tuple, needed.values())) == {("provision:write",)}
