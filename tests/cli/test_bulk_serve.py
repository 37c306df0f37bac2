"""``POST /api/users/bulk`` of ``tenantry serve``: clients that send first and read later, a stop, and a kill -9."""

from __future__ import annotations

import json
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import Terminal
from tests.cli.serving import Server, serving

pytestmark = pytest.mark.slow

LONG = 120


@pytest.fixture(params=["sqlite", "postgres"])
def caller(request: pytest.FixtureRequest, folder: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> str:
    """An API token of a store of each kind, which every command of the test uses."""
    if request.param == "postgres":
        monkeypatch.setenv("TENANTRY_DATABASE", request.getfixturevalue("postgres").create_database())
    terminal("keys", "new")
    terminal("migrate")
    terminal("environment", "create", "production", "--tag", "Customer")
    return terminal("api-token", "create").out.strip()


def body_of(number: int, **more: Any) -> bytes:
    lines = [
        {"user_group_id": f"g{each}", "name": f"Group {each}", "properties": {"n": each, **more}}
        for each in range(number)
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def report_of(server: Server, caller: str, body: bytes) -> list[Any]:
    """Sends the whole body, and reads the report then."""
    address = urlsplit(server.url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=LONG)
    headers = {"Authorization": f"Token {caller}", "Content-Type": "application/x-ndjson"}
    connection.request("POST", "/api/users/bulk", body, headers)
    answer = connection.getresponse()
    assert answer.status == 200
    lines = [json.loads(line) for line in answer.read().splitlines()]
    connection.close()
    return lines


class Conversation:
    """A bulk whose body is sent by a thread while its report is read."""

    def __init__(self, server: Server, caller: str) -> None:
        address = urlsplit(server.url)
        self._socket = socket.create_connection((str(address.hostname), address.port or 80), timeout=LONG)
        self._socket.sendall(
            f"POST /api/users/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Token {caller}\r\n"
            "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        self._received = b""

    def send(self, body: bytes) -> None:
        self._socket.sendall(b"%x\r\n%b\r\n" % (len(body), body))

    def lines(self) -> Iterator[Any]:
        """Each line of the report as it arrives; ends when the connection does. Lines of chunks are passed over."""
        while True:
            line, end, rest = self._received.partition(b"\n")
            if end:
                self._received = rest
                if line.startswith(b"{") and line.endswith(b"}"):
                    yield json.loads(line)
                continue
            try:
                more = self._socket.recv(65_536)
            except ConnectionError:
                more = b""
            if not more:
                return
            self._received += more

    def close(self) -> None:
        self._socket.close()


@contextmanager
def conversation(server: Server, caller: str) -> Iterator[Conversation]:
    made = Conversation(server, caller)
    try:
        yield made
    finally:
        made.close()


def test_a_client_that_sends_all_before_it_reads(folder: Path, ready: Terminal) -> None:
    """A body and a report that no socket holds. Red when lines are sent without the buffer: both wait for ever."""
    caller = ready("api-token", "create").out.strip()
    with serving(folder) as server:
        lines = report_of(server, caller, body_of(500, text="x" * 25_000))
        server.ended(signal.SIGINT)
    assert lines[-1]["summary"]["created"] == len(lines) - 1 == 500


def test_a_server_that_stops_says_so(folder: Path, ready: Terminal) -> None:
    """At SIGTERM a bulk ends after the lines that it has, with the reason; what it reported is done, and the server
    ends well."""
    caller = ready("api-token", "create").out.strip()
    with serving(folder) as server, conversation(server, caller) as bulk:
        bulk.send(b'{"user_group_id": "first"}\n')
        report = bulk.lines()
        assert next(report)["result"] == "created"
        server.process.send_signal(signal.SIGTERM)
        last = {}
        for number in range(1_000):
            bulk.send(b'{"user_group_id": "g%d"}\n' % number)
            last = next(report)
            if "line" not in last:
                break
        assert (last["success"], last["error"]["code"]) == (0, "draining")
        bulk.close()
        server.ended()
    assert len(ready("group", "list", "--json").json()) == last["summary"]["created"]


def test_a_bulk_that_was_killed_is_sent_again(caller: str, folder: Path, terminal: Terminal) -> None:
    """kill -9 of the server in the middle: each group that is there is whole and in the audit trail, and what was
    reported is there with its token. The same body again makes the rest and leaves these: no group twice. Red when the
    entry of the audit trail is a transaction of its own (checked by leaving ``note_many`` out of it)."""
    number = 4_000
    body = body_of(number)
    reported: dict[str, str] = {}
    with serving(folder) as server:
        bulk = Conversation(server, caller)
        killed = threading.Event()  # else a machine that holds this process up lets the server do all of them
        sending = threading.Thread(target=_send, args=(bulk, body, killed), daemon=True)
        sending.start()
        for line in bulk.lines():
            reported[line["user_group"]["provided_id"]] = line["user_group"]["token"]
            if len(reported) == 600:
                server.process.kill()
                killed.set()
        server.process.wait(LONG)
        sending.join(LONG)
        bulk.close()
    assert 600 <= len(reported) < number
    stored = {group["id"]: group for group in terminal("group", "list", "--json").json()}
    assert set(reported) <= set(stored)
    assert len(stored) < number
    for provided_id, group in stored.items():
        assert (group["name"], group["revision"]) == (f"Group {provided_id[1:]}", 1)
    noted = [entry["subject"] for entry in terminal("audit", "--json").json() if entry["action"] == "group.created"]
    assert sorted(noted) == sorted(stored)
    with serving(folder) as server:
        *lines, last = report_of(server, caller, body)
        server.ended(signal.SIGINT)
    assert last["summary"] == {
        "lines": number, "created": number - len(stored), "updated": 0, "unchanged": len(stored), "failed": 0,
    }  # fmt: skip
    again = {line["user_group"]["provided_id"]: line["user_group"]["token"] for line in lines}
    assert len(again) == number
    assert {provided_id: again[provided_id] for provided_id in reported} == reported
    assert len(terminal("group", "list", "--json").json()) == number


def _send(bulk: Conversation, body: bytes, killed: threading.Event) -> None:
    """Half of it, and the rest when the server has been killed."""
    try:
        for start in range(0, len(body), 20_000):
            if start > len(body) / 2:
                killed.wait(LONG)
            bulk.send(body[start : start + 20_000])
    except OSError:  # the server is gone
        pass
