"""The corpus' dashboards of periods and zones, as they are on 28 November 2026 at ten o'clock in UTC."""

from __future__ import annotations

import shutil
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest

from tenantry.dashboards.panels import panel_runner
from tests.dashboards.page.conftest import Visit, has_run
from tests.dashboards.page.sample import Sample, sample
from tests.dashboards.page.test_time import titles

pytestmark = pytest.mark.slow

DAYS = """create table e as select cast(d as date) as d
from generate_series(date '2023-01-01', date '2026-11-28', interval 1 day) t(d)"""
CALLS = """create table ev as
select timestamptz '2026-11-27 23:40:00+00' as at_, 'late call' as what
union all select timestamptz '2026-11-28 02:00:00+00', 'night'
union all select timestamptz '2026-11-28 23:10:00+00', 'tomorrow'"""
SHIPMENTS = "create table shipments as select 'acme' as merchant_id, at_ as created_at, what from ev"
VISITS = """create table funnel as select 'acme' as tenant, step, cast(d as date) as day, 1 as n
from generate_series(date '2026-08-01', date '2026-11-28', interval 1 day) t(d),
unnest(['Visited', 'Bought']) s(step)"""
TODAY = {"Europe/Vienna": "2", "UTC": "2", "America/Los_Angeles": "1"}


class Clock(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        return datetime(2026, 11, 28, 10, tzinfo=UTC).astimezone(tz)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel_runner, "datetime", Clock)


class Corpus:
    def __init__(self, corpus: Path, folder: Path) -> None:
        self.given, self.folder = corpus / "dashboards", folder / "dashboards"
        (self.folder / "queries").mkdir(parents=True)

    def open(self, name: str, *tables: str, without: str = "", **options: Any) -> AbstractAsyncContextManager[Sample]:
        """One dashboard with its queries. ``without``: what is taken out of its file."""
        text = (self.given / f"{name}.yaml").read_text()
        assert without in text
        (self.folder / f"{name}.yaml").write_text(text.replace(without, ""))
        for file in (self.given / "queries").glob("*.sql"):
            if file.stem in text:
                shutil.copy(file, self.folder / "queries")
        return sample(self.folder, *tables, **options)


@pytest.fixture
def corpus_of(corpus: Path, tmp_path: Path) -> Corpus:
    return Corpus(corpus, tmp_path)


async def figure(seen: Any, place: int = 0) -> str:
    return str(await seen.page.locator(".figure-value").nth(place).inner_text())


@pytest.mark.parametrize(
    ("period", "count", "days"),
    [
        ("", "332", "Jan 1, 2026 – Nov 28, 2026 against Jan 1, 2025 – Nov 28, 2025"),
        ("this-month", "28", "Nov 1, 2026 – Nov 28, 2026 against Oct 1, 2026 – Oct 28, 2026"),
        ("last-7-days", "7", "Nov 22, 2026 – Nov 28, 2026 against Nov 15, 2026 – Nov 21, 2026"),
        ("year-to-date", "332", "Jan 1, 2026 – Nov 28, 2026 against Jan 1, 2025 – Nov 28, 2025"),
        ("last-12-months", "363", "Dec 1, 2025 – Nov 28, 2026 against Dec 1, 2024 – Nov 28, 2025"),
    ],
)
async def test_cmp_compares_equal_parts(corpus_of: Corpus, visit: Visit, period: str, count: str, days: str) -> None:
    """One row a day, so the change is none. Red when eleven months were compared with twelve: "-9 %"."""
    async with corpus_of.open("cmp", DAYS) as served:
        address = f"{served.url}/cmp{f'#period={period}' if period else ''}"
        seen = await visit(address, extra_http_headers=served.headers)
        said = str(await seen.page.locator(".change").get_attribute("title")).replace("\N{NARROW NO-BREAK SPACE}", " ")
        assert said.replace(", 10:00 AM", "") == f"{days}; dates without a time are whole days"
        assert [await figure(seen), await seen.page.locator(".change").inner_text()] == [count, "As before"]


async def test_cmp_marks_the_week_that_has_not_ended(corpus_of: Corpus, visit: Visit) -> None:
    """Weeks lie on their Mondays, and the first and the last are not whole. Red when the line fell at its end."""
    async with corpus_of.open("cmp", DAYS) as served:
        seen = await visit(f"{served.url}/cmp", extra_http_headers=served.headers)
        panel = seen.page.locator(".panel", has_text="By week")
        first, second, *_, last = [each.splitlines()[0] for each in await titles(panel)]
        assert (first, second, last) == ("Dec 29, 2025, in part", "Jan 5, 2026", "Nov 23, 2026, not over")
        assert await panel.locator(".line.cut").count() >= 1


async def test_tz_counts_and_lists_one_day(corpus_of: Corpus, visit: Visit) -> None:
    """That of Vienna, written in its times. Red when the list had the times of UTC: "yesterday, 23:40"."""
    async with corpus_of.open("tz", CALLS) as served:
        seen = await visit(f"{served.url}/tz", extra_http_headers=served.headers)
        rows = seen.page.locator("tbody tr")
        assert await figure(seen) == str(await rows.count()) == "2"
        said = [" ".join((await rows.nth(place).inner_text()).split()) for place in range(2)]
        assert said == ["Nov 28, 2026, 12:40 AM late call", "Nov 28, 2026, 3:00 AM night"]


@pytest.mark.parametrize("zone", TODAY)
@pytest.mark.parametrize("by", ["group", "source"])
async def test_zones_is_a_page_in_one_zone(corpus_of: Corpus, visit: Visit, by: str, zone: str) -> None:
    """Its control names a zone, which a page does not take: the zone of all is that of the group, or of the source. Red
    when today was a day of UTC."""
    given: dict[str, Any] = {"timezone": zone} if by == "group" else {"option": f"?tenantry_timezone={zone}"}
    zoned = ", zone: {property: timezone}"
    async with corpus_of.open("zones", CALLS, SHIPMENTS, without=zoned, merchant_id="acme", **given) as served:
        seen = await visit(f"{served.url}/zones", extra_http_headers=served.headers)
        assert await figure(seen) == TODAY[zone]


async def test_short_has_its_days(corpus_of: Corpus, visit: Visit) -> None:
    """Each range can be chosen in a window that is lower than the popover. Red when today, or the first day, was left
    out."""
    async with corpus_of.open("short", VISITS) as served:
        seen = await visit(f"{served.url}/short", extra_http_headers=served.headers, width=700, height=260)
        assert await figure(seen) == "30"
        await has_run(seen.page, "pickers.js")
        for days in ("7", "90"):
            await seen.page.locator(".control-range .choice").click()
            await seen.page.get_by_role("button", name=f"Last {days} days", exact=True).click()
            await seen.page.locator(".figure-value", has_text=days).wait_for()


async def test_money_sends_no_hidden_column(corpus_of: Corpus, visit: Visit) -> None:
    """The salary stays on the server. Red when a panel was sent all columns of its query."""
    async with corpus_of.open("money") as served:
        seen = await visit(f"{served.url}/money", extra_http_headers=served.headers)
        answer = await seen.page.context.request.post(f"{served.url}/money/-/panels", data={"definition": True})
        assert (answer.status, "secret-salary" in await answer.text()) == (200, False)
        assert await seen.page.locator("tbody").inner_text() == "Ann"
        assert await seen.page.locator("[data-state=failed]").count() == 0
