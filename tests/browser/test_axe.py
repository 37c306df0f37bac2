"""What the checks of pages with axe take for a defect."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from engines.axe import serious
from engines.chromium import OpenPage

pytestmark = pytest.mark.anyio

PAGE = "<!doctype html><html lang=en><title>Two</title><main><h1>Two</h1>{}</main></html>"


async def test_two_landmarks_of_one_name_are_a_defect(open_page: OpenPage) -> None:
    """Red when only what axe calls serious counts."""
    page = (await open_page()).page
    for names, found in ((("a", "b"), []), (("a", "a"), ["landmark-unique"])):
        body = "".join(f'<nav aria-label="{name}"><a href="/">{name}</a></nav>' for name in names)
        await page.goto(f"data:text/html,{quote(PAGE.format(body))}")
        assert [each.partition(":")[0] for each in await serious(page)] == found
