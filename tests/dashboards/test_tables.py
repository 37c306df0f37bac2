"""Tables: pages, order and number of rows; files of them by an address that can be used once."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
import uvicorn

from tenantry import mint_pass
from tenantry.backends.memory.groups import MemoryGroups
from tenantry.backends.memory.sources import MemorySources
from tenantry.dashboards.single_use_codes import Purpose, SingleUseCodes
from tenantry.datasources import DataSources, StreamLimits
from tenantry.errors import QueryOutdated
from tenantry.testing import MemoryStore
from tests.dashboards.served import Site, serve

pytestmark = pytest.mark.usefixtures("mount")

FILES = {
    "dashboards/routes.yaml": """
title: Routes
controls: {route: {text: }}
rows:
  - {table: flights, title: "Flights of {{ carrier }}", page: 10, columns: [day, route, delay, note]}
  - {line: delay, by: day, color: route, query: flights}
  - {text: Nothing to save}
""",
    "queries/flights.sql": """select day, route, delay, '=1+1' as note from flights
where carrier = {{ carrier }} [[ and route = {{ params.route }} ]] order by day, route""",
}


async def table(site: Site, filters: Any = None, **wanted: Any) -> dict[str, Any]:
    return (await site.panels("routes", panels=[{"id": "1-1", **wanted}], filters=filters or {}))["1-1"]


@pytest.mark.parametrize("limits", [{}, {"row_limit": 30}], ids=["whole", "by the engine"])
async def test_a_table_has_pages_an_order_and_a_number(tmp_path: Path, limits: dict[str, int]) -> None:
    """The same whether the rows are within the limits of the source, and so are cut here, or the engine is asked for
    the page. Red when the number is that of the page."""
    async with serve(tmp_path, FILES, limits=limits) as site:
        first = await table(site, sort="day")
        assert (len(first["rows"]), first["total"]) == (10, 120)
        second = await table(site, page=1, sort="day")
        assert [row[:2] for row in first["rows"][-2:]] == [[first["rows"][-2][0], "A-B"], [first["rows"][-2][0], "A-C"]]
        assert first["rows"][-1][0] < second["rows"][0][0]
        greatest = await table(site, sort="-delay")
        assert {row[2] for row in greatest["rows"]} == {6}
        last = await table(site, {"route": "A-B"}, page=5, sort="delay")
        assert (len(last["rows"]), last["total"], last["rows"][-1][2]) == (10, 60, 6)
        beyond = await table(site, page=50, sort="delay")
        assert (beyond["rows"], beyond["total"]) == ([], 120)


async def test_bars_of_all_pages_have_one_scale(tmp_path: Path) -> None:
    """A page has the extremes of all rows, of its columns with bars. Red when each page had a scale of its own."""
    panel = "{table: flights, page: 10, columns: [day, {delay: {bar: true}}, route]}"
    files = FILES | {"dashboards/routes.yaml": f"title: Routes\ncontrols: {{route: {{text: }}}}\nrows:\n  - {panel}\n"}
    async with serve(tmp_path, files) as site:
        every = [await table(site, page=page, sort="-delay") for page in range(12)]
        delays = [row[2] for answer in every for row in answer["rows"]]
        assert len({str(answer["rows"]) for answer in every}) > 1
        for answer in every:
            assert answer["extremes"] == {
                "columns": [each for each in answer["columns"] if each["name"] == "delay"],
                "rows": [[min(delays)], [max(delays)]],
            }


async def test_a_column_to_sort_by_is_one_of_the_rows(tmp_path: Path) -> None:
    """It is a name and never SQL. Red when it is put into a query's text."""
    async with serve(tmp_path, FILES) as site:
        for sort in ("nothing", "day; drop table flights"):
            assert (await table(site, sort=sort))["error"]["code"] == "invalid_parameter"
        own = await table(site)
        assert own["rows"] == sorted(own["rows"]), "the query's own order"


async def test_a_chart_has_the_rows_that_its_pixels_show(tmp_path: Path) -> None:
    """With its width; of a wide plot all, if they are few."""
    async with serve(tmp_path, FILES) as site:
        chart = (await site.panels("routes", panels=[{"id": "2-1", "width": 10}]))["2-1"]
        assert chart["reduced"]
        assert len(chart["rows"]) < 120
        whole = (await site.panels("routes", panels=[{"id": "2-1"}]))["2-1"]
        assert (whole["reduced"], len(whole["rows"])) == (False, 120)
        assert all(row in whole["rows"] for row in chart["rows"])


async def test_the_limit_of_rows_is_for_those_that_are_sent(tmp_path: Path) -> None:
    """Those that a chart is made of are within the limits of streams, also for a plot without a width. Red when the
    rows are counted before they are reduced; rows out of order cannot be reduced, so they are too many."""
    async with serve(tmp_path, FILES, limits={"row_limit": 100}) as site:
        chart = (await site.panels("routes", panels=[{"id": "2-1", "width": 10}]))["2-1"]
        assert chart["reduced"]
        assert len(chart["rows"]) < 100
        assert (await site.panels("routes", panels=[{"id": "2-1"}]))["2-1"]["reduced"]
    unordered = {
        **FILES,
        "queries/flights.sql": "select day, route, delay from flights where carrier = {{ carrier }} order by delay",
    }
    few = {"row_limit": 100, "stream": StreamLimits(row_limit=110)}
    for files, limits in ((unordered, {"row_limit": 100}), (FILES, few)):
        folder = tmp_path / str(len(limits))
        async with serve(folder, files, limits=limits) as site:
            chart = (await site.panels("routes", panels=[{"id": "2-1", "width": 10}]))["2-1"]
            assert chart["error"]["code"] == "too_many_rows"


# --- files ------------------------------------------------------------------------------------------------------------


stream_of = DataSources.stream


class Stored(MemoryStore):
    """A store whose groups are those of the tests' backend."""

    site: Any

    def __init__(self) -> None:
        super().__init__()
        store = self

        class Groups(MemoryGroups):
            async def get(self, *_: Any, handle: Any = None) -> Any:
                return store.site.issued(handle)

        class Sources(MemorySources):
            async def get(self, environment: Any, reference: str) -> Any:
                return await store.site.directory.get(environment, reference)

        self.groups, self.sources = Groups(self._tables), Sources(self._tables)


async def address_of(site: Site, panel: str = "1-1", carrier: str = "HA", **body: Any) -> Any:
    return await site.post(f"routes/-/panels/{panel}/download", body, carrier)


async def test_a_file_is_had_once(tmp_path: Path) -> None:
    """By an address that holds nothing of the group, without any header. Red when the code is not used up."""
    async with serve(tmp_path, FILES, store=Stored) as site:
        issued = await address_of(site, filters={"route": "A-B"})
        assert issued.headers["cache-control"] == "no-store"
        address = issued.json()["address"]
        assert address.startswith(f"{site.prefix}/dashboards/-/download/")
        assert site.tokens["HA"].decode() not in address
        assert (await site.client.head(f"http://testserver{address}")).status_code == 405, "a look uses nothing up"
        file = await site.follow(address)
        assert file.status_code == 200
        assert file.headers["content-type"] == "text/csv; charset=utf-8"
        assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''Flights%20of%20HA.csv"
        assert "no-store" in file.headers["cache-control"]
        lines = file.text.splitlines()
        assert lines[0] == "\ufeffday,route,delay,note", "Excel would read other letters"
        assert len(lines) == 61
        assert lines[1].endswith(",A-B,3,'=1+1"), "a spreadsheet runs nothing of it"
        again = await site.follow(address)
        assert (again.status_code, "already used" in again.text) == (410, True)


@pytest.mark.parametrize(
    ("comma", "written"), [(False, "amount,note\r\n0.5,a;b\r\n"), (True, 'amount;note\r\n0,5;"a;b"\r\n')]
)
async def test_a_file_in_the_numbers_of_the_page(tmp_path: Path, comma: bool, written: str) -> None:
    """Red when the code forgets it: a spreadsheet of a German viewer would read 0.5 as a text or a date."""
    files = {
        "dashboards/routes.yaml": "{title: Routes, rows: [{table: prices, columns: all}]}",
        "queries/prices.sql": "select 0.5 as amount, 'a;b' as note where {{ carrier }} != ''",
    }
    async with serve(tmp_path, files, store=Stored) as site:
        address = (await address_of(site, decimal_comma=comma)).json()["address"]
        assert (await site.follow(address)).content.decode() == f"\ufeff{written}"


def end(site: Site, ends: datetime) -> None:
    """Gives HA an end date."""
    group = next(each for each in site.backend.groups.values() if each.provided_id == "ha")
    site.backend.groups[group.handle] = replace(group, expires_at=ends)


def suspend(site: Site) -> None:
    group = next(each for each in site.backend.groups.values() if each.provided_id == "ha")
    site.backend.groups[group.handle] = replace(group, suspended=True)


@pytest.mark.parametrize(
    "cut_off", [lambda site: site.rotate("HA"), lambda site: end(site, datetime.now(UTC)), suspend]
)
async def test_a_file_is_not_had_with_a_token_that_is_dead(tmp_path: Path, cut_off: Callable[[Site], None]) -> None:
    """Rotated away, or of a group that has ended or is suspended. Red when the code alone decides."""
    async with serve(tmp_path, FILES, store=Stored) as site:
        address = (await address_of(site)).json()["address"]
        cut_off(site)
        assert (await site.follow(address)).status_code == 410


@pytest.mark.parametrize("why", ["limit", "rotated"])
async def test_a_file_that_breaks_off_is_a_line_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """With which file and why, and no traceback; its reader notices that it is not whole. Red when the error goes to
    the server, which logs its whole traceback; and when the response gets an end: a browser would keep a part of the
    rows for all of them."""
    many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) select i from n"
    files = {"dashboards/routes.yaml": f'title: a\nrows: [{{table: {{sql: "{many}"}}}}]\n'}
    limits = {"stream": StreamLimits(row_limit=50_000)} if why == "limit" else {}
    caplog.set_level(logging.INFO)
    async with serve(tmp_path, files, limits=limits, store=Stored) as site:
        if why == "rotated":
            monkeypatch.setattr(DataSources, "stream", cut_off)
        address = (await address_of(site)).json()["address"]
        async with served(site) as url, httpx2.AsyncClient(timeout=120) as http:
            with pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
                await http.get(f"{url}{address}")
    logged = [each for each in caplog.records if "cut off" in each.getMessage()]
    assert [each.name for each in logged] == ["tenantry.dashboards"]
    said = logged[0].getMessage()
    assert "panel 1-1 of dashboard routes" in said
    assert ("more than 50000 rows" in said) == (why == "limit")
    assert not [each for each in caplog.records if each.exc_info]


async def cut_off(sources: DataSources, *arguments: Any, **options: Any) -> Any:
    """What another record of the group does to a file, at once."""
    stream = await stream_of(sources, *arguments, **options)
    (watched,) = sources.query_watch._watched
    sources.query_watch._end(watched, QueryOutdated(QueryOutdated.MESSAGE))
    return stream


@asynccontextmanager
async def served(site: Site) -> AsyncGenerator[str]:
    """The site behind a real server, by its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(site.app, log_config=None, lifespan="off"))
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()


@pytest.mark.parametrize(
    ("panel", "body", "status"),
    [
        ("3-1", {}, 404),
        ("9-9", {}, 404),
        ("1-1", {"filters": {"carrier": "UA"}}, 422),
        ("1-1", {"format": "xlsx"}, 422),
    ],
)
async def test_what_is_no_file_has_no_address(tmp_path: Path, panel: str, body: Any, status: int) -> None:
    """Found out when it is asked for, not when it is saved."""
    async with serve(tmp_path, FILES, store=Stored) as site:
        assert (await address_of(site, panel, **body)).status_code == status
        assert (await site.client.post(f"/dashboards/routes/-/panels/{panel}/download", json=body)).status_code == 401


MANY = {
    "dashboards/routes.yaml": """
title: Routes
controls: {route: {choices: {query: routes}, many: true}}
rows: [{table: {sql: "select route from flights where carrier = {{ carrier }} [[ and route in {{ params.route }} ]]"}}]
""",
    "queries/routes.sql": "select distinct route from flights where carrier = {{ carrier }}",
}


def codes_of(site: Site) -> dict[bytes, Any]:
    store: Any = site.sources.store
    codes: dict[bytes, Any] = store._tables.codes
    return codes


async def test_many_choices_in_any_letters_are_kept(tmp_path: Path) -> None:
    """A code stands for at most 4 KiB. Red when letters are escaped, which makes six bytes of two."""
    choices = ["A-B", *(f"маршрут-{number:04}" for number in range(170))]
    async with serve(tmp_path, MANY, store=Stored) as site:
        issued = await address_of(site, filters={"route": choices})
        assert issued.status_code == 200, issued.text
        (kept,) = codes_of(site).values()
        assert 3_500 < len(kept.payload.encode()) <= 4_096
        file = await site.follow(issued.json()["address"])
    assert file.text.splitlines() == ["\ufeffroute", *["A-B"] * 60]


async def test_the_attributes_of_a_viewer_leave_the_filters_their_room(tmp_path: Path) -> None:
    """Red when the claims of the pass count as filters: the viewer is told to choose fewer values, and has chosen as
    many as others may."""
    choices = ["A-B", *(f"маршрут-{number:04}" for number in range(170))]
    async with serve(tmp_path, MANY, store=Stored) as site:
        site.tokens["ada"] = mint_pass(site.tokens["HA"].decode(), "ada", {"名": "名" * 600}).encode()
        issued = await address_of(site, carrier="ada", filters={"route": choices})
        assert issued.status_code == 200, issued.text
        assert (await site.follow(issued.json()["address"])).status_code == 200


async def test_filters_that_are_too_long_to_keep_are_refused(tmp_path: Path) -> None:
    """By an error that names them and says how to fix it: one long value, and many short ones. Red without the
    limit, and with the limit of before, 65,535 bytes."""
    async with serve(tmp_path, MANY, store=Stored) as site:
        for route in (["x" * 4_000], [f"{number:03}" for number in range(800)]):
            answer = await address_of(site, filters={"route": route})
            assert answer.status_code == 422, answer.text
            error = answer.json()["error"]
            assert (error["field"], "Choose fewer or shorter values" in error["message"]) == ("/filters", True)
        assert not codes_of(site)


async def test_a_group_has_twenty_files_to_fetch(tmp_path: Path) -> None:
    """The oldest address ends when another one is asked for, alone or with many at once; another group's stay, and so
    do embedding codes. Red when a code is added without its share."""
    async with serve(tmp_path, FILES, store=Stored) as site:
        other = (await address_of(site, carrier="UA")).json()["address"]
        embedding = SingleUseCodes(cast("Stored", site.sources.store).codes)
        handle = next(each.handle for each in site.backend.groups.values() if each.provided_id == "ha")
        code = await embedding.issue_for_viewer(Purpose.EMBED, "x", handle)
        first = (await address_of(site)).json()["address"]
        answers = await asyncio.gather(*(address_of(site) for _ in range(60)))
        last = (await address_of(site)).json()["address"]
        assert {answer.status_code for answer in answers} == {200}
        assert len(codes_of(site)) == 22
        assert (await site.follow(first)).status_code == 410
        assert {(await site.follow(each)).status_code for each in (other, last)} == {200}
        assert await embedding.redeem(Purpose.EMBED, code) == "x"


async def test_a_file_that_cannot_be_read_says_so_plainly(tmp_path: Path) -> None:
    """A sentence, and nothing of the query."""
    broken = {"dashboards/routes.yaml": "title: a\nrows: [{table: {sql: select secret from nothing}}]\n"}
    async with serve(tmp_path, broken, store=Stored) as site:
        address = (await address_of(site)).json()["address"]
        answer = await site.follow(address)
    assert answer.status_code == 502
    assert answer.text == "The data source could not answer the query of this panel."


async def test_without_a_store_there_are_no_files(tmp_path: Path) -> None:
    """A directory of data sources alone keeps no codes."""
    async with serve(tmp_path, FILES) as site:
        assert (await address_of(site)).status_code == 404
        assert (await site.client.get("/dashboards/-/download/x")).status_code == 404
