"""What is kept of the texts that authors type."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tenantry.editor.drafts import DashboardUses
from tenantry.editor.workspace import Workspace
from tests.dashboards.served import write_files
from tests.editor.served import ENVIRONMENT, FILES, EditorSite, served_editor

MIB = 2**20
GROUP = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql"}


async def traced(site: EditorSite, path: str, bodies: list[dict[str, Any]]) -> float:
    """The MiB that are kept after these requests."""
    gc.collect()
    tracemalloc.start()
    try:
        for body in bodies:
            assert (await site.post(path, **GROUP, **body)).status_code == 200
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / MIB
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["meaning", "check"])
async def test_long_texts_are_not_kept(path: str, tmp_path: Path) -> None:
    """Red when the compiler keeps a number of queries, however long they are."""
    long = "x" * 250_000
    texts = [f"select {number} as n where {{{{ user_group.properties.carrier }}}} <> '{long}'" for number in range(12)]
    async with served_editor(tmp_path) as site:
        await site.post(path, **GROUP, text="select 1 as n")  # what the first request imports stays
        assert await traced(site, path, [{"text": text} for text in texts]) < 4.5


async def test_long_drafts_are_not_kept(tmp_path: Path) -> None:
    """Red when QueryDrafts keeps a number of sets."""
    long = "-- " + "x" * 250_000 + "\N{GRINNING FACE}"
    names = [[f"queries/new_{number}{part}.sql" for part in "ab"] for number in range(20)]
    bodies = [{"text": "select 1 as n", "drafts": dict.fromkeys(pair, long)} for pair in names]
    async with served_editor(tmp_path) as site:
        assert await traced(site, "variables", bodies) < 25


def test_dashboards_that_are_no_longer_typed_are_not_kept(tmp_path: Path) -> None:
    """Red when DashboardUses keeps the drafts of dashboards that no file has."""
    write_files(tmp_path, FILES)
    uses = DashboardUses(Workspace(tmp_path / "dashboards"))
    for number in range(3):
        drafts = {f"dashboards/new_{number}.yaml": "title: Typed\nrows:\n  - {table: by_day}\n"}
        assert {each.name for each in uses.of("by_day", {}, drafts)} == {"flights", f"new_{number}"}
    assert uses._read.keys() == {"dashboards/flights.yaml", "dashboards/new_2.yaml"}
