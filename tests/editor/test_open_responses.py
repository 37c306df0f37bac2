"""Responses that are under way: their reader does not read, their author logs out or loses a right, an error comes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenantry.dashboards.protocol import paced_send
from tenantry.datasources import Limits
from tenantry.datasources.pool.query_limits import StreamLimits
from tenantry.editor import EditorAuthor, EditorSessions, Right
from tenantry.editor.runs import ndjson
from tenantry.errors import StoreUnavailable
from tenantry.groups import Author
from tests.dashboards.served import Reader
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor
from tests.editor.test_leaving import ENDLESS, running, until

SOON = 60.0
LIMITS = Limits(timeout=600.0, connect_timeout=SOON)
ROWS = "with recursive n(i) as (select 1 union all select i + 1 from n) select i, hex(zeroblob(500)) as a from n"
"""A query whose rows do not end."""
FEW_ROWS = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n where i < 200"
"""A query that has some rows at once, and does not end."""
GROUP = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql"}
ENDS: dict[str, Callable[[EditorSite], object]] = {
    "log-out": lambda site: setattr(site, "author", None),
    "right": lambda site: setattr(site, "author", EditorAuthor("ann", frozenset({Right.VIEW}))),
    "environment": lambda site: setattr(site, "author", EditorAuthor("ann", environments=frozenset())),
    "somebody else": lambda site: setattr(site, "author", EditorAuthor("eve")),
}


async def message(reader: Reader) -> Any:
    async with asyncio.timeout(SOON):
        return await reader._messages.get()


async def test_a_reader_who_does_not_read_loses_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other authors would wait for it. Red when the time limit of a run counts only the time of the engine."""
    monkeypatch.setattr(paced_send, "WRITE_SECONDS", 600.0)
    has_rows = asyncio.Event()

    async def never_read(self: Reader, sent: Any) -> None:
        if b'{"rows":[' in sent.get("body", b""):
            has_rows.set()
            await self.left.wait()

    monkeypatch.setattr(Reader, "send", never_read)
    unread = StreamLimits(reader_timeout=600.0)
    async with served_editor(tmp_path, limits=Limits(1.0, pool_size=1, connect_timeout=20.0, stream=unread)) as site:
        async with site.reading("run", **GROUP, text=ROWS):
            async with asyncio.timeout(SOON):
                await has_rows.wait()
            lines = await site.lines("run", **GROUP, text="select 7 as n")
        assert lines[-2] == {"rows": [[7]]}, lines


@pytest.mark.parametrize("path", ["run", "csv", "sample"])
@pytest.mark.parametrize("how", ENDS)
async def test_an_open_response_ends_with_the_rights_of_its_author(
    path: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Its query is stopped at the engine. Red when the author is asked for at the beginning only."""
    monkeypatch.setattr(ndjson, "ASK_SECONDS", 0.05)
    async with served_editor(tmp_path, limits=LIMITS) as site:
        count = running("sqlite", site, request)
        text = FEW_ROWS if path == "csv" else ENDLESS["sqlite"]
        async with site.reading(path, **GROUP, text=text) as reader:
            assert (await message(reader))["status"] == 200
            await until(count, 1)
            ENDS[how](site)
            await until(count, 0)


@pytest.mark.parametrize("how", ENDS)
async def test_a_file_without_its_first_row_ends_with_the_rights_of_its_author(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Its query is stopped at the engine. Red when only a response that has begun asks for the author."""
    monkeypatch.setattr(ndjson, "ASK_SECONDS", 0.05)
    async with served_editor(tmp_path, limits=LIMITS) as site:
        count = running("sqlite", site, request)
        async with site.reading("csv", **GROUP, text=ENDLESS["sqlite"]) as reader:
            await until(count, 1)
            ENDS[how](site)
            await until(count, 0)
            assert (await message(reader))["status"] == 401


async def test_a_file_asks_for_its_author_before_its_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last check may be seconds old. Red when the head is sent without a check."""
    monkeypatch.setattr(ndjson, "ASK_SECONDS", 600.0)
    found = [EditorAuthor("ann")]
    async with served_editor(tmp_path, authors=lambda _: found.pop() if found else None, limits=LIMITS) as site:
        answer = await site.post("csv", **GROUP, text="select 7 as n")
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "no_author")


async def test_ending_the_sessions_of_an_author_ends_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """As ``tenantry editor end`` does. Red when Lines does not ask for the author."""
    monkeypatch.setattr(ndjson, "ASK_SECONDS", 0.05)
    async with served_editor(tmp_path, authors=None, limits=LIMITS) as site:
        sessions, operator = EditorSessions(site.store), Author("op")
        code = await sessions.issue(EditorAuthor("ann"), operator)
        opened = await site.post("session", code=code)
        site.session = opened.headers["set-cookie"].partition(";")[0]
        count = running("sqlite", site, request)
        async with site.reading("csv", **GROUP, text=FEW_ROWS) as reader:
            assert (await message(reader))["status"] == 200
            await until(count, 1)
            await sessions.end_all("ann", operator)
            await until(count, 0)


async def test_a_store_that_does_not_answer_ends_no_response(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch of running queries ends it, if that lasts. Red when each error ends the response."""
    monkeypatch.setattr(ndjson, "ASK_SECONDS", 0.0)
    asked = 0

    async def authors(request: object) -> EditorAuthor:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise StoreUnavailable("the store is gone")
        return EditorAuthor("ann")

    counted = (
        "with recursive n(i) as (select 1 union all select i + 1 from n limit 1000000) select count(*) as c from n"
    )
    async with served_editor(tmp_path, authors=authors, limits=LIMITS) as site:
        lines = await site.lines("run", **GROUP, text=counted)
        assert lines[-2] == {"rows": [[1_000_000]]}
        assert asked > 2


async def test_a_file_above_the_limit_ends_early(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its head is sent by then, so the response stays incomplete and the log has a line. Red when the error leaves the
    response: the server logged a traceback."""
    with caplog.at_level(logging.WARNING, "tenantry.editor"):
        async with served_editor(
            tmp_path, limits=Limits(connect_timeout=SOON, stream=StreamLimits(row_limit=9_000))
        ) as site:
            async with site.reading("csv", **GROUP, text=ROWS) as reader:
                assert (await message(reader))["status"] == 200
                async with asyncio.timeout(SOON):
                    while not caplog.messages:
                        await asyncio.sleep(0.01)
            while not reader._messages.empty():
                assert reader._messages.get_nowait()["more_body"] is True
    (logged,) = caplog.messages
    assert logged.startswith("the response to /editor/-/csv was cut off: too_many_rows: ")
