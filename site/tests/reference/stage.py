"""What the tests of the reference share: a site of a few files, and its API pages drawn."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

from engines.corpus import CORPUS
from tenantry_site.addresses import Addresses
from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic
from tenantry_site.markdown import PageReader
from tenantry_site.options import SiteOptions
from tenantry_site.page import FrontMatter, Page
from tenantry_site.reference import ApiPages, Reference, read_documents
from tenantry_site.reference.endpoints import Endpoints
from tenantry_site.reference.operation import Endpoint

READER = PageReader(Addresses((), ()), {})


def config(**fields: Any) -> SiteConfig:
    """A configuration with a name and no navigation."""
    return SiteConfig.model_validate({"name": "Site", "navigation": (), **fields})


def own_document() -> dict[str, Any]:
    """A large document that nobody wrote for these tests: that of tenantry's own API."""
    path = Path(__file__).resolve().parents[3] / "docs" / "openapi.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def document(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An OpenAPI document of these paths."""
    return {"openapi": "3.1.0", "info": {"title": "API", "version": "1"}, "paths": paths, **more}


def one(operation: dict[str, Any], path: str = "/things", method: str = "post", **more: Any) -> dict[str, Any]:
    """A document of one operation."""
    return document({path: {method: operation}}, **more)


def reference(found: Any, settings: SiteConfig | None = None, **files: str) -> Reference:
    """The reference of a site with ``api.json``."""
    text = found if isinstance(found, (str, bytes)) else json.dumps(found)
    settings = settings or config(openapi=("api.json",))
    return read_documents(settings, {"api.json": text, **files})


def endpoint(found: Any, settings: SiteConfig | None = None, **files: str) -> tuple[Endpoint, tuple[Diagnostic, ...]]:
    """The first operation of a document, read whole."""
    settings = settings or config(openapi=("api.json",))
    read = reference(found, settings, **files)
    return Endpoints(settings).read(read.operations[0])


def draw(
    found: Any = None,
    *,
    front: FrontMatter | None = None,
    text: str = "",
    options: SiteOptions | None = None,
    **settings: Any,
) -> Page:
    """The page of the first operation of a document, or of ``front``; ``text`` is what its author wrote."""
    chosen = config(openapi=("api.json",), **settings)
    read = reference(found if found is not None else document({}), chosen)
    pages = ApiPages(chosen, read, READER, options)
    front = front or FrontMatter(openapi=read.operations[0].spec)
    page = READER.read("things/page.mdx", text)
    title = front.title or page.title
    return pages.render(replace(page, front=front, title=title))


def codes(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    """The codes, in order."""
    return [diagnostic.code for diagnostic in diagnostics]


def site_files(name: str) -> dict[str, str]:
    """The text files of a real site."""
    folder = CORPUS / "sites" / name
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.suffix in {".json", ".yaml", ".mdx", ".md"}
    }


def facts(page: Page) -> dict[str, Any]:
    """What the script is reported."""
    match = re.search(r'data-api="([^"]*)"', page.html)
    assert match
    found: dict[str, Any] = json.loads(unescape(match[1]))
    return found
