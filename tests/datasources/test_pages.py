"""Pages: every row once, in order, by key and by offset, on each engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenantry.datasources import DataSources, Page, fetch_page
from tenantry.datasources.pages import PagedTemplate
from tenantry.errors import InvalidSettings, QueryFailed, TenantryError, UnbindableValue
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group, sqlite_file
from tests.datasources.streamed_rows import ROWS

COUNT = 57
NUMBERS = {engine: sql.format(COUNT) for engine, sql in ROWS.items()}
# Read backwards, a sequence table of MariaDB 10.11 loses a row: `seq < 48 order by seq desc` begins at 46.
NUMBERS["mariadb"] = NUMBERS["sqlite"].replace("'name ' || i", "concat('name ', i)")
KINDS = {
    "sqlite": "date('2026-01-01', i || ' days')",
    "duckdb": "date '2026-01-01' + (i % 5)::integer",
    "postgresql": "date '2026-01-01' + i % 5",
    "mariadb": "date_add('2026-01-01', interval (i % 5) day)",
}
ORDERS = (["i"], ["-i"], ["k", "-i"], ["-k", "name"], ["-d", "k", "i"])


def template(engine: str) -> str:
    """Rows with a number of few values, one of its own, a text, a date, a sign and an end that drivers could take for
    theirs."""
    columns = f"i, i % 3 as k, name, {KINDS[engine]} as d, '50% -- ;' as t"
    return f"select {columns} from ({NUMBERS[engine]}) m where i > {{{{ least }}}};\n"


async def read(sources: DataSources, engine: str, least: int = 0, **options: Any) -> Page:
    return await fetch_page(sources, group(main="ds_1"), "main", template(engine), {"least": least}, **options)


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: ",".join(order))
async def test_every_row_is_in_one_page(each_engine: str, order: list[str], open_sources) -> None:
    """As if they had been sorted here. Red when the second column did not count among equals of the first."""
    sources, found, after = open_sources(), list[dict[str, Any]](), None
    while True:
        page = await read(sources, each_engine, order=order, size=10, after=after)
        found += page.rows
        after = page.next
        if after is None:
            break
        assert len(page.rows) == 10
    expected = (await read(sources, each_engine, order=["i"], size=COUNT)).rows
    for name in reversed(order):
        expected.sort(key=lambda row: row[name.removeprefix("-")], reverse=name.startswith("-"))
    assert found == expected
    assert len(found) == COUNT


async def test_by_offset_with_a_total(each_engine: str, open_sources) -> None:
    """The last page has no next; the total is of all rows, not of the page."""
    sources = open_sources()
    page = await read(sources, each_engine, least=7, order=["-i"], size=20, offset=40, total="exact")
    assert [row["i"] for row in page.rows] == list(range(17, 7, -1))
    assert (page.next, page.total) == (None, 50)
    assert (await read(sources, each_engine, order=["i"], size=COUNT)).total is None


async def test_a_cursor_is_only_bound(each_engine: str, open_sources) -> None:
    """Whatever a viewer makes of it: no text of it becomes SQL, and what is none of ours is refused."""
    sources = open_sources()
    first = await read(sources, each_engine, order=["name", "i"], size=1)
    assert first.next is not None
    for other in (
        "",
        "x",
        "W10",
        "W1siaSIsIjEiXV0",
        "W1siaSIsIngiXSxbImkiLCIxIl1d",
        "\u00e9",
        "W1tbXSwiMSJdLFsiaSIsIjEiXV0",
    ):
        with pytest.raises(UnbindableValue):
            await read(sources, each_engine, order=["name", "i"], after=other)
    hostile = PagedTemplate(SQLTemplate("select 1 as a"), ["a"], 1, "W1sicyIsIicgb3IgMT0xIC0tIl1d", 0)
    assert "or 1=1" not in hostile.wrap(hostile.template.bind({}, "qmark", dialect="sqlite")).sql


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"order": []}, InvalidSettings, "order of a page"),
        ({"order": "i"}, InvalidSettings, "order of a page"),
        ({"order": ['i" desc; drop table orders; --']}, InvalidSettings, "order of a page"),
        ({"order": ["i"], "size": 0}, InvalidSettings, "size is 0"),
        ({"order": ["i"], "offset": -1}, InvalidSettings, "offset is -1"),
        ({"order": ["i"], "total": "about"}, InvalidSettings, "total is 'about'"),
        ({"order": ["n"]}, QueryFailed, "contains NULL"),
    ],
)
async def test_what_no_page_can_be(
    options: dict[str, Any], kind: type[TenantryError], said: str, directory: Directory, open_sources, tmp_path: Path
) -> None:
    """An order in which rows would be lost is refused."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    with pytest.raises(kind, match=said):
        await fetch_page(
            open_sources(), group(main="ds_1"), "main", "select id as i, null as n from orders", {}, **options
        )


def test_a_dialect_without_pages() -> None:
    """It is said, instead of SQL that the engine does not take."""
    window = PagedTemplate(SQLTemplate("select 1 as a"), ["a"], 1, None, 0)
    with pytest.raises(InvalidSettings, match="pages do not work on bigquery"):
        window.wrap(window.template.bind({}, "named_at", dialect="bigquery"))
