"""The leak kit on the demo, in small; benchmarks/acceptance has 412 groups."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.acceptance.attacks.leak_demo import PARAMS, LeakDemo, leak_demo, templates
from tenantry.datasources import DataSources
from tenantry.datasources.results import Result
from tenantry.sql import SQLTemplate
from tenantry.testing import LeakFound

pytestmark = pytest.mark.slow


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[LeakDemo]:
    async with leak_demo(tmp_path, 6) as ready:
        yield ready


async def test_no_template_shows_rows_of_another_group(demo: LeakDemo) -> None:
    """Twenty templates on both engines. Red when a filter by the carrier is taken out of one: see the next test."""
    assert len(templates()) == 20
    for name, template in templates().items():
        demo.leaks.check_template(template, name=name)
        await demo.leaks.check_rows(template, demo.sources, "flights", params=PARAMS, name=name)


async def test_a_template_without_its_filter_is_found(demo: LeakDemo) -> None:
    """Each of the further ones that has it."""
    found = 0
    for name, template in templates().items():
        text = template.text.replace("carrier = {{ carrier }}", "{{ carrier }} <> ''")
        if not name.startswith("more ") or text == template.text:
            continue
        try:
            await demo.leaks.check_rows(text, demo.sources, "flights", params=PARAMS)
        except LeakFound:
            found += 1
    assert found == 6


async def test_no_answer_shows_another_group(demo: LeakDemo) -> None:
    """Every route of the app, with real tokens: bodies, headers, logs, SQL, parameters and rows."""
    await demo.check_app()


async def test_a_demo_that_remembers_its_rows_is_found(demo: LeakDemo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: rows by the query alone, as a cache whose key lacks the group. The panels that are made of them show
    them."""
    rows: dict[SQLTemplate, Result] = {}
    ask = DataSources.query

    async def remembered(self: DataSources, group: Any, schema: str, query: Any, *more: Any, **options: Any) -> Result:
        if query not in rows:
            rows[query] = await ask(self, group, schema, query, *more, **options)
        return rows[query]

    monkeypatch.setattr(DataSources, "query", remembered)
    with pytest.raises(LeakFound, match="response body for Group 2 has"):
        await demo.check_app()
