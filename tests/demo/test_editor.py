"""The editor of the demo: an analyst ships a panel, and the customers of the product see it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.demo import command_here
from tenantry.demo.files import PACKED, copy_files
from tenantry.editor import EditorAuthor, EditorSessions
from tenantry.groups import Author
from tests.demo.stage import URL, Stage, put_flights, staged

FILE = "dashboards/delays.yaml"


class Analyst:
    def __init__(self, client: httpx2.AsyncClient, cookie: str) -> None:
        self.client = client
        self._headers = {"X-Tenantry-Editor": "1", "Cookie": cookie}

    async def ask(self, path: str, /, **body: Any) -> Any:
        answer = await self.client.post(f"/editor/-/{path}", json=body, headers=self._headers)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
async def own_stage(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """With files that only this test changes."""
    put_flights(tmp_path, tmp_path_factory)
    async with staged(tmp_path) as ready:
        yield ready


@pytest.fixture
async def analyst(own_stage: Stage) -> AsyncIterator[Analyst]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=own_stage.app), base_url=URL) as client:
        code = await EditorSessions(own_stage.store).issue(EditorAuthor("analyst"), Author("operator"))
        opened = await client.post("/editor/-/session", json={"code": code}, headers={"X-Tenantry-Editor": "1"})
        client.cookies.clear()
        yield Analyst(client, opened.headers["set-cookie"].partition(";")[0])


async def panels(analyst: Analyst, stage: Stage, carrier: str) -> dict[str, Any]:
    """What the viewers of this airline get."""
    headers = {"X-User-Group-Token": stage.tokens[carrier]}
    answer = await analyst.client.post("/dashboards/delays/-/panels", json={}, headers=headers)
    assert answer.status_code == 200, answer.text
    lines = [json.loads(line) for line in answer.text.splitlines()]
    return {each["panel"]: each for each in lines if "panel" in each}


async def test_a_saved_panel_reaches_the_customers_at_once(own_stage: Stage, analyst: Analyst) -> None:
    """Each its own rows, without a restart. Red when the demo reads its dashboards once, and when it serves the packed
    files. A mistake does not reach them."""
    query = "select count(*) as flights from flights where carrier = {{ user_group.properties.carrier }}"
    await analyst.ask("file/save", path="queries/all_flights.sql", text=query, revision=None)
    before = await panels(analyst, own_stage, "UA")
    opened = await analyst.ask("file", path=FILE)
    text = re.sub(r"^rows:\n", "rows:\n  - {figure: flights, query: all_flights}\n", opened["text"], flags=re.MULTILINE)
    saved = await analyst.ask("file/save", path=FILE, text=text, revision=opened["revision"])
    shown = {carrier: await panels(analyst, own_stage, carrier) for carrier in ("UA", "HA")}
    assert len(shown["UA"]) == len(before) + 1
    assert (shown["UA"]["1-1"]["rows"], shown["HA"]["1-1"]["rows"]) == ([[58665]], [[342]])
    await analyst.ask("file/save", path=FILE, text="title: 1\n", revision=saved["revision"])
    assert len(await panels(analyst, own_stage, "UA")) == len(before) + 1
    assert (PACKED / FILE).read_text().count("all_flights") == 0


def test_a_later_start_keeps_what_was_saved(tmp_path: Path) -> None:
    """Red when each start copies the files again."""
    dashboards = copy_files(tmp_path)
    (dashboards / "delays.yaml").write_text("title: Mine\nrows: []\n")
    assert copy_files(tmp_path) == dashboards
    assert (dashboards / "delays.yaml").read_text().startswith("title: Mine")
    copied = {file.relative_to(dashboards.parent) for file in dashboards.parent.rglob("*") if file.is_file()}
    packed = {file.relative_to(PACKED) for kind in ("dashboards", "queries") for file in (PACKED / kind).iterdir()}
    assert copied == packed | {Path("tables.yaml")}


def test_a_printed_command_can_be_run_where_tenantry_is_not_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after ``make demo``. Red when it said ``tenantry``."""
    program = tmp_path / ".venv" / "bin" / "tenantry"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command_here() == ".venv/bin/tenantry"
    (tmp_path / "tenantry").touch(0o755)
    assert command_here() == "tenantry"
