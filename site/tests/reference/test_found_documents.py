"""OpenAPI documents that the configuration does not name at its top: in the folder, and on tabs and anchors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenantry_site import RenderedSite, SiteOptions, render

NAVIGATION = [{"group": "Begin", "pages": ["index", "api-reference/list"]}]


def document(summary: str, path: str = "/things", **more: Any) -> dict[str, Any]:
    operation = {"summary": summary, "responses": {"200": {"description": "Fine"}}}
    return {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {path: {"get": operation}}, **more}


def yaml(summary: str, version: str = "3.0.3") -> str:
    return f"""# A comment.
info:
  title: T
  version: "1"
openapi: {version}
paths:
  /things:
    get:
      summary: {summary}
      responses: {{}}
"""


def made(
    files: dict[str, str], page: str = "openapi: GET /things", options: SiteOptions | None = None, **more: Any
) -> RenderedSite:
    configuration = {"name": "Acme", "navigation": NAVIGATION, **more}
    pages = {"index.md": "# Home\n", "api-reference/list.mdx": f"---\n{page}\n---\n"}
    return render({"site.json": json.dumps(configuration), **pages, **files}, options or SiteOptions())


def reported(site: RenderedSite) -> list[Any]:
    return [one for one in site.diagnostics if one.code.startswith("API")]


FOUND = {
    "openapi.json": json.dumps(document("List them")),
    "api-reference/openapi.json": json.dumps(document("List them"), indent=2),
    "deep/in/folders/api.yaml": yaml("List them"),
    "spec.yml": yaml("List them", version="'3.1.0'"),
    "sorted.json": json.dumps(dict(sorted(document("List them", components={}).items()))),
    "bom.json": "\ufeff" + json.dumps(document("List them")),
    "flow.yaml": json.dumps(document("List them")),
}


@pytest.mark.parametrize("content", [json.dumps(document("List them")), yaml("List them").partition("\n")[2]])
def test_bytes_may_begin_with_a_byte_order_mark(content: str) -> None:
    """Red when the mark hides the first line of a YAML document."""
    content = content if content.startswith("{") else f"openapi: 3.0.3\n{content.replace('openapi: 3.0.3', '')}"
    configuration = {"name": "Acme", "navigation": NAVIGATION}
    site = render(
        {
            "site.json": json.dumps(configuration),
            "api-reference/list.mdx": "---\nopenapi: GET /things\n---\n",
            "spec.yaml": content.encode("utf-8-sig"),
        }
    )
    assert b"List them" in site["api-reference/list.html"]


@pytest.mark.parametrize("path", FOUND)
def test_a_document_in_the_folder_needs_no_name(path: str) -> None:
    """Red when only named documents are looked into."""
    site = made({path: FOUND[path]})
    assert b"List them" in site["api-reference/list.html"]
    assert b"data-api" in site["api-reference/list.html"]
    assert reported(site) == []
    assert [one for one in site if one.startswith("api-reference/") and one.endswith(".md")] == [
        "api-reference/list.md"
    ]


def test_a_document_that_no_page_asks_for_is_left_alone() -> None:
    """It makes no pages, and what is wrong with it is not reported. Red when every file is read as if it was named."""
    site = made(
        {"broken.yaml": "openapi: 3.0.0\npaths: [oops", "openapi.json": json.dumps(document("Secret"))}, "title: List"
    )
    assert reported(site) == []
    assert not [path for path in site if b"Secret" in site[path]]


NONE = {
    "package.json": json.dumps({"name": "x", "openapi": "./file.json", "version": "3.0.0"}),
    "chart.yaml": "chart:\n  openapi: text\n",
    "data/rows.json": json.dumps([1, 2]),
    "old.json": json.dumps({"swagger": "2.0", "info": {}, "paths": {"/things": {"get": {}}}}),
}


def test_files_of_other_kinds_are_no_documents() -> None:
    [one] = reported(made(NONE))
    assert (one.code, one.path, one.line) == ("API010", "api-reference/list.mdx", 1)
    assert "considered: old.json (this is Swagger 2.0" in one.message
    assert "package.json" not in one.message
    [nothing] = reported(made({}))
    assert "no OpenAPI document" in nothing.message
    assert "--fetch" in nothing.fix


def test_the_diagnostic_names_what_was_considered() -> None:
    """Red when it says no more than that the operation was not found."""
    files = {
        "named.json": json.dumps(document("One", "/ones")),
        "more/other.yaml": yaml("Two").replace("/things", "/twos"),
    }
    [one] = reported(made(files, "openapi: GET /thing", openapi="named.json"))
    assert one.message.endswith("considered: named.json, more/other.yaml")
    [absent] = reported(made(files, "openapi: third.json GET /twos"))
    assert absent.message == "openapi: there is no OpenAPI document third.json; considered: named.json, more/other.yaml"
    [broken] = reported(made({"openapi.json": '{"openapi": "3.0.0", '}))
    assert "openapi.json (openapi.json cannot be read" in broken.message


def test_a_named_document_goes_before_one_of_the_folder() -> None:
    files = {"a.json": json.dumps(document("Of the folder")), "sub/b.json": json.dumps(document("Named"))}
    assert b"Named" in made(files, openapi="sub/b.json")["api-reference/list.html"]
    assert b"Of the folder" in made(files)["api-reference/list.html"], "the one nearer to the root"


def test_of_documents_of_one_name_the_one_with_the_operation_is_meant() -> None:
    files = {"v1/api.json": json.dumps(document("Old", "/old")), "v2/api.json": json.dumps(document("New"))}
    assert b"New" in made(files, "openapi: api.json GET /things")["api-reference/list.html"]


@pytest.mark.parametrize("key", ["tabs", "anchors"])
@pytest.mark.parametrize("listed", [False, True])
def test_a_tab_names_the_document_of_its_pages(key: str, listed: bool) -> None:
    """Red when its ``openapi`` is passed over: then the top one has the same operation and is shown."""
    files = {"top.json": json.dumps(document("Of the top")), "tab.json": json.dumps(document("Of the tab"))}
    part = {"name": "API", "url": "api-reference", "openapi": ["tab.json"] if listed else "tab.json"}
    site = made(files, openapi="top.json", **{key: [part, {"name": "Blog", "url": "https://blog.example.com"}]})
    assert b"Of the tab" in site["api-reference/list.html"]
    assert [one.code for one in site.diagnostics if one.code in ("CFG031", "CFG036")] == []


def test_a_document_of_a_tab_makes_pages_in_its_folder() -> None:
    """As one at the top does, and what is wrong is said where it is named. Red when they go to another tab."""
    tab = {
        "name": "Store",
        "url": "store/api",
        "openapi": ["store.json", "gone.json", "https://api.example.com/o.json"],
    }
    site = made({"store.json": json.dumps(document("List them"))}, "title: List", tabs=[tab])
    assert "store/api/operations/list-them.html" in site
    found = {(one.code, one.pointer) for one in reported(site)}
    assert found == {("API002", "/tabs/0/openapi/1"), ("API003", "/tabs/0/openapi/2")} or found == {
        ("API002", "/tabs/0/openapi"),
        ("API003", "/tabs/0/openapi"),
    }
    options = SiteOptions(documents={"https://api.example.com/o.json": json.dumps(document("From the web"))})
    fetched = made(
        {}, options=options, tabs=[{**tab, "url": "api-reference", "openapi": "https://api.example.com/o.json"}]
    )
    assert b"From the web" in fetched["api-reference/list.html"]


@pytest.mark.parametrize("named", ["openapi.json", ["openapi.json"], "/v3.yaml", "https://x.example.com/3.0.json"])
@pytest.mark.parametrize("file", ["site.json", "mint.json", "docs.config.json"])
def test_a_configuration_may_begin_with_openapi(named: Any, file: str) -> None:
    """Red when a file is taken for an OpenAPI document by its first key (SITE100)."""
    configuration = {"openapi": named, "name": "Acme", "navigation": NAVIGATION}
    files = {"index.md": "# Home", "api-reference/list.md": "# L", "openapi.json": json.dumps(document("List"))}
    site = render({file: json.dumps(configuration), **files})
    assert site.config is not None
    assert "SITE100" not in {one.code for one in site.diagnostics}


def test_a_document_with_the_keys_of_a_configuration_is_none() -> None:
    """``name`` and ``navigation`` may be properties of a schema."""
    schema = {"name": {"type": "string"}, "navigation": {"type": "array"}}
    components = {"schemas": {"Site": {"properties": schema}}}
    for text in (
        json.dumps(document("L", components=components)),
        json.dumps({"components": components, "openapi": "3.0.0"}),
    ):
        assert {one.code for one in render({"api.json": text}).diagnostics} == {"SITE100"}
