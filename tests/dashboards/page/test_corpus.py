"""The dashboards of the corpus that once showed something wrong, served as an author sees them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import CHARTS, NEAR, drawn, faults
from tests.dashboards.page.sample import Sample, sample
from tests.dashboards.page.test_fitting import BEYOND, OVERFLOWING, WIDTHS, whole_of

pytestmark = pytest.mark.slow

NAMES = ("money", "neg", "nulls")
SAID = {
    "donut with negative": "Some values are below 0, so they are not parts of a whole.",
    "all zero donut": "All values are 0, so there are no parts of a whole.",
    "all null line": "There is nothing here for this choice.",
    "zero rows": "There is nothing here for this choice.",
}
NOTED = {
    "share bars with negatives": "Some values are below 0, so these are the values and not their shares.",
    "limit 2 of means (40 45 50 55 pct)": "And 3 more.",
}


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


@pytest.mark.parametrize("name", ["neg", "nulls"])
async def test_values_below_zero_and_none(served: Sample, visit: Visit, name: str) -> None:
    """Marks within their drawings, sentences in place of empty axes, no sum of means. Red for "Other (3)" with 165 %,
    for a share of 167 % and for a ring of 10, -5 and 5."""
    page = (await visit(f"{served.url}/{name}", extra_http_headers=served.headers)).page
    panels = await drawn(page)
    titles = await page.locator(".panel").evaluate_all(
        "all => all.map((each) => [each.dataset.panel, each.querySelector('.panel-title').textContent])"
    )
    found = {title: panels[panel] for panel, title in titles}
    assert {title: [*faults(panel)] for title, panel in found.items() if [*faults(panel)]} == {}
    for title, panel in found.items():
        if panel.kind in CHARTS:
            assert panel.sentence == SAID.get(title, "")
            assert NOTED.get(title, "") in panel.notes
    if name == "neg":
        means = found["limit 2 of means (40 45 50 55 pct)"]
        assert (means.names, means.amounts) == (["e", "d"], ["60.0%", "55.0%"])
        assert found["null / empty / 'null' / '–' names"].names == ["(no value)", "(empty)", "null", "–"]
        assert [name for (name,) in found["series null and empty"].legend] == ["(no value)", "(empty)", "null"]
        below = found["hbar with negatives"].of("bar")
        assert below[1].box.right == pytest.approx(below[0].box.x, abs=NEAR)
    else:
        assert len(found["stacked area, single date"].of("layer")) == 4


async def test_an_absent_pair_is_as_a_zero(corpus: Path, tmp_path: Path, visit: Visit) -> None:
    """Both stacked areas have the same layers. Red when a layer without a row, or of zero, falls to the axis."""
    folder = tmp_path / "dashboards"
    (folder / "queries").mkdir(parents=True)
    shutil.copy(corpus / "dashboards" / "stack.yaml", folder)
    for name in ("full", "sparse"):
        shutil.copy(corpus / "dashboards" / "queries" / f"{name}.sql", folder / "queries")
    make = corpus / "dashboards" / "make_stack.py"
    subprocess.run([sys.executable, str(make)], cwd=tmp_path, check=True)  # our own words
    async with sample(folder, url=f"sqlite:///{tmp_path}/s.db", x=1) as served:
        page = (await visit(f"{served.url}/stack", extra_http_headers=served.headers)).page
        panels = await drawn(page)
    layers = [[mark.parts for mark in panels[panel].of("layer")] for panel in ("1-1", "1-2")]
    assert len(layers[0]) == 3
    assert layers[0] == layers[1]
    axis = panels["1-1"].axis
    (third,) = [part for mark in panels["1-1"].of("layer", series="B") for part in mark.parts]
    assert [axis.value(third[place][1]) for place in (2, 5)] == pytest.approx([10, 10], abs=0.3)
