"""The mounts differ only in addresses and in the headers of a middleware: tests that depend on these run in each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.dashboards import mounts
from tests.dashboards.mounts import BARE, MOUNTS, Mounting
from tests.dashboards.served import Site, serve
from tests.dashboards.test_live import rotate
from tests.dashboards.test_tables import Stored
from tests.datasources.conftest import PRODUCTION

HERE = Path(__file__).parent
SPEAKS_HTTP = re.compile(r"\bserve\(|\bmount_dashboards\(|helpers import .*\b(?:client|get)\b|\bPreviewed\b")
"""What serves dashboards in a test."""
TAKES_PART = re.compile(r'usefixtures\("mount(?:_inside)?"\)|mounts\.MOUNTS|params=\[mounts\.')
IN_ONE_MOUNT = {
    "test_answer_budget.py",
    "test_download_ends.py",
    "test_explanation.py",
    "test_kinds.py",
    "test_left_out.py",
    "test_named_columns.py",
    "test_parameters.py",
    "test_renderer.py",
    "test_table_pages.py",
    "test_zones.py",
}
"""Files about what a body says: no test of theirs depends on an address, a cookie or a header."""

FILES = {
    "dashboards/flights.yaml": """
title: Flights of {{ carrier }}
controls: {worst: {number: 100}}
rows:
  - {figure: flights, query: late}
  - {table: {sql: "select day, route, delay from flights where carrier = {{ carrier }}"}, page: 10}
  - {table: {sql: select nothing from nowhere}}
""",
    "queries/late.sql": "select count(*) as n from flights where carrier = {{ carrier }} and delay> {{ params.worst }}",
}
PANELS = "/dashboards/flights/-/panels"
VARYING = re.compile(
    r'"(?:as_of|age)": ?[\d.]+|"now": ?"[^"]+"|(?<=/-/download/)[\w-]+|(?<=USER_GROUP_TOKEN=)[\w.-]+'
    r"|(?<=group=)[0-9a-f]{32}|(?<=__Host-tenantry-)[0-9a-f]{32}=[\w.-]+"
)
"""What two answers of one mount differ in: times, codes, and what names a group."""

Answer = tuple[int, dict[str, str], str]


def test_there_are_four_mounts() -> None:
    """Red when one is taken out."""
    assert [each.name for each in MOUNTS] == ["bare", "inside", "prefixed", "fastapi"]


def test_each_module_that_serves_dashboards_runs_in_the_mounts() -> None:
    """Red for a new module without ``usefixtures("mount")``, and for a name in IN_ONE_MOUNT that is no such module."""
    modules = [file for file in HERE.rglob("test_*.py") if file != Path(__file__)]
    serving = [file for file in modules if SPEAKS_HTTP.search(file.read_text())]
    assert len(serving) > 12
    assert {file.name for file in serving if not TAKES_PART.search(file.read_text())} == IN_ONE_MOUNT


async def _answers(site: Site) -> dict[str, Answer]:
    """The answers to each kind of request, by request, without what varies, and as if there were no prefix."""
    token = site.headers()
    found: dict[str, Answer] = {}
    last: dict[str, str] = {}

    async def ask(method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> str:
        answer = await site.client.request(method, path, json=body, headers=headers)
        text = VARYING.sub("", answer.text).replace(f"{site.prefix}/dashboards", "/dashboards")
        if answer.headers.get("content-type") == "application/x-ndjson":  # each panel comes when its query is done
            text = "\n".join(sorted(text.splitlines()))
        kept = {name: VARYING.sub("", value) for name, value in answer.headers.items() if name != "content-length"}
        if "location" in kept:
            kept["location"] = kept["location"].replace(f"{site.prefix}/dashboards", "/dashboards")
        found[f"{method} {VARYING.sub('', path)} {body} {sorted(headers or {})} {len(found)}"] = (
            answer.status_code,
            kept,
            text,
        )
        last.update(answer.headers)
        return answer.text

    frame = await ask("GET", "/dashboards/flights")
    for asset in re.findall(r'(?:src|href|content)="([^"]*/-/assets/[^"]+)"', frame):
        await ask("GET", asset.removeprefix(site.prefix))
    for path in ("", "/", "/nothing", "/flights/", "/flights%2F-", "/-/assets/nothing.js", "/-/download/nothing"):
        await ask("GET", f"/dashboards{path}")
    for method in ("HEAD", "PUT", "OPTIONS"):
        await ask(method, "/dashboards/flights")
    await ask("POST", PANELS, {})
    await ask("GET", PANELS, headers=token)
    for body in ({}, {"filters": {"worst": "3"}, "panels": [{"id": "1-1"}]}, {"panels": [{"id": "2-1", "page": 2}]}):
        await ask("POST", PANELS, body, token)
    for body in ([], {"filters": {"worst": "x"}}, {"filters": {"none": "x"}}, {"panels": [{"id": "9-9"}]}):
        await ask("POST", PANELS, body, token)
    await ask("POST", f"{PANELS}/1-1/explanation", {}, token)
    await ask("POST", f"{PANELS}/1-1/nothing", {}, token)
    address = json.loads(await ask("POST", f"{PANELS}/2-1/download", {}, token))["address"]
    for _ in range(2):
        await ask("GET", address.removeprefix(site.prefix))
    await ask("GET", f"/dashboards/flights?USER_GROUP_TOKEN={site.tokens['HA'].decode()}")
    page, cookie = last["location"].removeprefix(site.prefix), last["set-cookie"].split(";")[0]
    visit = {"Cookie": cookie, "X-User-Group-Handle": page.partition("group=")[2]}
    await ask("GET", page, headers={"Cookie": cookie})
    shown = await ask("POST", PANELS, {}, visit)
    assert "delay" in shown, "rows of the group that the cookie is of"
    await ask("POST", PANELS, {}, {"Cookie": cookie})
    await ask("POST", PANELS, {}, visit | {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"})
    return found


async def _live_lines(site: Site) -> list[str]:
    """What an answer says that stays open: its panels, a change, and the end of its token."""
    async with site.reading("flights/-/panels", {"live": True}) as reader:
        panels = [await reader.line() for _ in range(4)]
        await site.sources.changed(PRODUCTION, "own_1")
        changed = await reader.line()
        rotate(site)
        lines = [*panels, changed, await reader.line()]
    assert lines[-1] == {"token": "ended"}
    assert {"end": True} in panels
    return [*sorted(VARYING.sub("", json.dumps(each)) for each in panels), json.dumps(changed)]


def _without_middleware(answer: Answer) -> Answer:
    """The answer without what a UserGroupMiddleware adds for caches: the carriers that it reads, and ``private``."""
    status, headers, text = answer
    cached = headers.get("cache-control")
    return (
        status,
        {
            name: value
            for name, value in headers.items()
            if name != "vary" and not (name == "cache-control" and cached == "private")
        },
        text,
    )


@pytest.mark.parametrize("mount", MOUNTS[1:], ids=lambda mount: mount.name)
async def test_a_mount_differs_in_addresses_and_cache_headers(
    mount: Mounting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So what a body says is tested in one mount. Red when a mount loses a header, a status, a panel, the cookie of
    a visit or the end of an open answer, and when an address lacks the prefix."""
    found: dict[str, dict[str, Answer]] = {}
    live: dict[str, list[str]] = {}
    for each in (BARE, mount):
        monkeypatch.setattr(mounts, "current", each)
        folder = tmp_path / each.name
        folder.mkdir()
        async with serve(folder, FILES, store=Stored, frame_ancestors=["https://app.example.com"]) as site:
            found[each.name] = await _answers(site)
            live[each.name] = await _live_lines(site)
    assert live[mount.name] == live[BARE.name]
    assert len(found[BARE.name]) > 20
    assert {status for status, _, _ in found[BARE.name].values()} >= {200, 303, 307, 401, 403, 404, 405, 410, 422}
    if not mount.is_inside:
        assert found[mount.name] == found[BARE.name]
        return
    assert all("X-User-Group-Token" in headers["vary"] for _, headers, _ in found[mount.name].values())
    assert {name: _without_middleware(answer) for name, answer in found[mount.name].items()} == {
        name: _without_middleware(answer) for name, answer in found[BARE.name].items()
    }
