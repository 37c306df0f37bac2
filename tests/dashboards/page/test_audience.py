"""Pages of two groups of which one sees less: nothing shows that there is more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.dashboards.page.conftest import Visit, box_of, come
from tests.dashboards.page.sample import sample
from tests.dashboards.served import write_files

PLAN = "{property: plan, in: [pro]}"
FILES = {
    "dashboards/sales.yaml": f"""
title: Sales
rows:
  - {{heading: Of plan pro, when: {PLAN}}}
  - - {{figure: a, query: {{sql: select 1 as a}}, title: First, width: 3}}
    - {{figure: a, query: {{sql: select 2 as a}}, title: Second, width: 6, when: {PLAN}}}
    - {{bar: a, by: b, query: {{sql: "select 3 as a, 'x' as b"}}, title: Third, width: 3, click: {{open: forecast}}}}
  - {{line: a, by: b, query: {{sql: "select 3 as a, 1 as b"}}, title: Fourth, when: {PLAN}}}
""",
    "dashboards/forecast.yaml": f"title: Forecast\nwhen: {PLAN}\nrows: [{{text: Hello}}]\n",
    "dashboards/plans.yaml": f"""
title: Plans
when: {PLAN}
rows:
  - {{text: Hello}}
  - - {{figure: a, query: {{sql: select 1 as a}}}}
    - {{line: a, by: b, query: {{sql: "select 3 as a, 1 as b"}}, when: {PLAN}}}
    - {{donut: a, by: b, query: {{sql: "select 3 as a, 'x' as b"}}}}
""",
}


@pytest.mark.parametrize(
    ("plan", "titles"), [("pro", ["First", "Second", "Third", "Fourth"]), ("", ["First", "Third"])]
)
async def test_a_row_has_no_gap(visit: Visit, tmp_path: Path, plan: str, titles: list[str]) -> None:
    """Panels fill their row, each once; a group without the plan has no heading of it and no link. Red when a place is
    kept for a panel that does not come, and when the page asks for panels by the order of places."""
    folder = write_files(tmp_path, FILES) / "dashboards"
    async with sample(folder, **({"plan": plan} if plan else {})) as served:
        seen = await visit(f"{served.url}/sales", extra_http_headers=served.headers, width=1280)
        page = seen.page
        assert await page.locator(".panel h2").all_inner_texts() == titles
        assert await page.locator(".panel[data-state=error], [role=alert]").count() == 0
        assert await page.get_by_text("Of plan pro").count() == len(titles) // 4
        row = page.locator(".row", has=page.get_by_text("First", exact=True))
        whole, last = await box_of(row), await box_of(row.locator(".panel").last)
        assert last["x"] + last["width"] == pytest.approx(whole["x"] + whole["width"], abs=1)
        assert await page.locator(".bar").count() == 1
        await page.locator(".bar").click()
        await come(seen)
        await page.get_by_role("heading", level=1, name="Forecast" if plan else "Sales").wait_for()
        assert seen.console == []


async def test_a_dashboard_of_another_plan_is_unknown(visit: Visit, tmp_path: Path) -> None:
    """The whole page is that of a name without a dashboard, but for the name in its addresses."""
    folder = write_files(tmp_path, FILES) / "dashboards"
    async with sample(folder) as served:
        pages = []
        for name in ("forecast", "missing1"):
            seen = await visit(f"{served.url}/{name}", extra_http_headers=served.headers)
            assert await seen.page.get_by_role("heading", level=1).inner_text() == "There is no such dashboard"
            pages.append((await seen.page.content()).replace("missing1", "forecast"))
        assert pages[0] == pages[1]


async def test_all_panels_come_with_the_definition(visit: Visit, tmp_path: Path) -> None:
    """Where the frame may not know them: with one request, for plots as wide as the page. Red when the page asks for
    panels after it has learnt their names: each waits for another way to the server."""
    folder = write_files(tmp_path, FILES) / "dashboards"
    async with sample(folder, plan="pro") as served:
        seen = await visit(f"{served.url}/plans", extra_http_headers=served.headers, width=1280)
        bodies = [json.loads(each.post_data or "") for each in seen.requests if each.method == "POST"]
        assert [(each["panels"], each["width"], each["definition"]) for each in bodies] == [(None, 1920, True)]
        assert await seen.page.locator("[data-state=ready]").count() == 3
        assert seen.console == []
