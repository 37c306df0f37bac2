"""Shares in words: what is rounded to the whole and is less says so, and zeros have no shares."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.expected import ALL_ZERO
from tests.dashboards.page.marks import panel_of
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow


def figure(now: float, before: float, **more: Any) -> Message:
    told = rows({"v": "float"}, [now], compare=rows({"v": "float"}, [before]))
    return {"kind": "figure", "figure": "v", "answer": told} | more


async def test_what_is_left_is_not_said_to_be_gone(stand_in: StandIn, visit: Visit) -> None:
    """Of an amount and of a share. Red when a figure of 1 was "Down 100% from 5,000"."""
    shown = [figure(1, 5000), figure(0, 5000), figure(10, 5000), figure(0.0001, 1, format="percent")]
    page = (await visit(stand_in.show(shown))).page
    words = [text.split(" from ")[0] for text in await page.locator(".change").all_inner_texts()]
    assert words == ["Down 99.98%", "Down 100%", "Down 99.8%", "Down 99.99 points"]


async def test_what_is_not_the_whole_is_not_written_as_it(stand_in: StandIn, visit: Visit) -> None:
    """An uptime in a figure and in a table, also with the author's digits. Red when 99.996% was "100.0%"."""
    given = {
        0.9996: "99.96%",
        0.99996: "99.996%",
        0.994: "99.4%",
        1: "100.0%",
        0.9999999999999999: "100.0%",
        1.0004: "100.04%",
        -0.99996: "\N{MINUS SIGN}99.996%",
    }
    figures = [
        {"kind": "figure", "figure": "v", "format": "percent", "answer": rows({"v": "float"}, [v])} for v in given
    ]
    columns = [{"name": "v", "format": "percent", "digits": 1}]
    table = {"kind": "table", "columns": columns, "answer": rows({"v": "float"}, *[[v] for v in given])}
    page = (await visit(stand_in.show(figures, [table]))).page
    for selector in (".figure-number", "tbody .cell"):
        assert await page.locator(selector).all_inner_texts() == [*given.values()]


@pytest.mark.parametrize("kind", ["bar", "area"])
async def test_a_part_beside_another_one_is_not_the_whole(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Red when a part of 9,999 beside one of 1 was "100.0%"."""
    told = [["a", "x", 9999], ["a", "y", 1], ["b", "x", 5]]
    given = rows({"at": "text", "k": "text", "n": "integer"}, *told)
    view = {"kind": kind, kind: ["n"], "by": "at", "color": "k", "stack": "share", "answer": given}
    panel = await panel_of(stand_in, visit, view)
    read = []
    await panel.locator(".chart").focus()
    for key in ("Home", "ArrowRight"):
        await panel.locator(".chart").press(key)
        read.append(await panel.locator(".tip").inner_text())
    assert "99.99% (9,999)" in read[0], read
    assert "100.0% (5)" in read[1], read


@pytest.mark.parametrize("kind", ["bar", "area"])
async def test_zeros_have_no_shares(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """A sentence says so. Red when an axis of percent stood there without a mark."""
    given = rows({"at": "text", "k": "text", "n": "integer"}, ["a", "x", 0], ["a", "y", 0], ["b", "x", 0])
    view = {"kind": kind, kind: ["n"], "by": "at", "color": "k", "stack": "share", "answer": given}
    panel = await panel_of(stand_in, visit, view)
    assert await panel.locator(".panel-body").inner_text() == ALL_ZERO
    panel = await panel_of(stand_in, visit, view | {"stack": "sum"})
    assert await panel.locator("svg.plot").count() == 1
