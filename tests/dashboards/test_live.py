"""Answers that stay open: rows that change, and tokens that end while an answer goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tenantry.dashboards import live
from tests.dashboards.served import SOON, Site, serve
from tests.datasources.conftest import PRODUCTION

FILES = {
    "dashboards/open.yaml": """
title: Open
rows:
  - - {table: {sql: "select count(*) as n from flights where carrier = {{ carrier }}"}}
    - {table: {sql: "select 1 as n"}, schema: other}
    - {text: Words}
""",
    "dashboards/slow.yaml": """
title: Slow
rows: [{table: {sql: "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as a from n"}}]
""",
}


async def test_an_open_answer_says_which_panels_have_changed(tmp_path: Path) -> None:
    """Those of the data source that the program reports, again and again; of another source none. Red when every panel
    is asked for again, and when a change while the panels run is missed."""
    async with serve(tmp_path, FILES) as site, site.reading("open/-/panels", {"live": True}) as reader:
        site.directory.add(2, "sqlite:///other.db")
        got = [await reader.line() for _ in range(3)]
        assert {"end": True} in got
        assert not any("revision" in each for each in got), "that is for authors, where files are read again"
        await site.sources.changed(PRODUCTION, "own_2")
        for _ in range(2):
            await site.sources.changed(PRODUCTION, "own_1")
            assert await reader.line() == {"changed": ["1-1"]}
        assert len(site.sources.changes) == 1
    assert len(site.sources.changes) == 0, "the viewer has left"


async def test_an_answer_that_nobody_wants_open_ends(tmp_path: Path) -> None:
    """With its panels."""
    async with serve(tmp_path, FILES) as site:
        assert len(await site.lines("open")) == 2
        assert len(site.sources.changes) == 0


def rotate(site: Site) -> None:
    handle = handle_of_ha(site)
    site.backend.table.before(handle)
    site.rotate("HA")
    site.backend.table.after(handle)


def end(site: Site) -> None:
    """Gives the group an end date that has passed."""
    group = site.backend.groups[handle_of_ha(site)]
    site.backend.write(replace(group, revision=group.revision + 1, expires_at=datetime.now(UTC)))


def handle_of_ha(site: Site) -> bytes:
    return next(handle for handle, group in site.backend.groups.items() if group.provided_id == "ha")


@pytest.mark.parametrize(("name", "lines", "cut_off"), [("open", 3, rotate), ("slow", 0, rotate), ("open", 3, end)])
async def test_an_answer_ends_with_its_token(
    tmp_path: Path, name: str, lines: int, cut_off: Callable[[Site], None]
) -> None:
    """While it waits for changes, and while a query runs, which is stopped. Red without its first part, from which
    on the token is watched: the answer to a customer who was cut off goes on."""
    async with serve(tmp_path, FILES, limits={"timeout": 600}) as site:
        async with site.reading(f"{name}/-/panels", {"live": True}) as reader:
            for _ in range(lines):
                await reader.line()
            async with asyncio.timeout(SOON):
                while not lines and not site.sources.flights.by_key:
                    await asyncio.sleep(0.01)
            cut_off(site)
            assert await reader.line() == {"token": "ended"}
        assert site.sources.flights.by_key == {}


async def test_a_sign_of_life_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty line, so that no proxy takes the connection for dead; and after its time an answer ends."""
    monkeypatch.setattr(live, "_SIGN_SECONDS", 0.01)
    monkeypatch.setattr(live, "_OPEN_SECONDS", 0.2)
    async with serve(tmp_path, FILES) as site:
        answer = await site.post("open/-/panels", {"live": True})
    assert json.loads(answer.text.strip().splitlines()[-1]) == {"end": True}
    assert answer.text.endswith("\n\n\n")


async def test_a_change_that_is_not_known_by_name_is_one_of_every_panel(tmp_path: Path) -> None:
    """As when the shared cache was lost. Red when only names are looked for."""
    async with serve(tmp_path, FILES) as site, site.reading("open/-/panels", {"live": True}) as reader:
        for _ in range(3):
            await reader.line()
        site.sources.changes.notify(None)
        assert await reader.line() == {"changed": ["1-1"]}


async def test_a_group_has_so_many_open_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more ends with its panels; another group's stays open; one that was left makes room. Red without the limit,
    when all groups share it, and when a place is not given back."""
    monkeypatch.setattr(live, "MAX_OPEN", 2)
    body = {"live": True}
    async with serve(tmp_path, FILES) as site, AsyncExitStack() as others:
        for carrier in ("HA", "UA", "UA"):
            reader = await others.enter_async_context(site.reading("open/-/panels", body, carrier))
            assert {"end": True} in [await reader.line() for _ in range(3)]
        async with site.reading("open/-/panels", body) as reader:
            assert {"end": True} in [await reader.line() for _ in range(3)]
            async with asyncio.timeout(SOON):
                assert len(await site.lines("open", live=True)) == 2
            assert len(site.sources.changes) == 4
        async with site.reading("open/-/panels", body) as reader:
            assert {"end": True} in [await reader.line() for _ in range(3)]
            assert len(site.sources.changes) == 4


async def test_open_answers_end_with_the_process(tmp_path: Path) -> None:
    """As soon as it is about to end: else a server waits for their viewers. Red when ``stop`` tells nobody."""
    async with serve(tmp_path, FILES) as site, site.reading("open/-/panels", {"live": True}) as reader:
        for _ in range(3):
            await reader.line()
        await site.sources.stop()
        async with asyncio.timeout(SOON):
            while len(site.sources.changes):
                await asyncio.sleep(0.01)
