"""A page that is open while its files are written: it follows them, and says what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.chromium import OpenPage, Watched, set_hidden
from tests.cli.conftest import Terminal
from tests.cli.dashboards_server import SOON, serving

pytestmark = pytest.mark.slow


@pytest.fixture
def url(terminal: Terminal, folder: Path) -> Iterator[str]:
    """The address of a dashboard of its own, served to its author."""
    terminal("dashboards", "new", "orders")
    with serving(folder) as address:
        yield f"{address}/dashboards/orders"


@pytest.fixture
async def seen(url: str, open_page: OpenPage) -> Watched:
    watched = await open_page()
    await watched.page.goto(url)
    await shows(watched, "Vienna")
    return watched


async def shows(seen: Watched, text: str) -> None:
    await seen.page.get_by_text(text).first.wait_for(timeout=SOON * 1000)


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


async def test_an_open_page_follows_its_files(seen: Watched, folder: Path) -> None:
    """The dashboard and a query of it, with what was chosen. Red when the server sends no revision, and when the page
    takes it for the first one: the old rows stay."""
    await seen.page.locator(".control .choice").first.click()
    await seen.page.get_by_role("dialog").get_by_text("Prague").click()
    await seen.page.keyboard.press("Escape")
    await seen.page.wait_for_url("**#city=Prague", timeout=SOON * 1000)
    address = seen.page.url
    edit(folder / "queries/orders.sql", "'Prague', 164", "'Prague', 9731")
    await shows(seen, "9,731")
    edit(folder / "dashboards/orders.yaml", "title: Orders of {{ user_group.name }}", "title: Everything new")
    await shows(seen, "Everything new")
    assert seen.page.url == address
    assert seen.console == []


async def test_a_mistake_is_shown_where_it_is_until_it_is_mended(seen: Watched, folder: Path) -> None:
    """With file, line and fix, on the page that is open, and on one that is opened meanwhile. Red when the answer for
    panels is the error of production: the page says that the server cannot be reached, and stays so."""
    file = folder / "dashboards/orders.yaml"
    edit(file, "bar: orders", "baar: orders")
    await shows(seen, "orders.yaml:8:5")
    assert await seen.page.get_by_role("heading", level=1).inner_text() == "This dashboard has a mistake"
    edit(file, "baar: orders", "bare: orders")
    await shows(seen, "bare")
    edit(file, "bare: orders", "bar: orders")
    await shows(seen, "Vienna")
    assert await seen.page.get_by_role("alert").count() == 0
    assert seen.console == []


async def test_a_page_that_is_opened_while_a_file_is_wrong_comes_by_itself(
    url: str, folder: Path, open_page: OpenPage
) -> None:
    """Red without the header Refresh."""
    file = folder / "dashboards/orders.yaml"
    edit(file, "bar: orders", "baar: orders")
    watched = await open_page()
    await watched.page.goto(url)
    await shows(watched, "orders.yaml:8:5")
    edit(file, "baar: orders", "bar: orders")
    await shows(watched, "Vienna")


async def test_what_changed_while_the_page_was_hidden_is_seen(seen: Watched, folder: Path) -> None:
    """An editor covers the page, which then keeps no answer open. Red when the page asks nothing as it is seen again,
    and when it does not know which revision it shows."""
    await set_hidden(seen.page, True)
    edit(folder / "queries/orders.sql", "'Vienna' as city, 210", "'Vienna' as city, 8642")
    await set_hidden(seen.page, False)
    await shows(seen, "8,642")
