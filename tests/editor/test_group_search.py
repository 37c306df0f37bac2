"""Groups are found by the beginning of their id and a part of their name, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tenantry.editor import EditorAuthor, Right
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor
from tests.editor.test_samples import add


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[EditorSite]:
    async with served_editor(tmp_path) as served:
        environment = await served.store.environments.get(ENVIRONMENT)
        assert environment is not None
        await add(served.store, environment, [f"g{number:03}" for number in range(120)])
        yield served


async def test_by_id_and_name(site: EditorSite) -> None:
    """Red without ``match``."""
    assert await site.ask("groups", environment=ENVIRONMENT, search="airline H") == {
        "groups": [{"id": "ha", "name": "Airline HA"}],
        "more": False,
        "after": None,
    }
    found = await site.ask("groups", environment=ENVIRONMENT, search="G01")
    assert [each["id"] for each in found["groups"]] == [f"g01{digit}" for digit in range(10)]
    assert (await site.ask("groups", environment=ENVIRONMENT, search="%"))["groups"] == []


async def test_page_by_page(site: EditorSite) -> None:
    """Each group once. Red when ``after`` is that of the first group of the page, and when ``more`` is always true."""
    seen, after, pages = [], 0, 0
    while True:
        page = await site.ask("groups", environment=ENVIRONMENT, after=after)
        seen += [each["id"] for each in page["groups"]]
        pages += 1
        if not page["more"]:
            break
        after = page["after"]
    assert seen == ["ha", "ua", *(f"g{number:03}" for number in range(120))]
    assert pages == 3


async def test_what_an_author_sees_of_a_group(site: EditorSite) -> None:
    assert await site.ask("group", environment=ENVIRONMENT, group="ha") == {
        "id": "ha",
        "name": "Airline HA",
        "schemas": ["main"],
        "suspended": False,
        "expires_at": None,
    }
    answer = await site.post("group", environment=ENVIRONMENT, group="nobody")
    assert (answer.status_code, answer.json()["error"]["field"]) == (404, "/group")
    site.author = EditorAuthor("eve", frozenset({Right.VIEW}), frozenset())
    for path, more in (("groups", {}), ("group", {"group": "ha"})):
        answer = await site.post(path, environment=ENVIRONMENT, **more)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "right_missing")
