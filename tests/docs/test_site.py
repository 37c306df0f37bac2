"""Our own docs as a site: its configuration names every page, and its OpenAPI document is the server's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from tenantry.provisioning.http.openapi import openapi_document
from tenantry_site import Diagnostic, RenderedSite, SiteConfig, SiteOptions, load, loads, render
from tenantry_site.outputs.search_page import words
from tenantry_site.reference import read_documents
from tests.docs import diagnostics

DOCS = Path(__file__).parents[2] / "docs"
FIELD_TESTS = Path(__file__).parents[2] / "site" / "tests" / "fields"

WRITE_IT = """
import json, pathlib
from tenantry.provisioning.http.openapi import openapi_document
document = json.dumps(openapi_document("3.1"), indent=2, ensure_ascii=False)
pathlib.Path("docs/openapi.json").write_text(document + "\\n", "utf-8")
"""


def _files() -> dict[str, str | bytes]:
    found: dict[str, str | bytes] = {}
    for path in sorted(DOCS.rglob("*")):
        if path.is_file():
            text = path.suffix in {".md", ".mdx", ".json"}
            found[path.relative_to(DOCS).as_posix()] = path.read_text("utf-8") if text else path.read_bytes()
    return found


def _told(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [f"{each.path}:{each.line} {each.code} {each.message}" for each in diagnostics if each.severity != "info"]


def test_the_document_is_the_server_s_own() -> None:
    """Red when the API changes and docs/openapi.json does not: write it again with WRITE_IT."""
    written = json.loads((DOCS / "openapi.json").read_text("utf-8"))
    assert written == json.loads(json.dumps(openapi_document("3.1"))), f"python -c '{WRITE_IT}'"


def test_the_newer_form_of_the_document_has_the_same_operations() -> None:
    """OpenAPI 3.2 has the method QUERY, which 3.1 writes as ``x-query``. Red when the site's reader passes one over."""
    config, _ = loads('{"name": "A", "navigation": [], "openapi": "api.json"}')
    assert config is not None
    documents = [json.dumps(openapi_document(version)) for version in ("3.1", "3.2")]
    assert [len(read_documents(config, {"api.json": each}).operations) for each in documents] == [19, 19]


def test_the_configuration_is_without_fault() -> None:
    config, diagnostics = load(DOCS / "site.json")
    assert config is not None
    assert _told(diagnostics) == []


def test_every_page_is_in_the_navigation() -> None:
    """Red when a page is written and not put into docs/site.json."""
    config = json.loads((DOCS / "site.json").read_text("utf-8"))
    named = [page for group in config["navigation"] for page in group["pages"]]
    pages = [path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(named) == sorted(pages)


@cache
def rendered() -> RenderedSite:
    return render(_files())


def test_the_site_is_rendered_without_fault() -> None:
    """Every link of the docs leads somewhere, every component and operation is known. Red when one does not."""
    assert _told(rendered().diagnostics) == []
    assert "index.html" in rendered()


DEPLOYED_WITH = ("kubernetes", "docker", "compose", "nginx", "caddy", "systemd", "pgbouncer", "valkey")


@pytest.mark.parametrize("query", [*DEPLOYED_WITH, "multi tenant", "multi-tenant", "multitenant", "multi"])
def test_the_search_knows_what_people_look_for(query: str) -> None:
    """What they deploy with, and the field's own word however it is written. Red when no page has a word of it, or the
    index leaves it out."""
    assert set(words(query)) <= _searchable()


@cache
def _searchable() -> frozenset[str]:
    """The words of the index: each line has how much of the word before it shares, in base 36, and the rest."""
    found = set()
    for path, content in rendered().items():
        if re.fullmatch(r"search/words\..*\.txt", path):
            before = ""
            for line in content.decode().split("\n")[:-1]:
                before = before[: int(line[0], 36)] + re.split(r"[ \t]", line[1:])[0]
                found.add(before)
    return frozenset(found)


def test_every_page_can_be_edited_where_a_repository_is_set() -> None:
    """A link to its own file; none where the build knows no repository, and the generated pages of operations have no
    file but theirs. Red when docs/site.json does not ask for it."""
    files = _files()
    where = "https://github.com/owner/name"
    site = render(files, SiteOptions(repository=f"{where}/tree/main/docs"))
    for name in files:
        if name.endswith(".md"):
            page = site[f"{name.removesuffix('.md')}.html"].decode()
            assert f'href="{where}/edit/main/docs/{name}">Edit this page</a>' in page, name
    assert not any(
        b"Edit this page</a>" in content for path, content in render(files).items() if path.endswith(".html")
    )


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """``api.auth.method``, ``tabs[].name``: every field of the file that is not an object by itself."""
    for field in model.model_fields.values():
        path = f"{prefix}{field.alias}"
        inner = [
            each for each in _models(field.annotation) if each.__name__ not in {"Gradient", "Background", "Version"}
        ]
        if not inner:
            yield path
        for each in inner:
            if each is not model:
                yield from _paths(each, f"{path}[]." if "tuple" in str(field.annotation) else f"{path}.")


@pytest.mark.parametrize("path", list(_paths(SiteConfig)))
def test_every_field_is_documented(path: str) -> None:
    """Red when the model gets a field that docs/site-fields.md does not have."""
    assert f"`{path}`" in (DOCS / "site-fields.md").read_text("utf-8")


def test_every_field_names_its_test() -> None:
    """And the test is there. Red when one is renamed."""
    page = (DOCS / "site-fields.md").read_text("utf-8")
    rows = re.findall(r"^\| `.*\| (.*) \|$", page, re.MULTILINE)
    there = set(re.findall(r"def (test_\w+)", "".join(path.read_text("utf-8") for path in FIELD_TESTS.glob("*.py"))))
    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"`test_\w+`", row)] == []
    assert set(re.findall(r"`(test_\w+)`", page)) <= there


def test_every_diagnostic_is_documented() -> None:
    """docs/site-diagnostics.md has the code and the meaning of each: ``python -m tests.docs.diagnostics`` writes it."""
    assert diagnostics.PAGE.read_text("utf-8") == diagnostics.page()


def test_every_speaker_is_asked() -> None:
    """Red when a part of the site gets diagnostics of its own that no page lists."""
    root = Path(__file__).parents[2] / "site" / "src" / "tenantry_site"
    told = set(re.findall(r"`([A-Z]+[0-9]{3})`", (DOCS / "site-diagnostics.md").read_text("utf-8")))
    said = {
        code for path in root.rglob("*.py") for code in re.findall(r'"([A-Z]{3,4}[0-9]{3})"', path.read_text("utf-8"))
    }
    assert said - told == set()
