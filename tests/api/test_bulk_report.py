"""When the report of a bulk begins: with its first lines, or, for a proxy that asks for it, after the body."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenantry.api import report_buffer
from tenantry.api.report_buffer import ReportBuffer
from tests.api.conftest import Service, make_app
from tests.api.test_bulk_stream import Exchange, line


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

    def refuse() -> None:
        raise OSError("read-only file system")

    monkeypatch.setattr(report_buffer, "TemporaryFile", refuse)
    parts = [line(each, properties={"text": "x" * 30_000}) for each in range(60)]
    app = make_app(service.store, service.keys)
    exchange = Exchange(app, service, [*parts, b""], "dry_run=true", headers={"prefer": "report-after-body"})
    await exchange.run()
    assert len(exchange.lines()) == 61
