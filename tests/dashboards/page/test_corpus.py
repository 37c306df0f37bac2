"""The dashboards of the corpus that once showed something wrong, served as an author sees them."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.sample import Sample, sample
from tests.dashboards.page.test_fitting import BEYOND, OVERFLOWING, WIDTHS, whole_of

NAMES = ("money", "neg", "nulls")


@pytest.fixture
async def served(corpus: Path, tmp_path: Path) -> AsyncIterator[Sample]:
    folder = tmp_path / "dashboards"
    (folder / "queries").mkdir(parents=True)
    for name in NAMES:
        shutil.copy(corpus / "dashboards" / f"{name}.yaml", folder)
    for file in (corpus / "dashboards" / "queries").glob("*.sql"):
        if "zone" not in file.read_text():
            shutil.copy(file, folder / "queries")
    async with sample(folder) as served:
        yield served


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
async def test_nothing_is_cut(served: Sample, visit: Visit, tmp_path: Path, name: str, width: int) -> None:
    """Figures, labels and legends, at each width. Red for six cards of money at 1,280 pixels before numbers became
    smaller."""
    seen = await visit(f"{served.url}/{name}", extra_http_headers=served.headers, width=width)
    assert await seen.page.evaluate(OVERFLOWING) == []
    assert await seen.page.evaluate(BEYOND) == []
    if name == "money":
        said = await whole_of(seen.page)
        assert said[0].startswith("$1,234,567,890")
        assert said[1].startswith("$234,567,890")
    await seen.page.screenshot(path=tmp_path / f"{name}-{width}.png", full_page=True)
    assert await seen.page.locator("[data-state=failed]").count() == 0


async def test_rows_out_of_order_and_twice(served: Sample, visit: Visit) -> None:
    """A line of unordered days goes from left to right; a line of two values for a day says so."""
    page = (await visit(f"{served.url}/nulls", extra_http_headers=served.headers)).page
    path = await page.locator(".panel", has_text="unordered dates").locator("path.line").get_attribute("d")
    places = [float(point.split(",")[0]) for point in (path or "").lstrip("M").split("L")]
    assert places == sorted(places)
    page = (await visit(f"{served.url}/neg", extra_http_headers=served.headers)).page
    twice = page.locator(".panel", has_text="duplicate dates in line").locator(".chart-note")
    assert await twice.inner_text() == "1 value shares its place on a line with another one."
