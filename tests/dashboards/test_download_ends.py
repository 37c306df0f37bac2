"""A file that is still sent ends when its group is rotated, changed or deleted, or its data source is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tenantry.dashboards.access import Access
from tenantry.dashboards.folder import DashboardFolder
from tenantry.dashboards.panels.downloads import Downloads, RowsFile
from tenantry.dashboards.single_use_codes import SingleUseCodes
from tenantry.datasources import source_lookup
from tenantry.errors import (
    PassExpired,
    PassRevoked,
    QueryOutdated,
    TenantryError,
    UserGroupExpired,
    UserGroupSuspended,
)
from tenantry.groups import Record, Viewer
from tests.dashboards.served import SOON, Site, serve
from tests.dashboards.test_tables import Stored, end

MANY = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000) select i from n"


def write(**fields: Any) -> Callable[[Site], None]:
    """Writes HA anew, with these fields."""

    def change(site: Site) -> None:
        group = next(each for each in site.backend.groups.values() if each.provided_id == "ha")
        site.backend.groups[group.handle] = replace(group, revision=group.revision + 1, **fields)

    return change


def move(site: Site) -> None:
    """The data source has another URL."""
    (before,) = site.directory.registered
    site.directory.registered = [replace(before, url=f"{before.url}?timeout=60")]


CUT_OFF: dict[str, tuple[Callable[[Site], None], type[TenantryError]]] = {
    "rotated": (lambda site: site.rotate("HA"), QueryOutdated),
    "ended": (lambda site: end(site, datetime.now(UTC) + timedelta(seconds=0.5)), UserGroupExpired),
    "deleted": (lambda site: site.backend.groups.clear(), QueryOutdated),
    "suspended": (write(suspended=True), UserGroupSuspended),
    "a property": (write(properties={"carrier": "UA"}), QueryOutdated),
    "the mapping": (write(mapping={"main": "ds_2"}), QueryOutdated),
    "no mapping": (write(mapping=None), QueryOutdated),
    "a moved source": (move, QueryOutdated),
    "no source": (lambda site: site.directory.registered.clear(), QueryOutdated),
}


@pytest.mark.parametrize(("change", "error"), CUT_OFF.values(), ids=CUT_OFF)
async def test_a_file_that_is_still_sent_ends_with_what_it_was_bound_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Site], None], error: type[TenantryError]
) -> None:
    """Within the staleness bound, as every stream, though its reader reads nothing meanwhile. Red when the token is all
    that is compared: a file went on for a minute after its group's mapping was cleared."""
    monkeypatch.setattr(source_lookup, "STALENESS", 0.5)
    files = {"dashboards/routes.yaml": f'title: a\nrows: [{{table: {{sql: "{MANY}"}}}}]\n'}
    async with serve(tmp_path, files, store=Stored) as site, download(site, tmp_path) as pieces:
        await anext(pieces)
        change(site)
        async with asyncio.timeout(SOON):
            while len(site.sources.query_watch):
                await asyncio.sleep(0.01)
        with pytest.raises(error):
            await anext(pieces)


@pytest.mark.parametrize("change", [lambda _: None, lambda site: end(site, datetime.now(UTC) + timedelta(days=1))])
async def test_a_file_goes_on_while_its_group_is_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Site], None]
) -> None:
    """To its last row, also where the end date was moved. Red when a check that is good ends it."""
    monkeypatch.setattr(source_lookup, "STALENESS", 0.5)
    files = {"dashboards/routes.yaml": f'title: a\nrows: [{{table: {{sql: "{MANY}"}}}}]\n'}
    async with serve(tmp_path, files, store=Stored) as site:
        end(site, datetime.now(UTC) + timedelta(hours=1))
        async with download(site, tmp_path) as pieces:
            body = [await anext(pieces)]
            change(site)
            await next_check(site)
            body += [piece async for piece in pieces]
        assert b"".join(body).endswith(b"\r\n500000\r\n")


async def test_a_file_ends_with_the_pass_of_its_viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its end, and not at the next check, which is minutes away. Red without ``at_end_of_pass``, and when the error
    is QueryOutdated. A query of a pass would end at the first check if the group that is read then had no viewer."""
    monkeypatch.setattr(source_lookup, "STALENESS", 100 * SOON)
    files = {"dashboards/routes.yaml": f'title: a\nrows: [{{table: {{sql: "{MANY}"}}}}]\n'}
    async with serve(tmp_path, files, store=Stored) as site:
        now = datetime.now(UTC).replace(microsecond=0)
        viewer = Viewer("ada", Record({}), (), now, now + timedelta(seconds=2), 1)
        async with download(site, tmp_path, viewer) as pieces:
            await anext(pieces)
            async with asyncio.timeout(SOON):
                while len(site.sources.query_watch):
                    await asyncio.sleep(0.01)
            assert datetime.now(UTC) >= viewer.expires_at
            with pytest.raises(PassExpired):
                await anext(pieces)
        with pytest.raises(HTTPException, match="410"):
            async with download(site, tmp_path, viewer):
                pass


async def test_a_file_ends_when_its_viewer_is_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of another viewer goes on, and a code that the viewer has not used is gone. Red when a check looks at
    the group without its viewer."""
    monkeypatch.setattr(source_lookup, "STALENESS", 0.5)
    files = {"dashboards/routes.yaml": f'title: a\nrows: [{{table: {{sql: "{MANY}"}}}}]\n'}
    now = datetime.now(UTC)
    ann, bob = [Viewer(name, Record({}), (), now, now + timedelta(hours=1), 1) for name in ("ann", "bob")]
    async with serve(tmp_path, files, store=Stored) as site, download(site, tmp_path, bob) as others:
        await anext(others)
        unused = await code(site, tmp_path, ann)
        async with download(site, tmp_path, ann) as pieces:
            await anext(pieces)
            write(revoked_viewers=Record({"ann": int(now.timestamp()) + 1}))(site)
            async with asyncio.timeout(SOON):
                while len(site.sources.query_watch) > 1:
                    await asyncio.sleep(0.01)
            with pytest.raises(PassRevoked):
                await anext(pieces)
        with pytest.raises(HTTPException, match="410"):
            await unused()
        assert [piece async for piece in others][-1].endswith(b"\r\n500000\r\n")


async def test_a_query_of_a_pass_goes_on_through_its_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_lookup, "STALENESS", 0.5)
    files = {"dashboards/routes.yaml": f'title: a\nrows: [{{table: {{sql: "{MANY}"}}}}]\n'}
    now = datetime.now(UTC)
    viewer = Viewer("ada", Record({"region": "eu"}), (), now, now + timedelta(hours=1), 1)
    async with serve(tmp_path, files, store=Stored) as site, download(site, tmp_path, viewer) as pieces:
        body = [await anext(pieces)]
        await next_check(site)
        body += [piece async for piece in pieces]
        assert b"".join(body).endswith(b"\r\n500000\r\n")


async def next_check(site: Site) -> None:
    """Wait until the one query has passed another check."""
    (watched,) = site.sources.query_watch._watched
    certain = watched.certain_until
    async with asyncio.timeout(SOON):
        while watched.certain_until == certain:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def download(site: Site, folder: Path, viewer: Viewer | None = None) -> AsyncIterator[AsyncIterator[bytes]]:
    """The pieces of the file of the one panel."""
    redeem = await code(site, folder, viewer)
    answer = await redeem()
    assert isinstance(answer, RowsFile)
    async with answer.opened, aclosing(answer.pieces) as pieces:
        yield pieces


async def code(site: Site, folder: Path, viewer: Viewer | None) -> Callable[[], Awaitable[Response]]:
    """A code for the file, to be redeemed by a call."""
    store = cast("Stored", site.sources.store)
    saved = DashboardFolder(folder / "dashboards")
    codes, left = SingleUseCodes(store.codes), site.resolver.seconds_left
    downloads = Downloads(codes, store.groups, Access(saved), site.sources, 5.0, left)
    group = next(each for each in site.backend.groups.values() if each.provided_id == "ha")
    if viewer is not None:
        group = group.with_viewer(viewer)
    return partial(downloads.respond, await downloads.issue(group, saved["routes"], "1-1", {}), {})
