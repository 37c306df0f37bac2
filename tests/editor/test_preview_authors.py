"""All requests of a preview need its author, whose session has not ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest

from tenantry.editor import EditorAuthor, EditorSessions, Right
from tenantry.groups import Author
from tests.dashboards.served import SOON, reading
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor
from tests.editor.test_previews import DASHBOARD, Preview, preview

OPERATOR = Author("operator")
COOKIE = "__Secure-tenantry-editor"
Leave: TypeAlias = Callable[[], Awaitable[Any]]


@pytest.fixture(autouse=True)
def _own_run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(tmp_path / "run"))


async def open_session(site: EditorSite, name: str = "ann") -> str:
    code = await EditorSessions(site.store).issue(EditorAuthor(name), OPERATOR)
    answer = await site.post("session", code=code)
    assert answer.status_code == 200, answer.text
    return answer.headers["set-cookie"].partition(";")[0].partition("=")[2]


def send_cookie(site: EditorSite, key: str) -> None:
    site.client.headers["cookie"] = f"{COOKIE}={key}"


async def entered(site: EditorSite, kind: str) -> tuple[Leave, list[tuple[str, str]]]:
    """An author begins to work. Returns what ends that, and the headers of the browser's requests."""
    if kind == "callable":

        async def leave() -> None:
            site.author = None

        return leave, []
    key = await open_session(site)
    send_cookie(site, key)
    sessions = EditorSessions(site.store)
    return lambda: sessions.end_all("ann", OPERATOR), [("cookie", f"{COOKIE}={key}")]


def options(kind: str) -> dict[str, Any]:
    return {} if kind == "callable" else {"authors": None}


async def attempts(shown: Preview, unused: Preview, token: str) -> list[httpx2.Response]:
    client = shown.site.client
    headers = {"X-User-Group-Token": token}
    return [
        await shown.frame(),
        await shown.panels(token),
        await client.post(f"{shown.path}/-/panels/1-1/explanation", json={}, headers=headers),
        await client.post(f"{shown.path}/-/panels/1-1/download", json={}, headers=headers),
        await client.get(f"{shown.mount}/-/download/{'x' * 43}"),
        await client.post(f"{unused.mount}/-/redeem", json={"code": unused.code}),
    ]


@pytest.mark.parametrize("kind", ["session", "callable"])
async def test_nothing_of_a_preview_is_answered_after_the_session(tmp_path: Path, kind: str) -> None:
    """Although the browser still has the key of the preview and an unused address. Red when only GET has an author."""
    async with served_editor(tmp_path, **options(kind)) as site:
        leave, _ = await entered(site, kind)
        shown, unused = await preview(site), await preview(site)
        token = await shown.redeem()
        assert [each.status_code for each in await attempts(shown, await preview(site), token)] == [
            200, 200, 200, 200, 410, 200,
        ]  # fmt: skip
        await leave()
        answers = await attempts(shown, unused, token)
        assert {(each.status_code, each.json()["error"]["code"]) for each in answers} == {(401, "no_author")}


@pytest.mark.parametrize("kind", ["session", "callable"])
async def test_an_open_preview_ends_with_the_session(tmp_path: Path, kind: str) -> None:
    """The response that waits for drafts. Red when PreviewGuard asks for the author only at its beginning."""
    async with served_editor(tmp_path, **options(kind)) as site:
        leave, cookies = await entered(site, kind)
        shown = await preview(site)
        headers = {"X-User-Group-Token": await shown.redeem(), **dict(cookies)}
        async with reading(site.app, f"{shown.path}/-/panels", {"live": True, "definition": True}, headers) as reader:
            while "end" not in await reader.line():
                pass
            await leave()
            async with asyncio.timeout(SOON):
                assert await reader.line() == {"token": "ended"}


async def test_another_session_of_the_author_continues(tmp_path: Path) -> None:
    """Red when the preview is bound to the session that created it."""
    async with served_editor(tmp_path, authors=None) as site:
        leave, _ = await entered(site, "session")
        shown = await preview(site)
        token = await shown.redeem()
        await leave()
        send_cookie(site, await open_session(site))
        assert (await shown.panels(token)).status_code == 200
        send_cookie(site, await open_session(site, "eve"))
        assert (await shown.panels(token)).status_code == 404


@pytest.mark.parametrize(
    ("author", "status"),
    [
        (EditorAuthor("eve"), 404),
        (EditorAuthor("ann", frozenset({Right.VIEW, Right.SAVE})), 403),
        (EditorAuthor("ann", environments=frozenset({"staging"})), 403),
        (EditorAuthor("ann", frozenset({Right.RUN}), frozenset({ENVIRONMENT})), 200),
    ],
)
async def test_what_the_author_may_do_is_asked_each_time(tmp_path: Path, author: EditorAuthor, status: int) -> None:
    """Red when _require_author compares only the name, or nothing."""
    async with served_editor(tmp_path) as site:
        shown = await preview(site, dashboard=DASHBOARD)
        token = await shown.redeem()
        site.author = author
        assert ((await shown.panels(token)).status_code, (await shown.frame()).status_code) == (status, status)


async def test_a_page_of_another_site_has_no_preview(tmp_path: Path) -> None:
    """Red when author_in_frame does not look at the origin."""
    async with served_editor(tmp_path) as site:
        shown = await preview(site)
        site.client.headers["origin"] = "https://elsewhere.example"
        assert (await shown.panels(await _key(shown))).status_code == 403


async def _key(shown: Preview) -> str:
    origin = shown.site.client.headers.pop("origin")
    key = await shown.redeem()
    shown.site.client.headers["origin"] = origin
    return key
