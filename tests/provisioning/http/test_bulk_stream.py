"""``POST /api/users/bulk`` as a stream: what is done when its client does not read, leaves or stops sending, and when
the server or the store ends in the middle. Told to the app by ASGI, a message at a time."""

from __future__ import annotations

import asyncio
import json
import logging
import tracemalloc
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from tenantry.errors import StoreUnavailable
from tenantry.provisioning.http import ndjson_reader, report
from tenantry.provisioning.http.endpoint import RequestRecord
from tests.provisioning.http.conftest import Service, make_app

PATIENCE = 60


class Exchange:
    """One request whose body comes in these ``parts``, and what was sent. ``reads`` is set when the client reads;
    ``taken`` counts the parts that the app has asked for; ``at`` runs something before a part is given."""

    def __init__(
        self,
        app: Any,
        service: Service,
        parts: Iterable[bytes | None],
        query: str = "",
        headers: Mapping[str, str] = {},
    ) -> None:
        self._app = app
        self._parts = iter(parts)
        own = {"authorization": f"Token {service.caller}", "content-type": "application/x-ndjson"}
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "path": "/api/users/bulk",
            "raw_path": b"/api/users/bulk",
            "query_string": query.encode(),
            "root_path": "",
            "scheme": "http",
            "headers": [(b"transfer-encoding", b"chunked")]
            + [(name.encode(), value.encode()) for name, value in {**own, **headers}.items()],
        }
        self.reads = asyncio.Event()
        self.reads.set()
        self.taken = 0
        self.sent: list[bytes] = []
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.size = 0
        self.keep = True

    async def receive(self) -> dict[str, Any]:
        """None among the parts: the client leaves. Where they end without one that is the last, nothing comes."""
        self.taken += 1
        await asyncio.sleep(0)
        part = next(self._parts, b"")
        if part is None:
            return {"type": "http.disconnect"}
        if part == b"wait":
            await asyncio.Event().wait()
        return {"type": "http.request", "body": part, "more_body": part != b""}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = dict(message["headers"])
            return
        await self.reads.wait()
        self.size += len(message["body"])
        if self.keep or not message["body"].strip():
            self.sent.append(message["body"])
        else:
            self.sent[:] = [message["body"][-300:]]

    async def run(self) -> None:
        await asyncio.wait_for(self._app(self._scope, self.receive, self.send), PATIENCE)

    def lines(self) -> list[Any]:
        *lines, rest = b"".join(self.sent).split(b"\n")
        assert rest == b""
        return [json.loads(line) for line in lines]


def line(number: int, **fields: Any) -> bytes:
    return json.dumps({"user_group_id": f"g{number}", **fields}).encode() + b"\n"


async def until(condition: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


async def waiting_for_its_reader(exchange: Exchange) -> asyncio.Task[None]:
    """The exchange, begun, when it takes no more of its body until its client reads."""
    exchange.reads.clear()
    running = asyncio.create_task(exchange.run())
    await until(lambda: exchange.taken > 30)
    for _ in range(1_000):
        await asyncio.sleep(0)
    assert exchange.taken < 60
    return running


def large(size: int) -> Iterator[bytes]:
    """Lines of 30 KiB, of so many bytes in all, in parts that end anywhere."""
    text, given, number = b"", 0, 0
    while given < size:
        while len(text) < 65_536:
            text += line(number, properties={"text": "x" * 30_000})
            number += 1
        part, text = text[: min(65_536, size - given)], text[65_536:]
        given += len(part)
        yield part


# --- memory, and a client that does not read --------------------------------------------------------------------------


async def test_memory_stays_small_for_a_client_that_reads_last(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body of the largest size (here 32 MiB) is taken, the report of as much waits on disk, and neither is ever whole
    in memory: most clients send all before they read. One byte more ends the bulk, after the lines that it had. Red
    without the temporary file (the app waits for ever, or has the report in memory), and when the body is collected."""
    most = 32 * 1024 * 1024
    monkeypatch.setattr(ndjson_reader, "MAX_BULK", most)
    exchange = Exchange(make_app(service.store, service.keys), service, large(most + 1), "dry_run=true")
    exchange.keep = False
    exchange.reads.clear()
    running = asyncio.create_task(exchange.run())
    tracemalloc.start()
    try:
        await until(lambda: exchange.taken > most // 65_536)
        _, peak = tracemalloc.get_traced_memory()
        exchange.reads.set()
        await running
        _, after = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert max(peak, after) < 16 * 1024 * 1024
    assert exchange.size > 0.9 * most
    last = json.loads(b"".join(exchange.sent).rstrip(b"\n").rpartition(b"\n")[2])
    assert (last["success"], last["error"]["code"]) == (0, "body_too_large")
    assert last["summary"]["created"] > 1_000
    assert last["summary"]["failed"] == 0


async def test_without_a_temporary_file_the_reader_is_waited_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded there too: no more of the body is read until the client has read. Red when
    ``wait_for_space`` is not awaited."""

    def refuse() -> None:
        raise OSError("read-only file system")

    monkeypatch.setattr(report, "TemporaryFile", refuse)
    number = 300
    parts = [line(each, properties={"text": "x" * 30_000}) for each in range(number)]
    exchange = Exchange(make_app(service.store, service.keys), service, [*parts, b""], "dry_run=true")
    running = await waiting_for_its_reader(exchange)
    exchange.reads.set()
    await running
    assert exchange.lines()[-1]["summary"]["created"] == number


async def test_reports_come_while_the_body_is_sent(service: Service) -> None:
    """A line is done and reported when it has arrived: its client need not end its body first."""
    gate = asyncio.Event()
    exchange = Exchange(make_app(service.store, service.keys), service, [])
    given = iter([line(1), line(2), b""])

    async def receive() -> dict[str, Any]:
        if exchange.taken:
            await gate.wait()
            gate.clear()
        exchange.taken += 1
        part = next(given)
        return {"type": "http.request", "body": part, "more_body": part != b""}

    exchange.receive = receive  # type: ignore[method-assign]
    running = asyncio.create_task(exchange.run())
    for number in (1, 2):
        await until(lambda number=number: len(exchange.lines()) == number)
        assert exchange.lines()[-1]["line"] == number
        gate.set()
    await running
    assert exchange.lines()[-1] == {
        "success": 1,
        "summary": {"lines": 2, "created": 2, "updated": 0, "unchanged": 0, "failed": 0},
    }


# --- an end in the middle ---------------------------------------------------------------------------------------------


async def ids(service: Service) -> list[str]:
    return [group.provided_id for group in await service.store.groups.list(service.production)]


async def test_a_client_that_leaves(service: Service) -> None:
    """What came whole before is done, a line that was cut off is not; nothing is raised, and nothing hangs."""
    exchange = Exchange(make_app(service.store, service.keys), service, [line(1) + line(2)[:-5], None])
    await exchange.run()
    assert await ids(service) == ["g1"]


async def test_a_client_that_stops_sending(service: Service) -> None:
    """Its report has what is done, and says why it ends. Red when the deadline is of the whole body alone."""
    app = make_app(service.store, service.keys, body_seconds=0.2)
    exchange = Exchange(app, service, [line(1), line(2)[:5], b"wait"])
    await exchange.run()
    first, last = exchange.lines()
    assert (first["line"], first["result"]) == (1, "created")
    assert (last["success"], last["error"]["code"], last["summary"]["lines"]) == (0, "request_timeout", 1)
    assert last["request_id"]
    assert await ids(service) == ["g1"]


async def test_a_client_that_sends_nothing(service: Service) -> None:
    """Is answered 408, as for a single call."""
    exchange = Exchange(make_app(service.store, service.keys, body_seconds=0.2), service, [b"\n", b"wait"])
    await exchange.run()
    assert exchange.status == 408


async def test_a_server_that_is_about_to_stop(service: Service) -> None:
    """It does the lines that it has, says so, and reads the rest of the body away, so that a client that reads last
    gets its report. Red when ``draining`` is not asked."""
    stopping: list[bool] = []

    def parts() -> Iterator[bytes]:
        yield line(1)
        stopping.append(True)
        yield line(2)
        yield from (line(number) for number in range(3, 50))
        yield b""

    exchange = Exchange(make_app(service.store, service.keys, draining=lambda: bool(stopping)), service, parts())
    await exchange.run()
    *done, last = exchange.lines()
    assert [each["line"] for each in done] == [1, 2]
    assert (last["success"], last["error"]["code"], last["summary"]["created"]) == (0, "draining", 2)
    assert await ids(service) == ["g1", "g2"]
    assert exchange.taken == 50


async def test_a_store_that_goes_away(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report says which lines are done; those without a report are not. The end names the store's error, and not
    the text of it. Red when the bulk goes on with the next lines."""
    write, calls = service.store.groups.write_many, 0

    async def failing(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise StoreUnavailable("the PostgreSQL at db.internal does not answer")
        return await write(*given, **named)

    monkeypatch.setattr(service.store.groups, "write_many", failing)
    bad = b"{}\n"
    parts = [line(1) + line(2), line(3) + bad + line(4), line(5), b""]
    exchange = Exchange(make_app(service.store, service.keys), service, parts)
    await exchange.run()
    assert b"db.internal" not in b"".join(exchange.sent)
    *done, last = exchange.lines()
    results = [each.get("result") or each["error"]["code"] for each in done]
    assert results == ["created", "created", "store_unavailable", "invalid_body", "store_unavailable"]
    assert (last["success"], last["error"]["code"]) == (0, "store_unavailable")
    assert last["summary"] == {"lines": 5, "created": 2, "updated": 0, "unchanged": 0, "failed": 3}
    assert await ids(service) == ["g1", "g2"]


async def test_a_token_that_is_revoked_meanwhile(service: Service) -> None:
    """The lines that follow are not done. Red when the caller is authenticated once."""

    def parts() -> Iterator[bytes]:
        yield line(1)
        (service.store._tables.api_tokens).clear()
        yield line(2)
        yield b""

    exchange = Exchange(make_app(service.store, service.keys), service, parts())
    await exchange.run()
    first, last = exchange.lines()
    assert first["result"] == "created"
    assert (last["error"]["code"], last["summary"]["lines"]) == ("unauthorized", 1)
    assert await ids(service) == ["g1"]


async def test_a_mistake_of_ours(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ends the report with ``internal``; the log has the request id and no value."""

    secret = "x".join("secret")

    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(secret)

    monkeypatch.setattr(service.store.groups, "write_many", broken)
    exchange = Exchange(make_app(service.store, service.keys), service, [line(1), b""])
    with caplog.at_level(logging.ERROR, logger="tenantry.api"):
        await exchange.run()
    (last,) = exchange.lines()
    assert last["error"]["code"] == "internal"
    assert last["request_id"] in caplog.text
    assert secret not in caplog.text + str(last)


async def test_the_observer_hears_how_it_ended(service: Service) -> None:
    """Once, after the last line: with the code of the error that it tells, if it does."""
    seen: list[RequestRecord] = []
    app = make_app(service.store, service.keys, observer=seen.append, body_seconds=0.2)
    await Exchange(app, service, [line(1), b""]).run()
    await Exchange(app, service, [line(1), b"wait"]).run()
    await Exchange(app, service, [b"\n", b""]).run()
    told = [(each.operation, each.status, each.code) for each in seen]
    assert told == [("bulk", 200, "ok"), ("bulk", 200, "request_timeout"), ("bulk", 400, "bad_json")]
