"""OpenAPI documents by their web addresses: fetched when asked for, and never by a build itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tenantry_site import SiteOptions, build
from tenantry_site.building import fetching
from tenantry_site.building.fetching import fetch_documents
from tenantry_site.cli.commands import site
from tenantry_site.relay import dial
from tests.relay.stage import PUBLIC, real_open_socket

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {"/things": {"get": {"summary": "List the things", "responses": {"200": {"description": "All"}}}}},
}


class Host(BaseHTTPRequestHandler):
    asked: list[str] = []
    moved: dict[str, str] = {}

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path in self.moved:
            self.send_response(302)
            self.send_header("Location", self.moved[self.path])
            self.end_headers()
            return
        self.send_response(404 if self.path == "/gone.json" else 200)
        self.end_headers()
        self.wfile.write(json.dumps(DOCUMENT).encode())

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    Host.asked.clear()
    Host.moved.clear()
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
    docs, found_diagnostics = folder(tmp_path / "docs", f"{host}/openapi.json"), list[str]()
    found = fetch_documents(docs, found_diagnostics.append, allow_private=True)
    assert (list(found), found_diagnostics, Host.asked) == ([f"{host}/openapi.json"], [], ["/openapi.json"])
    built = build(docs, tmp_path / "out", SiteOptions(documents=found))
    assert "List the things" in (tmp_path / "out" / "list.html").read_text("utf-8")
    assert not [reported for reported in built.diagnostics if reported.code.startswith("API")]


def test_a_build_by_itself_talks_to_nobody(tmp_path: Path, host: str) -> None:
    """A warning says what to do. Red when a build fetches."""
    built = build(folder(tmp_path / "docs", f"{host}/openapi.json"), tmp_path / "out")
    assert Host.asked == []
    [reported] = [reported for reported in built.diagnostics if reported.code == "API003"]
    assert "--fetch" in reported.fix


def test_what_cannot_be_had_is_reported(tmp_path: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the rest goes on: an answer that is none, a host that is away, one that is too large."""
    gone, away, fine = f"{host}/gone.json", "http://127.0.0.1:1/x.json", f"{host}/fine.json"
    found_diagnostics: list[str] = []
    docs = folder(tmp_path / "docs", gone, away, "file:///etc/passwd", fine)
    assert list(fetch_documents(docs, found_diagnostics.append, allow_private=True)) == [fine]
    assert [line.split()[0] for line in found_diagnostics] == [gone, away]
    monkeypatch.setattr(fetching, "DOCUMENT_LIMIT", 10)
    assert fetch_documents(folder(tmp_path / "more", fine), found_diagnostics.append, allow_private=True) == {}
    assert "larger" in found_diagnostics[-1]


# --- what only this machine can reach ---


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "inside.test", "[::1]"])
def test_this_machine_and_its_network_are_not_reached(name: str, tmp_path: Path, host: str) -> None:
    """Who writes a configuration does not run the build. Red when addresses are not judged before the connection."""
    found_diagnostics = list[str]()
    address = f"http://{name}:{host.rpartition(':')[2]}/openapi.json"
    docs = folder(tmp_path / "docs", address)
    assert fetch_documents(docs, found_diagnostics.append, resolve=_leading("127.0.0.1")) == {}
    assert Host.asked == []
    assert address in found_diagnostics[0]
    assert "--allow-private" in found_diagnostics[0]


@pytest.mark.parametrize(
    "inside", ["10.0.0.7", "192.168.1.1", "172.16.3.4", "100.64.0.1", "fd12::1", "169.254.1.1", "0.0.0.0"]
)
def test_a_name_may_not_lead_inside(inside: str, tmp_path: Path, dials: list[str]) -> None:
    docs = folder(tmp_path / "docs", "https://api.example.com/openapi.json")
    assert fetch_documents(docs, lambda _: None, resolve=_leading(PUBLIC, inside)) == {}
    assert dials == []


def test_a_redirect_is_checked_like_a_first_address(tmp_path: Path, host: str, dials: list[str]) -> None:
    """Red when only the address of the configuration is judged."""
    public = f"http://docs.example.com:{host.rpartition(':')[2]}"
    Host.moved.update(
        {"/a": f"{host}/secret.json", "/b": "http://2130706433/", "/c": "//localhost/", "/d": "/fine.json"}
    )
    Host.moved.update({"/e": "/e", "/f": "file:///etc/passwd"})
    found_diagnostics, resolve = list[str](), _leading(PUBLIC, localhost="127.0.0.1")
    docs = folder(tmp_path / "docs", *(f"{public}/{letter}" for letter in "abcdef"))
    assert list(fetch_documents(docs, found_diagnostics.append, resolve=resolve)) == [f"{public}/d"]
    assert "/secret.json" not in Host.asked
    assert set(dials) == {PUBLIC}
    assert len(found_diagnostics) == 5
    assert "redirects more than" in found_diagnostics[3]


def test_the_name_is_asked_for_once(tmp_path: Path, host: str, dials: list[str]) -> None:
    """DNS rebinding. Red when the connection is made to the name, or to what it says afterwards."""
    answers = [[PUBLIC], ["127.0.0.1"]]

    async def resolve(_name: str, _port: int) -> list[str]:
        return answers.pop(0)

    docs = folder(tmp_path / "docs", f"http://docs.example.com:{host.rpartition(':')[2]}/openapi.json")
    assert len(fetch_documents(docs, lambda _: None, resolve=resolve)) == 1
    assert (dials, answers) == ([PUBLIC], [["127.0.0.1"]])


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/latest",
        "http://metadata.google.internal/x",
        "http://[fd00:ec2::254]/x",
        "http://meta.test/",
    ],
)
def test_a_metadata_service_is_never_reached(address: str, tmp_path: Path, host: str, dials: list[str]) -> None:
    """Not with --allow-private either, and not by a redirect. Red when a number in an address is taken as it is."""
    Host.moved["/on"] = address
    found_diagnostics, docs = list[str](), folder(tmp_path / "docs", address, f"{host}/on")
    assert (
        fetch_documents(docs, found_diagnostics.append, allow_private=True, resolve=_leading("169.254.169.254")) == {}
    )
    assert (set(dials), len(found_diagnostics)) == ({"127.0.0.1"}, 2)


@pytest.mark.parametrize("address", ["http://[x/openapi.json", "https://[::1"])
def test_an_address_that_cannot_be_taken_apart_is_reported(address: str, tmp_path: Path, host: str) -> None:
    """And the others are fetched. Red (ValueError) when the scheme is read by a parser that raises."""
    found_diagnostics, fine = list[str](), f"{host}/openapi.json"
    docs = folder(tmp_path / "docs", address, fine)
    assert list(fetch_documents(docs, found_diagnostics.append, allow_private=True)) == [fine]
    assert [line.partition(" ")[0] for line in found_diagnostics] == [address]


@pytest.mark.parametrize("command", [["build", "--out", "OUT"]])
def test_the_command_line_asks_for_private_addresses(command: list[str], tmp_path: Path, host: str) -> None:
    docs = folder(tmp_path / "docs", f"{host}/openapi.json")
    words = [word.replace("OUT", str(tmp_path / "out")) for word in command]
    alone = CliRunner().invoke(site, [*words, "--allow-private", str(docs)])
    assert (alone.exit_code != 0, "--fetch" in alone.output) == (True, True)
    refused = CliRunner().invoke(site, [*words, "--fetch", str(docs)])
    assert (refused.exit_code, Host.asked) == (0, [])
    assert "--allow-private" in refused.output
    assert CliRunner().invoke(site, [*words, "--fetch", "--allow-private", str(docs)]).exit_code == 0
    assert Host.asked == ["/openapi.json"]


def _leading(*addresses: str, **others: str) -> dial.Resolve:
    async def resolve(name: str, _port: int) -> list[str]:
        return [others[name]] if name in others else list(addresses)

    return resolve


@pytest.fixture
def dials(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were connected to; those of the public internet are on this machine."""
    made = list[str]()

    async def open_socket(ip: Any, port: int) -> Any:
        made.append(str(ip))
        return await real_open_socket(ip_address("127.0.0.1") if str(ip) == PUBLIC else ip, port)

    monkeypatch.setattr(dial, "open_socket", open_socket)
    return made
