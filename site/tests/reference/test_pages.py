"""API pages: what front matter asks for, drawn."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from engines.corpus import needs_corpus
from tenantry_site.config import loads
from tenantry_site.options import SiteOptions
from tenantry_site.page import FrontMatter, Page
from tenantry_site.reference import ApiPages, read_documents
from tests.reference.balanced import Balanced
from tests.reference.stage import READER, codes, config, document, draw, facts, one, own_document, reference, site_files

SECURED = {
    "security": [{"token": []}, {"key": []}],
    "components": {
        "securitySchemes": {
            "token": {"type": "http", "scheme": "bearer"},
            "key": {"type": "apiKey", "in": "query", "name": "api_key"},
        }
    },
}
TAG = re.compile(r"<[^>]*>")


def text(html: str) -> str:
    """The words of HTML."""
    return " ".join(unescape(TAG.sub(" ", html)).split())


def test_a_page_without_an_endpoint_stays_as_it_is() -> None:
    """The very same object."""
    pages = ApiPages(config(), reference(document({})), READER)
    page = READER.read("a.mdx", "# Hello")
    assert pages.render(page) is page


def test_an_operation_fills_a_page() -> None:
    """Title, description, sections for search and for "on this page", text for readers of Markdown."""
    found = one(
        {
            "summary": "Add a thing",
            "description": "Adds *one*.",
            "parameters": [{"name": "dry", "in": "query", "description": "Try it", "schema": {"type": "boolean"}}],
            "requestBody": {"content": {"application/json": {"schema": {"properties": {"size": {"type": "integer"}}}}}},
            "responses": {"201": {"description": "Added"}},
        },
        **SECURED,
    )
    page = draw(found, text="## Before\n\nOwn words.")
    assert page.title == "Add a thing"
    assert page.parts == {"api", "playground"}
    assert page.front.mode == "wide"
    titles = ["Authorization", "Query parameters", "Body", "Responses"]
    assert [heading.text for heading in page.headings] == ["Before", *titles]
    assert [section.title for section in page.sections][-4:] == titles
    assert all(f'id="{heading.id}"' in page.html for heading in page.headings)
    assert "<em>one</em>" in page.html
    assert page.html.index("Own words.") < page.html.index("Query parameters")
    assert "dry Try it" in {section.text for section in page.sections}
    for words in ("`POST /things`", "- `dry` (boolean) Try it", "- `size` (integer)", "### 201"):
        assert words in page.markdown


def test_the_markdown_of_a_page_says_what_the_page_says_of_a_field() -> None:
    """Red when it has only the type, the format and `required`: a program sent required read-only fields, never null,
    and values out of bounds."""
    schema = {
        "description": "All of it.",
        "required": ["maybe", "id"],
        "properties": {
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "id": {"type": "integer", "readOnly": True},
            "count": {"type": "integer", "minimum": 3, "default": 5, "deprecated": True},
            "seven": {"const": 7},
            "code": {"type": "string", "pattern": "^`a", "maxLength": 9, "example": "`a"},
            "labels": {"type": "array", "items": {"enum": ["x", "y"]}, "uniqueItems": True},
            "extra": {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
            "either": {"oneOf": [{"title": "A", "type": "string", "maxLength": 2}, {"type": "boolean"}]},
        },
    }
    content = {"content": {"application/json": {"schema": schema}}}
    size = {"name": "size", "in": "query", "schema": {"type": "integer", "maximum": 8, "default": 4}}
    answer = {"description": "OK", "headers": {"X-Left": {"schema": {"type": "integer", "minimum": 1}}}}
    listed = {"schema": {"type": "array", "items": {"type": "string"}, "maxItems": 2}}
    operation = {
        "parameters": [size],
        "requestBody": content,
        "responses": {"200": {**answer, "content": {"application/json": listed}}},
    }
    markdown = draw(one(operation)).markdown
    lines = markdown.splitlines()
    for line in (
        "- `size` (integer) Default: `4`. At most 8.",
        "All of it.",
        "- `id` (integer, required, read-only)",
        "- `maybe` (string or null, required)",
        "- `count` (integer, deprecated) Default: `5`. At least 3.",
        "- `seven` (integer) Always `7`.",
        "- `code` (string) At most 9 characters. Matches `` ^`a ``. Example: `` `a ``.",
        "- `labels` (array of strings) No item twice. Each: One of `x`, `y`.",
        "  - any name (integer)",
        "  - One of, 1: A (string) At most 2 characters.",
        "  - One of, 2: boolean",
        "- `X-Left` (integer) At least 1.",
        "Array of strings. At most 2 items.",
    ):
        assert line in lines, markdown


def test_ids_are_on_a_page_once() -> None:
    """The author's own too. Red when the names of a page are not asked for what it has already."""
    body = {"content": {"application/json": {"schema": {"properties": {"a": {}, "A": {}}}}}}
    page = draw(one({"requestBody": body, "responses": {"200": body, "2XX": body}}), text="## Body\n\n## Responses")
    ids = re.findall(r'\bid="([^"]*)"', page.html)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("mode", "front", "form", "base"),
    [
        ("show", "", True, True),
        ("simple", "", False, True),
        ("hide", "", False, False),
        ("hide", "show", True, True),
        ("show", "hide", False, False),
    ],
)
def test_modes_of_the_playground(mode: str, front: str, form: bool, base: bool) -> None:
    """show has a form, simple the address, hide neither; the parameters are always there; the page's word counts more.

    Red when the page's front matter is not asked.
    """
    found = one({"parameters": [{"name": "a", "in": "query"}]})
    page = draw(
        found,
        front=FrontMatter(openapi="POST /things", playground=front),
        api={"playground": {"mode": mode}, "baseUrl": ("https://api.example.com",)},
    )
    assert ("data-try" in page.html) is form
    assert ("endpoint-base" in page.html) is base
    assert ("playground" in page.parts) is form
    assert "Query parameters" in page.html
    assert "curl --request POST" in text(page.html)


def test_several_base_urls_are_a_choice() -> None:
    """Also where the playground is simple: then the script has only that to do."""
    urls = ("https://one.example.com", "https://two.example.com/v2/")
    page = draw(one({}), api={"baseUrl": urls, "playground": {"mode": "simple"}})
    assert re.findall(r"<option value=\"\d\">([^<]*)</option>", page.html) == [urls[0], urls[1].rstrip("/")]
    assert "playground" in page.parts
    assert [server["url"] for server in facts(page)["servers"]] == [urls[0], urls[1].rstrip("/")]


@pytest.mark.parametrize(
    ("settings", "operation", "around", "top", "url"),
    [
        ((), None, None, "https://top", "https://top"),
        (("https://set",), None, None, "https://top", "https://set"),
        (("https://set",), None, "https://path", "https://top", "https://path"),
        ((), "https://own", "https://path", "https://top", "https://own"),
        ((), None, None, None, ""),
        ((), None, None, "/api/", "/api"),
        ((), None, None, "https://user:secret@top/x", "https://top/x"),
        ((), None, None, "javascript:alert(1)", ""),
        ((), None, None, "ftp://top", ""),
    ],
)
def test_servers_at_all_levels(settings: Any, operation: str, around: str, top: str, url: str) -> None:
    """What is reported of one endpoint, then the configuration, then the document; nothing that is not an address."""

    def listed(address: str | None) -> dict[str, Any]:
        return {"servers": [{"url": address}]} if address else {}

    found = document({"/a": {"get": listed(operation), **listed(around)}}, **listed(top))
    page = draw(found, api={"baseUrl": settings})
    assert facts(page)["servers"][0]["url"] == url


def test_variables_of_a_server() -> None:
    """Inputs with their choices; the first request has the defaults."""
    server = {"url": "https://{region}.example.com/{base}", "variables": {
        "region": {"default": "eu", "enum": ["eu", "us"]}, "base": {"default": "v'1"}}}  # fmt: skip
    page = draw(one({}, servers=[server]))
    assert 'data-variable="region"' in page.html
    assert "https://eu.example.com/v%271/things" in text(page.html)


def ways(page: Page) -> list[list[tuple[str, str, str]]]:
    """Kind, place and name of each credential."""
    return [[(one["kind"], one["in"], one["name"]) for one in way] for way in facts(page).get("ways", [])]


def test_security_of_the_document() -> None:
    """Alternatives in their order; none where the operation says none."""
    assert ways(draw(one({}, **SECURED))) == [[("bearer", "header", "Authorization")], [("key", "query", "api_key")]]
    assert ways(draw(one({"security": []}, **SECURED))) == []
    both = draw(one({"security": [{"token": [], "key": []}, {}]}, **SECURED))
    assert [len(way) for way in ways(both)] == [2, 0]
    assert codes(draw(one({"security": [{"tokn": []}]}, **SECURED)).diagnostics) == ["API014"]


@pytest.mark.parametrize(
    ("auth", "page", "found"),
    [
        ({"method": "bearer"}, "", [[("bearer", "header", "Authorization")]]),
        ({"method": "key", "name": "x-api-key"}, "", [[("key", "header", "x-api-key")]]),
        ({"method": "key"}, "", [[("key", "query", "api_key")]]),
        ({"method": "basic", "name": "user:pass"}, "", [[("basic", "header", "Authorization")]]),
        ({"method": "basic"}, "bearer", [[("bearer", "header", "Authorization")]]),
        ({"method": "basic"}, "none", []),
        ({}, "basic", [[("basic", "header", "Authorization")]]),
    ],
)
def test_the_configuration_s_and_the_page_s_authorization(auth: Any, page: str, found: Any) -> None:
    """The page before the configuration, the configuration before the document."""
    rendered = draw(one({}, **SECURED), front=FrontMatter(openapi="POST /things", auth_method=page), api={"auth": auth})
    assert ways(rendered) == found


def test_names_and_prefixes_of_authorization() -> None:
    """basic has two fields, with their names; inputPrefix stands before the field, and in the snippet."""
    basic = draw(one({}), api={"auth": {"method": "basic", "name": "email:apikey"}})
    assert re.findall(r"<code>(email|apikey)</code>", basic.html) == ["email", "apikey"]
    assert "--user '<EMAIL>:<APIKEY>'" in text(basic.html)
    key = draw(one({}), api={"auth": {"method": "key", "name": "Authorization", "inputPrefix": "Token "}})
    assert 'type="password"' in key.html
    assert 'data-prefix="Token "' in key.html
    assert 'value="Token' not in key.html
    assert "'Authorization: Token <AUTHORIZATION>'" in text(key.html)


@pytest.mark.parametrize(("ordered", "names"), [(True, ["z", "m", "a"]), (False, ["m", "a", "z"])])
def test_maintain_order(ordered: bool, names: list[str]) -> None:
    """Of parameters: the document's, or required first and then by name."""
    given = [{"name": "z", "in": "query"}, {"name": "m", "in": "query", "required": True}, {"name": "a", "in": "query"}]
    page = draw(one({"parameters": given}), api={"maintainOrder": ordered})
    assert re.findall(r'id="query-(\w)"', page.html) == names


def test_an_unknown_operation_leaves_the_page_and_is_reported() -> None:
    """With the nearest one."""
    page = draw(one({}), front=FrontMatter(openapi="PUT /thing"), text="Own words.")
    assert "Own words." in page.html
    assert "endpoint" not in page.html
    assert [(one.code, one.fix, one.path, one.line) for one in page.diagnostics] == [
        ("API010", 'write "POST /things"', "things/page.mdx", 1)
    ]


# --- pages that a document makes --------------------------------------------------------------------------------------


def test_pages_for_operations_that_no_page_names() -> None:
    """Of a tab: by tag; paths that are not taken; none at all where one operation of the document has a page."""
    found = own_document()
    settings = config(openapi=("api.json",), tabs=({"name": "API", "url": "api-reference", "openapi": ("api.json",)},))
    pages = ApiPages(settings, reference(found, settings), READER)
    made = list(pages.generated({"api-reference/health/the-process-runs"}))
    assert [path for path, _, _ in made] == [
        "api-reference/user-groups/get-or-create-a-user-group",
        "api-reference/user-groups/update-a-user-group",
        "api-reference/user-groups/change-members-of-a-user-group",
        "api-reference/user-groups/delete-a-user-group",
        "api-reference/user-groups/get-or-create-a-user-group-or-rotate-its-token",
        "api-reference/user-groups/get-or-create-a-user-group-by-query",
        "api-reference/user-groups/rotate-the-token-of-a-user-group",
        "api-reference/user-groups/make-a-pass-for-a-viewer",
        "api-reference/user-groups/revoke-the-passes-of-a-viewer",
        "api-reference/user-groups/list-user-groups",
        "api-reference/user-groups/create-or-change-many-user-groups",
        "api-reference/user-groups/rotate-the-tokens-of-many-user-groups",
        "api-reference/data-sources/list-data-sources",
        "api-reference/data-sources/register-a-data-source",
        "api-reference/data-sources/change-a-data-source",
        "api-reference/data-sources/delete-a-data-source",
        "api-reference/introspection/introspect-a-user-group-token",
        "api-reference/health/the-process-runs-2",
        "api-reference/health/the-service-can-answer",
    ]
    assert [group.group for group in pages.groups(())] == ["User groups", "Data sources", "Introspection", "Health"]
    assert all("api.json " in front.openapi and front.title for _, front, _ in made)
    assert list(pages.generated((), {"a": "GET /healthz"})) == []
    assert pages.groups((), {"a": "GET /healthz"}) == ()
    assert len(list(pages.generated((), {"a": "GET /none"}))) == len(made)
    top = config(openapi=("api.json",))  # red when a document makes pages because the configuration names it
    assert list(ApiPages(top, reference(found, top), READER).generated(())) == []


def test_what_the_navigation_asks() -> None:
    """The title of a page without one, and its method."""
    pages = ApiPages(config(openapi=("api.json",)), reference(one({"summary": "Add"})), READER)
    assert pages.complete(FrontMatter(openapi="post /things")).title == "Add"
    assert pages.complete(FrontMatter(openapi="post /things", title="Mine")).title == "Mine"
    assert pages.complete(FrontMatter(title="")).title == ""
    assert pages.method(FrontMatter(openapi="post /things")) == "POST"
    assert pages.method(FrontMatter(api="put /x")) == "PUT"
    assert pages.method(FrontMatter()) == pages.method(FrontMatter(openapi="post /none")) == ""


def test_webhooks_and_callbacks_cannot_be_called() -> None:
    """A page without a form; what the API sends is shown."""
    body = {"content": {"application/json": {"schema": {"properties": {"id": {"type": "integer"}}}}}}
    found = document({}, webhooks={"added": {"post": {"summary": "Added", "requestBody": body}}})
    page = draw(found, front=FrontMatter(openapi="webhook added"))
    assert "data-try" not in page.html
    assert "curl" not in page.html
    assert "Payload" in text(page.html)
    assert page.title == "Added"
    callback = {"onEvent": {"{$request.body#/url}": {"post": {"summary": "An event"}}}}
    page = draw(one({"callbacks": callback}))
    assert "onEvent POST {$request.body#/url} An event" in text(page.html)


def test_the_relay_is_addressed_from_the_page() -> None:
    """Relative, as all links are."""
    assert facts(draw(one({}), options=SiteOptions(relay="_relay")))["relay"] == "../_relay"
    assert "relay" not in facts(draw(one({})))


HOSTILE = "</textarea></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{x}}"


def test_nothing_of_a_document_becomes_a_tag() -> None:
    """Names, values, addresses, media types and examples. Red when one of them is written without escaping."""
    schema = {"title": HOSTILE, "enum": [HOSTILE], "default": HOSTILE, "pattern": HOSTILE, "format": HOSTILE}
    media = {HOSTILE: {"schema": {"properties": {HOSTILE: schema}}, "examples": {HOSTILE: {"value": HOSTILE}}}}
    found = one(
        {
            "summary": HOSTILE, "description": HOSTILE, "operationId": HOSTILE,
            "parameters": [{"name": HOSTILE, "in": place, "required": True, "schema": schema, "description": HOSTILE,
                            "example": HOSTILE} for place in ("query", "header", "cookie")],
            "requestBody": {"content": media, "description": HOSTILE},
            "responses": {HOSTILE: {"description": HOSTILE, "content": media, "headers": {HOSTILE: {}}}},
            "callbacks": {HOSTILE: {HOSTILE: {"post": {"description": HOSTILE}}}},
            "security": [{"k": []}],
            "servers": [{"url": "https://{v}.example.com", "description": HOSTILE,
                         "variables": {"v": {"default": HOSTILE, "enum": [HOSTILE]}}}, {"url": "https://x/" + HOSTILE}],
        },
        components={"securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": HOSTILE, "description": "x"}}},
    )  # fmt: skip
    page = draw(found)
    reader = Balanced()
    reader.feed(page.html)
    assert (reader.bad, reader.open) == ([], [])


# --- real sites -------------------------------------------------------------------------------------------------------


@needs_corpus
@pytest.mark.parametrize(("name", "count"), [("pezzolabs__pezzo", 5), ("scope3data__activation-api", 1)])
def test_the_api_pages_of_real_sites(name: str, count: int) -> None:
    """Drawn without anything to say but what there is to say of their other parts."""
    files = site_files(name)
    settings, _ = loads(files["mint.json"])
    assert settings is not None
    pages = ApiPages(settings, read_documents(settings, files), READER)
    rendered = []
    for source, words in files.items():
        if source.endswith(".mdx"):
            before = READER.read(source, words)
            after = pages.render(before)
            if after is not before:
                rendered.append(after)
                assert [one.code for one in after.diagnostics if one.code.startswith("API")] == []
    assert len(rendered) == count
    if count == 1:
        assert re.findall(r'data-in="(\w+)" data-name="(\w+)"', rendered[0].html)[0] == ("path", "campaignId")
        assert "x-scope3-api-key: &lt;X_SCOPE3_API_KEY&gt;" in rendered[0].html
    else:
        assert not any("playground" in page.parts for page in rendered)
        assert any(page.title == "Save request to cache" for page in rendered)
