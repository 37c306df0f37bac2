"""The event loop has turns while a bulk works on groups that are large: its lines may be short, and name such."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tenantry.provisioning.http.report import ReportBuffer
from tenantry.provisioning.http.upsert_lines import MAX_TOGETHER
from tests.provisioning.http.conftest import Service, make_app
from tests.provisioning.http.test_bulk_stream import Exchange, line

AT_A_TIME = 50
"""Groups that may be read, and lines that may be reported, between two turns."""


class Turns:
    """How many turns others have had, noted with a number of groups each time that a part of the work is done."""

    def __init__(self) -> None:
        self.had = 0
        self.noted: list[tuple[int, int]] = []

    def note(self, groups: int) -> None:
        self.noted.append((self.had, groups))

    async def count(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.had += 1

    def check(self, groups: int) -> None:
        """So many groups were worked on in all, and no more than AT_A_TIME between two turns."""
        between: dict[int, int] = {}
        for had, some in self.noted:
            between[had] = between.get(had, 0) + some
        assert sum(between.values()) == groups
        assert max(between.values()) <= AT_A_TIME


@contextmanager
def counting(*each: Turns) -> Iterator[None]:
    tasks = [asyncio.ensure_future(turns.count()) for turns in each]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


@pytest.mark.parametrize("dry_run", [False, True])
async def test_short_lines_that_name_large_groups(
    service: Service, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    """Their groups are read some at a time, and their report is written so. Red when a batch is read in one call, and
    when its report is made in one piece."""
    body = [line(number) for number in range(MAX_TOGETHER)]
    await Exchange(make_app(service.store, service.keys), service, [b"".join(body), b""]).run()
    reading, reporting = Turns(), Turns()
    get_many, write = service.store.groups.get_many, ReportBuffer.write

    async def noted(environment: Any, provided_ids: Any) -> Any:
        reading.note(len(provided_ids))
        return await get_many(environment, provided_ids)

    def noted_write(buffer: ReportBuffer, data: bytes) -> None:
        reporting.note(data.count(b'"result"'))
        write(buffer, data)

    monkeypatch.setattr(service.store.groups, "get_many", noted)
    monkeypatch.setattr(ReportBuffer, "write", noted_write)
    changed = [line(number, name="N") for number in range(MAX_TOGETHER)]
    exchange = Exchange(
        make_app(service.store, service.keys), service, [b"".join(changed), b""], "dry_run=true" if dry_run else ""
    )
    with counting(reading, reporting):
        await exchange.run()
    assert exchange.lines()[-1]["summary"]["updated"] == MAX_TOGETHER
    reading.check(MAX_TOGETHER * (2 if dry_run else 1))
    reporting.check(MAX_TOGETHER)
