"""Answers that stay open: rows that change, and tokens that end while an answer goes on."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engines.valkey import Valkey
from tenantry import DataSources, mint_pass
from tenantry.dashboards import refresh
from tenantry.datasources import RedisResults, ResultCache, changes
from tests.dashboards.mounts import BARE, FASTAPI, INSIDE
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


@pytest.mark.usefixtures("mount")
async def test_an_open_answer_says_which_panels_have_changed(tmp_path: Path) -> None:
    """The panels of the data source that the program reports, each time, and none of another source. Red when every
    panel is reported, and when a change while the panels run is missed."""
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


async def shown(site: Site) -> dict[str, float]:
    """The ``as_of`` of each panel on a page that was just loaded."""
    return {panel: line["as_of"] for panel, line in (await site.panels("open")).items()}


async def test_a_page_that_asks_is_told_what_has_changed_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The panels of the reported data source, until the page has newer rows; unknown panels are ignored. Red when the
    times of changes are not kept, and when the ``as_of`` of a cached answer is only that of its query: a page would
    request rows again and again that a shared cache has from before this process."""
    async with serve(tmp_path, FILES, limits={"cache": ResultCache()}) as site:
        site.directory.add(2, "sqlite:///other.db")
        before = await shown(site)
        assert await site.lines("open", panels=[], shown=before | {"9-9": 1}) == []
        await site.sources.changed(PRODUCTION, "own_2")
        assert await site.lines("open", panels=[], shown=before) == []
        await site.sources.changed(PRODUCTION, "own_1")
        for _ in range(2):
            assert await site.lines("open", panels=[], shown=before) == [{"changed": ["1-1"]}]
        after = await shown(site)
        assert await site.lines("open", panels=[], shown=after) == []
        monkeypatch.setattr(changes, "LATE_SECONDS", 0.0)
        assert (await shown(site))["1-1"] > after["1-1"], "the same rows, which are known to be right at a later time"


async def test_rows_of_another_process_may_have_changed_before_this_one_began(tmp_path: Path) -> None:
    """This process knows no changes from before its start. Red when it assumes that there were none: a page that was
    hidden during a deployment showed the rows of the day before."""
    async with serve(tmp_path / "one", FILES) as site:
        before = await shown(site)
    async with serve(tmp_path / "other", FILES) as site:
        assert await site.lines("open", panels=[], shown=before) == [{"changed": ["1-1"]}]


async def test_a_page_that_asks_hears_of_changes_in_other_processes(tmp_path: Path, valkey: Valkey) -> None:
    """Even if no response is open here and nothing else is requested. Red when marks are followed only for
    listeners."""
    valkey.execute("FLUSHALL")

    def cache() -> ResultCache:
        return ResultCache(shared=RedisResults(valkey.url, secret=b"s" * 32, budget=SOON))

    async with serve(tmp_path, FILES, limits={"cache": cache()}) as site:
        async with asyncio.timeout(SOON):  # what was changed before is known late where the server is slow
            while await site.lines("open", panels=[], shown=(before := await shown(site))):
                await asyncio.sleep(0.1)
        async with DataSources(site.directory, cache=cache()) as other:
            await other.changed(PRODUCTION, "ds_1")
        async with asyncio.timeout(SOON):
            while (lines := await site.lines("open", panels=[], shown=before)) == []:
                await asyncio.sleep(0.1)
        assert lines == [{"changed": ["1-1"]}]


@pytest.mark.parametrize("given", [{"1-1": "yesterday"}, {"1-1": None}, ["1-1"]])
async def test_what_is_shown_is_a_time_for_each_panel(tmp_path: Path, given: Any) -> None:
    """Any other body is refused, with a pointer."""
    async with serve(tmp_path, FILES) as site:
        answer = await site.post("open/-/panels", {"shown": given})
    assert (answer.status_code, answer.json()["error"]["field"].startswith("/shown")) == (422, True)


async def test_an_answer_that_nobody_wants_open_ends(tmp_path: Path) -> None:
    """A response without ``live`` ends after the panels."""
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


@pytest.mark.usefixtures("mount")
@pytest.mark.parametrize(("name", "lines", "cut_off"), [("open", 3, rotate), ("slow", 0, rotate), ("open", 3, end)])
async def test_an_answer_ends_with_its_token(
    tmp_path: Path, name: str, lines: int, cut_off: Callable[[Site], None]
) -> None:
    """While it waits for changes, and while a query runs, which is stopped. Red without the empty first part, from
    which on the token is watched: the response to a customer who was cut off continues."""
    async with serve(tmp_path, FILES, limits={"timeout": 600}) as site:
        async with site.reading(f"{name}/-/panels", {"live": True}) as reader:
            for _ in range(lines):
                await reader.line()
            async with asyncio.timeout(SOON):
                while not lines and not site.sources.in_flight.by_key:
                    await asyncio.sleep(0.01)
            cut_off(site)
            assert await reader.line() == {"token": "ended"}
        assert site.sources.in_flight.by_key == {}


def change(**fields: Any) -> Callable[[Site], None]:
    """Update the group of HA with these fields."""

    def write(site: Site) -> None:
        group = site.backend.groups[handle_of_ha(site)]
        site.backend.write(replace(group, revision=group.revision + 1, **fields))

    return write


def move(site: Site) -> None:
    """Give the data source another URL."""
    (before,) = site.directory.registered
    site.directory.registered = [replace(before, url=f"{before.url}?timeout=60")]


CHANGED = {
    "a property": change(properties={"carrier": "UA"}),
    "the mapping": change(mapping={"main": "ds_1", "more": "ds_1"}),
    "no mapping": change(mapping=None),
    "the name": change(name="Another"),
    "a moved source": move,
    "no source": lambda site: site.directory.registered.clear(),
}


OTHERS = (INSIDE, FASTAPI)


@pytest.mark.usefixtures("mount")
@pytest.mark.parametrize(
    ("name", "mount", "changed"),
    [
        *(("open", mount, changed) for mount in (BARE, *OTHERS) for changed in CHANGED),
        *(("slow", BARE, changed) for changed in CHANGED),
        # Of a group and of a source: on each mount both kinds of ends are seen.
        *(
            pytest.param("slow", mount, changed, marks=pytest.mark.slow)
            for mount in OTHERS
            for changed in ("the name", "a moved source")
        ),
    ],
    indirect=["mount"],
    ids=lambda each: getattr(each, "name", each),
)
async def test_an_answer_ends_with_what_its_rows_were_bound_with(tmp_path: Path, name: str, changed: str) -> None:
    """While the response waits for changes, the page gets the message to load everything again. A running query is
    stopped: after a change of the group the whole response ends, after a change of the source the panel reports it. Red
    when only the token is compared, and when an open response watches no registration."""
    async with serve(tmp_path, FILES, limits={"timeout": 600}) as site:
        async with site.reading(f"{name}/-/panels", {"live": True}) as reader:
            for _ in range(3 if name == "open" else 0):
                await reader.line()
            async with asyncio.timeout(SOON):
                while name == "slow" and not site.sources.in_flight.by_key:
                    await asyncio.sleep(0.01)
            CHANGED[changed](site)
            last = await reader.line()
            if "panel" in last:
                assert last["error"]["code"] == "query_outdated"
                assert await reader.line() == {"end": True}
                last = await reader.line()
            assert last == {"group": "changed"}
        assert site.sources.in_flight.by_key == {}
        assert not len(site.sources.query_watch)


async def test_a_sign_of_life_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty line, so that no proxy closes the idle connection; after its time limit the response ends."""
    monkeypatch.setattr(refresh, "_KEEP_ALIVE_SECONDS", 0.01)
    monkeypatch.setattr(refresh, "_OPEN_SECONDS", 3.0)
    clock = itertools.count().__next__  # a second at each look: two signs
    monkeypatch.setattr(refresh, "monotonic_with_suspend", clock)
    async with serve(tmp_path, FILES) as site:
        answer = await site.post("open/-/panels", {"live": True})
    assert json.loads(answer.text.strip().splitlines()[-1]) == {"end": True}
    assert answer.text.endswith("\n\n\n")


async def test_a_change_that_is_not_known_by_name_is_one_of_every_panel(tmp_path: Path) -> None:
    """For example after the shared cache was lost. Red when only names are compared."""
    async with serve(tmp_path, FILES) as site, site.reading("open/-/panels", {"live": True}) as reader:
        for _ in range(3):
            await reader.line()
        site.sources.changes.notify(None)
        assert await reader.line() == {"changed": ["1-1"]}


async def test_a_group_has_so_many_open_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more response ends after the panels; another group's stays open; one that ends makes space. Red without the
    limit, when all groups share it, and when a place is not released."""
    monkeypatch.setattr(refresh, "MAX_LIVE", 2)
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


async def test_a_viewer_has_so_many_open_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more ends after the panels; another viewer's stays open. Red when only the group's are counted."""
    monkeypatch.setattr(refresh, "MAX_LIVE_OF_VIEWER", 1)
    async with serve(tmp_path, FILES) as site, AsyncExitStack() as others:
        for viewer in ("ada", "bob"):
            site.tokens[viewer] = mint_pass(site.tokens["HA"].decode(), viewer).encode()
            reader = await others.enter_async_context(site.reading("open/-/panels", {"live": True}, viewer))
            assert {"end": True} in [await reader.line() for _ in range(3)]
        async with asyncio.timeout(SOON):
            assert len(await site.lines("open", "ada", live=True)) == 2
        assert len(site.sources.changes) == 2


async def test_open_answers_end_with_the_process(tmp_path: Path) -> None:
    """Open responses end as soon as the process is stopping: else a server waits for their viewers. Red when ``stop``
    does not end them."""
    async with serve(tmp_path, FILES) as site, site.reading("open/-/panels", {"live": True}) as reader:
        for _ in range(3):
            await reader.line()
        await site.sources.stop()
        async with asyncio.timeout(SOON):
            while len(site.sources.changes):
                await asyncio.sleep(0.01)
