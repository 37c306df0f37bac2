"""OpenAPI documents by their web addresses: fetched when asked for, and never by a build itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tenantry.site import SiteOptions, build
from tenantry.site.building import fetching
from tenantry.site.building.fetching import fetch_documents

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {"/things": {"get": {"summary": "List the things", "responses": {"200": {"description": "All"}}}}},
}


class Host(BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(404 if self.path == "/gone.json" else 200)
        self.end_headers()
        self.wfile.write(json.dumps(DOCUMENT).encode())

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    Host.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def folder(where: Path, *addresses: str) -> Path:
    where.mkdir()
    groups = [{"group": "Start", "pages": ["index", "list"]}]
    (where / "site.json").write_text(json.dumps({"name": "Acme", "navigation": groups, "openapi": addresses}))
    (where / "index.md").write_text("# Home\n")
    (where / "list.md").write_text("---\nopenapi: GET /things\n---\n")
    return where


def test_what_the_configuration_names_is_fetched_once(tmp_path: Path, host: str) -> None:
    """And drawn. Red when the address of a document is not looked up among what was fetched."""
    docs, told = folder(tmp_path / "docs", f"{host}/openapi.json"), list[str]()
    found = fetch_documents(docs, told.append)
    assert (list(found), told, Host.asked) == ([f"{host}/openapi.json"], [], ["/openapi.json"])
    built = build(docs, tmp_path / "out", SiteOptions(documents=found))
    assert "List the things" in (tmp_path / "out" / "list.html").read_text("utf-8")
    assert not [said for said in built.diagnostics if said.code.startswith("API")]


def test_a_build_by_itself_talks_to_nobody(tmp_path: Path, host: str) -> None:
    """A warning says what to do. Red when a build fetches."""
    built = build(folder(tmp_path / "docs", f"{host}/openapi.json"), tmp_path / "out")
    assert Host.asked == []
    [said] = [said for said in built.diagnostics if said.code == "API003"]
    assert "--fetch" in said.fix


def test_what_cannot_be_had_is_told(tmp_path: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the rest goes on: an answer that is none, a host that is away, one that is too large."""
    gone, away, fine = f"{host}/gone.json", "http://127.0.0.1:1/x.json", f"{host}/fine.json"
    told: list[str] = []
    assert list(fetch_documents(folder(tmp_path / "docs", gone, away, "file:///etc/passwd", fine), told.append)) == [
        fine
    ]
    assert [line.split()[0] for line in told] == [gone, away]
    monkeypatch.setattr(fetching, "DOCUMENT_LIMIT", 10)
    assert fetch_documents(folder(tmp_path / "more", fine), told.append) == {}
    assert "larger" in told[-1]
