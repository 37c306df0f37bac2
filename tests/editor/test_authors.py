"""Who may use the editor."""

from __future__ import annotations

from pathlib import Path

from tenantry.editor import EditorAuthor, Right
from tests.editor.served import ENVIRONMENT, served_editor


async def test_a_request_without_an_author_is_refused(tmp_path: Path) -> None:
    """Red when EditorEndpoints.author returns without an author."""
    async with served_editor(tmp_path) as site:
        site.author = None
        answer = await site.post("state")
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "no_author")


async def test_the_state_names_the_environments_of_the_author(tmp_path: Path) -> None:
    """Red when _state lists all environments."""
    async with served_editor(tmp_path) as site:
        assert (await site.ask("state"))["environments"] == [ENVIRONMENT]
        site.author = EditorAuthor("eve", frozenset({Right.VIEW}), frozenset({"staging"}))
        assert await site.ask("state") == {
            "author": "eve",
            "rights": ["view"],
            "environments": [],
            "read_only": False,
            "has_session": False,
        }


async def test_a_page_of_another_site_is_refused(tmp_path: Path) -> None:
    """Red when EditorEndpoints.author does not check the origin, or the header."""
    async with served_editor(tmp_path) as site:
        foreign = {"Sec-Fetch-Site": "cross-site", "X-Tenantry-Editor": "1"}
        answer = await site.client.post("/editor/-/state", json={}, headers=foreign)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_not_allowed")
        answer = await site.client.post("/editor/-/state", json={})
        assert answer.status_code == 422
