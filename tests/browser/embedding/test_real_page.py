"""The real page of real dashboards in a page of another site: what the tests beside this one show of a small page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from engines.chromium import OpenPage
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, noted, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

FILES = {
    "sales/regions.yaml": """title: Flights of {{ carrier }}
controls:
  route: {choices: [A-B, A-C]}
rows:
  - {heading: All}
  - {figure: flights, query: {sql: "select count(*) as flights from flights where carrier = {{ carrier }}
      [[and route = {{ params.route }}]]"}}
""",
}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def test_a_real_dashboard_is_embedded(open_page: OpenPage, real: Sites) -> None:
    """It shows its group, follows a rotation with one question to the host, takes filters from it, and both consoles
    and policies are clean; the token stands in no request's address."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")

    async def text() -> str:
        frames = dashboards(seen.page, real)
        return await frames[0].locator("body").inner_text() if frames else ""

    async def holds(*words: str) -> bool:
        found = await text()
        return all(word in found for word in words)

    await until(lambda: holds("Flights of HA", "120"), "the figure")
    await real.rotate("acme")
    await seen.page.evaluate("document.querySelector('#acme').setFilters({route: 'A-B'})")
    await until(lambda: holds("Flights of HA", "60"), "the figure of one route")
    found = await noted(seen.page)
    assert found["asked"] == {"acme": 2}
    assert [event for event in found["events"] if event[1] == "error"] == []
    heights = [event[2] for event in found["events"] if event[1] == "height"]
    assert heights
    assert max(heights) < 3_000
    assert await seen.violations() == []
    assert [text for text in seen.console if "401" not in text] == []  # the answer to the token that had died
    assert not [line for line in real.requests for token in real.tokens if token in line]
