"""When the report of a bulk begins: with its first lines, or, for a proxy that asks for it, after the body. And what
happens where it cannot be sent or kept."""

from __future__ import annotations

import asyncio
import errno
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from tenantry.provisioning.http import report
from tenantry.provisioning.http.report import MEMORY, ReportBuffer
from tenantry.provisioning.http.request import ClientDisconnected
from tests.provisioning.http.conftest import Service, make_app
from tests.provisioning.http.test_bulk_stream import Exchange, line, until, waiting_for_its_reader


def refuse() -> None:
    raise OSError("read-only file system")


def large(number: int) -> list[bytes]:
    return [line(each, properties={"text": "x" * 30_000}) for each in range(number)]


@pytest.mark.parametrize(
    ("prefer", "after"),
    [(None, False), ("report-after-body", True), ("wait=5, Report-After-Body", True), ("respond-async", False)],
)
async def test_the_report_may_begin_after_the_body(
    service: Service, prefer: str | None, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For proxies that cannot send a body on whose answer has begun (RFC 7240); the lines are done as they come. Red
    when the answer begins with the first line all the same, or lines wait for the last."""
    headers = {} if prefer is None else {"prefer": prefer}
    seen: list[tuple[int, int]] = []
    reported: list[bytes] = []
    write = ReportBuffer.write
    monkeypatch.setattr(ReportBuffer, "write", lambda buffer, data: (reported.append(data), write(buffer, data))[1])

    def parts() -> Iterator[bytes]:
        for number in range(40):
            seen.append((exchange.status, len(reported)))
            yield line(number)
        yield b""

    exchange = Exchange(make_app(service.store, service.keys), service, parts(), headers=headers)
    await exchange.run()
    assert len(exchange.lines()) == 41
    assert (seen[-1][0] == 0) == after
    assert seen[-1][1] > 20
    assert exchange.headers.get(b"preference-applied") == (b"report-after-body" if after else None)


async def test_a_report_that_begins_late_and_has_no_room(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it begins: else the client would wait for it, and it for the client. Red when only the end is waited for."""
    monkeypatch.setattr(report, "TemporaryFile", refuse)
    app = make_app(service.store, service.keys)
    exchange = Exchange(app, service, [*large(60), b""], "dry_run=true", headers={"prefer": "report-after-body"})
    await exchange.run()
    assert len(exchange.lines()) == 61


# --- a report that cannot be sent or kept -----------------------------------------------------------------------------


class Gone(Exchange):
    """Its server raises when it is to send on a connection that broke. ``sending`` counts the calls."""

    sending = 0

    async def send(self, message: dict[str, Any]) -> None:
        self.sending += 1
        raise OSError("the connection is closed")


@pytest.mark.parametrize("full", [False, True])
async def test_a_server_that_cannot_send(service: Service, monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """Ends the bulk at its next lines, also where there is no room for more of the report. Red when the end of the
    sender is not noticed: all lines are done then, or the bulk waits for ever for room."""
    if full:
        monkeypatch.setattr(report, "TemporaryFile", refuse)
    exchange = Gone(make_app(service.store, service.keys), service, [*large(80), b""], "dry_run=true")
    await exchange.run()
    assert exchange.sending == 1
    assert exchange.taken < 10


async def test_a_sender_that_ends_while_its_client_is_waited_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wakes the bulk that waits for room. Red when the buffer is not abandoned."""

    class Later(Exchange):
        async def send(self, message: dict[str, Any]) -> None:
            await self.reads.wait()
            raise OSError("the connection is closed")

    monkeypatch.setattr(report, "TemporaryFile", refuse)
    exchange = Later(make_app(service.store, service.keys), service, [*large(80), b""], "dry_run=true")
    running = await waiting_for_its_reader(exchange)
    exchange.reads.set()
    await running
    assert exchange.taken < 60


async def test_a_report_that_cannot_be_read_back(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is an error for the server's log, and ends the bulk. Red when the sender's error is dropped, or not noticed."""

    async def read(_: ReportBuffer) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ReportBuffer, "read", read)
    exchange = Exchange(make_app(service.store, service.keys), service, [*large(80), b""], "dry_run=true")
    with pytest.raises(OSError, match="No space left"):
        await exchange.run()
    assert exchange.taken < 10


async def test_a_disk_without_room(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is as no temporary file: memory holds the report, and the client is waited for. The file is given back. Red when
    only the making of the file is tried."""
    files: list[Full] = []

    class Full:
        """A file of a full disk."""

        def __init__(self) -> None:
            self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the buffer
            files.append(self)

        def write(self, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self) -> None:
            self.file.close()
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(report, "TemporaryFile", Full)
    exchange = Exchange(make_app(service.store, service.keys), service, [*large(60), b""], "dry_run=true")
    exchange.reads.clear()
    running = asyncio.create_task(exchange.run())
    await until(lambda: bool(files))
    exchange.reads.set()
    await running
    assert exchange.lines()[-1]["summary"]["created"] == 60
    assert all(each.file.closed for each in files)


async def test_an_abandoned_buffer() -> None:
    """Takes nothing more, and nobody waits for its room."""
    buffer = ReportBuffer()
    buffer.write(b"x" * MEMORY)
    buffer.abandon()
    with pytest.raises(ClientDisconnected):
        buffer.write(b"x")
    with pytest.raises(ClientDisconnected):
        await buffer.wait_for_space()
    buffer.close()
