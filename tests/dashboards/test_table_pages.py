"""Pages of tables whose query gives more rows than the row limit: the engine gives them, where it can."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from engines.postgres import Postgres
from tenantry.dashboards.panels.tables import fetch_table
from tenantry.dashboards.protocol.panel_errors import viewer_error
from tenantry.datasources.results import Result
from tenantry.datasources.wrapped_templates import WrappedTemplate
from tenantry.errors import TooManyRows
from tenantry.sql import BoundSQL, SQLTemplate
from tests.dashboards.served import serve
from tests.dashboards.test_tables import table


@pytest.mark.parametrize("columns", ["", ", columns: [delay, route, id]"])
async def test_the_pages_of_a_large_table_hold_each_row_once(tmp_path: Path, columns: str) -> None:
    """Whatever it is sorted by: rows that are equal there have an order too, by all columns that the table shows. Red
    when ties are left to the engine: DuckDB gave some rows twice, and others never."""
    database = tmp_path / "large.duckdb"
    with closing(duckdb.connect(str(database))) as connection:
        connection.execute(
            "create table flights as select i * 7919 % 2000 as id, i % 3 as delay, 'A-' || i % 2 as route, "
            "['x'] as list, 'v' as \"with space\" from range(2000) r(i) order by hash(i)"
        )
    select = 'select delay, route, id, list, \\"with space\\" from flights'
    files = {"dashboards/routes.yaml": f'title: a\nrows: [{{table: {{sql: "{select}"}}, page: 500{columns}}}]\n'}
    async with serve(tmp_path, files, limits={"row_limit": 600}) as site:
        site.directory.registered.clear()
        site.directory.add(1, f"duckdb:///{database}")
        for sort in ("delay", "-route", "") if columns else ("delay", "-route"):
            pages = [await table(site, sort=sort, page=page) for page in range(4)]
            found = [row[2] for page in pages for row in page["rows"]]
            assert len(found) == 2_000
            assert len(set(found)) == 2_000
            assert pages[0]["total"] == 2_000
        assert (await table(site, sort="nothing"))["error"]["code"] == "invalid_parameter"
        if not columns:
            assert (await table(site))["error"]["code"] == "too_many_rows", "there is no order"


@pytest.mark.parametrize(("select", "columns"), [("about", ""), ("place", ""), ("place", ", columns: [delay, id]")])
async def test_values_without_an_order_are_none_to_sort_ties_by(
    tmp_path: Path, postgres: Postgres, select: str, columns: str
) -> None:
    """JSON of PostgreSQL is left out. Of a type that has no word of ours nobody knows: then the order has the columns
    that certainly have one. Red when all columns are taken: the engine refuses the page."""
    url = postgres.create_database()
    postgres.execute(
        "create table flights as select i as id, i % 3 as delay, '{}'::json as about, point(1, 2) as place "
        "from generate_series(1, 100) i",
        url=url,
    )
    query = f'"select {select}, delay, id from flights"'
    files = {"dashboards/routes.yaml": f"title: a\nrows: [{{table: {{sql: {query}}}{columns}}}]\n"}
    async with serve(tmp_path, files, limits={"row_limit": 60}) as site:
        site.directory.registered.clear()
        site.directory.add(1, url)
        pages = [await table(site, sort="-delay", page=page) for page in (0, 1)]
        assert len({row[-1] for page in pages for row in page["rows"]}) == 100, pages


async def test_a_large_table_of_an_engine_without_pages_is_too_much() -> None:
    """With a way out for the viewer, and the reason for whoever reads the log. Red when it was "cannot be shown just
    now"."""
    template = SQLTemplate("select a from t")

    async def ask(asked: SQLTemplate | WrappedTemplate) -> Result:
        if asked is template:
            raise TooManyRows("the query gives more than 10 rows")
        bound = BoundSQL("select a from t", None, "named", "clickhouse")
        assert isinstance(asked, WrappedTemplate)
        raise AssertionError(asked.wrap(bound))

    with pytest.raises(TooManyRows, match=r"more than 10 rows.*pages do not work on clickhouse") as caught:
        await fetch_table(ask, template, {"columns": [{"name": "a"}]}, frozenset("a"), 0, "a")
    assert viewer_error(caught.value)["message"].startswith("This is more data than can be shown at once.")
