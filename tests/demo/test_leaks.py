"""The leak kit on the demo, in small; benchmarks/acceptance has 412 groups."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchmarks.acceptance.attacks.leak_demo import PARAMS, TEMPLATES, LeakDemo, leak_demo
from tenantry.demo import app, queries
from tenantry.sql import SQLTemplate
from tenantry.testing import LeakFound


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[LeakDemo]:
    async with leak_demo(tmp_path, 6) as ready:
        yield ready


async def test_no_template_shows_rows_of_another_group(demo: LeakDemo) -> None:
    """Twenty templates on both engines. Red when a filter by the carrier is taken out of one: see the next test."""
    assert len(TEMPLATES) == 20
    for template in TEMPLATES:
        demo.leaks.check_template(template)
        await demo.leaks.check_rows(template, demo.sources, "flights", params=PARAMS)


async def test_a_template_without_its_filter_is_found(demo: LeakDemo) -> None:
    """Each whose rows show a text, and whose other conditions let the rows of others through."""
    found = 0
    for template in TEMPLATES:
        text = template.text.replace("carrier = {{ carrier }}", "{{ carrier }} <> ''")
        text = text.replace("carrier = '{{ carrier }}'", "'{{ carrier }}' <> ''").replace("like '{{", "not like 'x{{")
        try:
            await demo.leaks.check_rows(text, demo.sources, "flights", params={**PARAMS, "limit": 100})
        except LeakFound:
            found += 1
    assert found == 13


async def test_no_page_shows_another_group(demo: LeakDemo) -> None:
    """Every route of the app, with real tokens: bodies, headers, logs, SQL, parameters and rows."""
    await demo.check_app()


async def test_a_demo_that_remembers_its_pages_is_found(demo: LeakDemo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the page of whoever came first, for all."""
    pages: list[tuple[int, str]] = []
    render = app.render

    async def remembered(*arguments: object) -> tuple[int, str]:
        pages.append(await render(*arguments))  # type: ignore[arg-type]
        return pages[0]

    monkeypatch.setattr(app, "render", remembered)
    with pytest.raises(LeakFound, match=r"GET /d/\{handle\}/, run 1: response body for Group 2 has"):
        await demo.check_app()


async def test_a_demo_that_remembers_its_rows_is_found(demo: LeakDemo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows by the query alone, as a cache whose key lacks the group: the page that is made of them shows it."""
    rows: dict[SQLTemplate, object] = {}
    ask = queries.Asker.rows

    async def remembered(self: queries.Asker, query: SQLTemplate, period: queries.Period) -> object:
        if query not in rows:
            rows[query] = await ask(self, query, period)
        return rows[query]

    monkeypatch.setattr(queries.Asker, "rows", remembered)
    with pytest.raises(LeakFound, match="has a destination of Group 1"):
        await demo.check_app()
