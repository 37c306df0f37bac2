"""Numbers on their way from an engine to the page and to a file: none loses a digit."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.sample import sample
from tests.dashboards.page.test_fitting import whole_of

pytestmark = pytest.mark.slow

FILE = """
title: Exact
rows:
  - - {figure: large, query: {sql: "select 9007199254740993::bigint as large"}}
    - {figure: total, query: {sql: "select sum(i + 9007199254740993)::hugeint as total from range(4) t(i)"}}
    - {figure: price, query: {sql: "select 12345678901234567.89::decimal(38, 2) as price"}}
    - {figure: tiny, query: {sql: "select 0.0004 as tiny"}}
  - table: {sql: "select 9007199254740993::bigint as large, 12345678901234567.89::decimal(38, 2) as price, 0.1 as part"}
    columns: [large, {price: currency}, part]
  - vega: {mark: bar, encoding: {y: {field: part, type: quantitative}, x: {field: k, type: nominal}}}
    query: {sql: "select 'a' as k, 0.5::decimal(9, 2) as part union all select 'b', 0.25"}
    title: Vega
"""


async def test_no_digit_is_lost(tmp_path: Path, visit: Visit) -> None:
    """Integers and decimals of DuckDB in figures, a table, a Vega-Lite chart and a file. Red when decimals travel as
    numbers: the browser reads the nearest double, 12345678901234568."""
    folder = tmp_path / "dashboards"
    folder.mkdir()
    (folder / "exact.yaml").write_text(FILE)
    async with sample(folder) as served:
        page = (await visit(f"{served.url}/exact", extra_http_headers=served.headers)).page
        assert await whole_of(page) == [
            "9,007,199,254,740,993",
            "36,028,797,018,963,978",
            "12,345,678,901,234,567.89",
            "0.0004",
        ]
        cells = page.locator("tbody tr").first.locator("th, td")
        assert await cells.all_inner_texts() == ["9,007,199,254,740,993", "$12,345,678,901,234,568", "0.1"]
        assert await cells.nth(1).get_attribute("title") == "$12,345,678,901,234,567.89"
        bars = page.locator(".vega svg .mark-rect path")
        await bars.first.wait_for()  # its bundle comes after the rows
        heights = await bars.evaluate_all("all => all.map((e) => e.getBBox().height)")
        assert heights[0] == 2 * heights[1] > 0
        await page.close()  # its answer is open, for which the server would wait
        async with httpx2.AsyncClient(headers=served.headers) as client:
            answer = await client.post(f"{served.url}/exact/-/panels/2-1/download", json={})
            file = await client.get(served.url.removesuffix("/dashboards") + answer.json()["address"])
        assert file.text == "\ufefflarge,price,part\r\n9007199254740993,12345678901234567.89,0.1\r\n"
