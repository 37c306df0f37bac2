"""Documents and what is found in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engines.corpus import needs_corpus
from tenantry_site.config import loads
from tenantry_site.diagnostic import Severity
from tenantry_site.reference import read_documents
from tests.reference.stage import codes, config, document, endpoint, one, own_document, reference, site_files

PETS: dict[str, Any] = document(
    {
        "/pets": {"get": {"summary": "All pets"}, "post": {}},
        "/pets/{petId}": {"get": {}, "parameters": [{"name": "petId", "in": "path", "required": True}]},
    },
    webhooks={"petAdded": {"post": {"summary": "A pet was added"}}},
)


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("GET /pets", "GET /pets"),
        ("get /pets", "GET /pets"),
        ("  Post   /pets ", "POST /pets"),
        ("api.json get /pets", "GET /pets"),
        ("/api.json get /pets", "GET /pets"),
        ("./api.json get /pets", "GET /pets"),
        ("api get /pets", "GET /pets"),
        ("GET /pets/{petId}", "GET /pets/{petId}"),
        ("webhook petAdded", "WEBHOOK petAdded"),
        ("GET /pets/{id}", None),
        ("GET /pets/", None),
        ("GET /Pets", None),
        ("DELETE /pets", None),
        ("other.json GET /pets", None),
        ("/pets", None),
        ("", None),
    ],
)
def test_an_operation_is_found_by_method_and_path(spec: str, found: str | None) -> None:
    """The method in any case, the path exactly. Red when the path is compared in lower case."""
    operation = reference(PETS).find(spec)
    assert (f"{operation.method} {operation.path}" if operation else None) == found


@pytest.mark.parametrize(
    ("spec", "fix"),
    [
        ("GET /pets/{x}", 'write "GET /pets/{petId}"'),
        ("get /pets/", 'write "GET /pets"'),
        ("DELETE /pets", 'write "GET /pets"'),
        ("GET /pet", 'write "GET /pets"'),
        ("apii.json GET /pets", "write 'api.json'"),
        ("/pets", 'write "METHOD /path", as in "GET /users"'),
    ],
)
def test_what_is_not_found_has_a_remedy(spec: str, fix: str) -> None:
    """The nearest operation. Red when likeness alone decides: /pets/{x} is nearer to /pets than to /pets/{petId}."""
    problem = reference(PETS).problem(spec, "page.mdx")
    assert (problem.code, problem.path, problem.fix) == ("API010", "page.mdx", fix)


@pytest.mark.parametrize(
    ("named", "text", "code", "words"),
    [
        ("https://example.com/api.json", "{}", "API003", "save the document"),
        ("//example.com/api.json", "{}", "API003", "save the document"),
        ("apo.json", "{}", "API002", "api.json"),
        ("../api.json", "{}", "API002", "api.json"),
        ("api.json", "", "API004", ""),
        ("api.json", "{", "API001", "fix"),
        ("api.json", "[]", "API005", ""),
        ("api.json", '{"swagger": "2.0", "paths": {}}', "API004", "convert"),
        ("api.json", '{"openapi": "2.5"}', "API004", "3.1"),
        ("api.json", '{"info": {}}', "API004", "openapi"),
    ],
)
def test_a_document_that_cannot_be_used_is_reported(named: str, text: str, code: str, words: str) -> None:
    """Each with its remedy, and no exception."""
    read = read_documents(config(openapi=(named,)), {"api.json": text})
    assert read.operations == ()
    if text:
        assert codes(read.diagnostics) == [code]
        assert words in read.diagnostics[0].fix


@pytest.mark.parametrize("version", ["3.0.0", "3.0.3", "3.1.0", "3.1.1", "3.1"])
def test_versions(version: str) -> None:
    """3.0 and 3.1."""
    assert len(reference({**PETS, "openapi": version}).operations) == 4
    assert len(reference("openapi: 3.0.1\npaths: {/a: {get: {}}}").operations) == 1
    assert len(reference("openapi: 3.1\npaths: {/a: {get: {}}}").operations) == 1


def test_references_to_other_files_of_the_site() -> None:
    """Relative to the file that they stand in; never to the web, never out of the site."""
    found = one({
        "parameters": [
            {"$ref": "parts/common.yaml#/limit"},
            {"$ref": "https://example.com/x.json#/p"},
            {"$ref": "../../etc/passwd"},
            {"$ref": "parts/none.yaml"},
            {"$ref": "#/components/none"},
        ]
    })  # fmt: skip
    files = {
        "parts/common.yaml": "limit: {name: limit, in: query, schema: {$ref: 'types.json#/a~1b'}}",
        "parts/types.json": '{"a/b": {"type": "integer", "maximum": 9}}',
    }
    read, diagnostics = endpoint(found, **files)
    assert [(each.name, each.shape.type, each.shape.constraints) for each in read.parameters] == [
        ("limit", "integer", ("at most 9",))
    ]
    assert codes(diagnostics) == ["API007", "API007", "API006", "API006"]
    assert [note.pointer.split("/")[5] for note in diagnostics] == ["1", "2", "3", "4"]
    assert all(note.fix for note in diagnostics)


def test_a_reference_that_leads_to_itself() -> None:
    """Told, and cut."""
    loop = {"a": {"$ref": "#/components/schemas/b"}, "b": {"$ref": "#/components/schemas/a"}}
    found = one({"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/a"}}}}},
                components={"schemas": loop})  # fmt: skip
    assert codes(endpoint(found)[1]) == ["API008"]


def test_our_own_document_is_whole() -> None:
    """Nineteen operations with QUERY, whose word 3.1 does not have. Red when ``x-query`` is passed over."""
    read = reference(own_document())
    assert read.diagnostics == ()
    assert [f"{each.method} {each.path}" for each in read.operations] == [
        "GET /api/user", "PUT /api/user", "PATCH /api/user", "DELETE /api/user", "POST /api/user", "QUERY /api/user",
        "POST /api/user/rotate", "POST /api/user/passes", "POST /api/user/viewers/revoke",
        "GET /api/users", "POST /api/users/bulk", "POST /api/users/rotate",
        "GET /api/data-sources", "POST /api/data-sources", "PATCH /api/data-sources", "DELETE /api/data-sources",
        "POST /oauth/introspect",
        "GET /healthz", "GET /readyz",
    ]  # fmt: skip


@needs_corpus
@pytest.mark.parametrize(("name", "count"), [("pezzolabs__pezzo", 5), ("scope3data__activation-api", 19)])
def test_real_documents(name: str, count: int) -> None:
    """Both are read without anything to say, and what their pages name is found."""
    files = site_files(name)
    settings, _ = loads(files["mint.json"])
    assert settings is not None
    read = read_documents(settings, files)
    assert read.diagnostics == ()
    assert len(read.operations) == count
    for text in files.values():
        for line in text.split("\n")[:8]:
            if line.startswith("openapi: ") and not line.startswith("openapi: 3"):
                assert read.find(line.removeprefix("openapi: ")), line


def test_a_document_that_the_configuration_does_not_name() -> None:
    """A page may name it by its file."""
    read = read_documents(config(), {"more/pets.yaml": json.dumps(PETS)})
    assert read.operations == ()
    found = read.find("more/pets.yaml GET /pets")
    assert found is not None
    assert found.title == "All pets"


def test_wrong_shapes_are_noted_and_left_out() -> None:
    """Of any part. Red when one of them is read without asking for its type."""
    found = one({
        "summary": ["x"], "tags": "a", "deprecated": "yes", "parameters": {"a": 1}, "requestBody": 7,
        "responses": [], "callbacks": "c", "servers": {}, "security": "none",
    })  # fmt: skip
    read, diagnostics = endpoint(found)
    assert (read.parameters, read.body, read.responses, read.callbacks) == ((), None, (), ())
    assert set(codes(diagnostics)) == {"API005"}
    assert {note.pointer.rpartition("/")[2] for note in diagnostics} >= {
        "deprecated",
        "parameters",
        "requestBody",
        "responses",
    }
    assert {note.severity for note in diagnostics} == {Severity.WARNING}
