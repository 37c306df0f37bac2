"""All requests of a preview need its author, whose session has not ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest

from tenantry import mount_dashboards
from tenantry.dashboards.embedding.routes import Embedding
from tenantry.editor import EditorAuthor, EditorSessions, Right
from tenantry.groups import Author
from tenantry.resolver import Resolver
from tenantry.tokens import KeyRing, SigningKey
from tests.dashboards.served import SOON, Reader, reading
from tests.editor import served
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor
from tests.editor.test_leaving import running, until
from tests.editor.test_open_responses import ROWS, message
from tests.editor.test_previews import DASHBOARD, Preview, preview

OPERATOR = Author("operator")
COOKIE = "__Secure-tenantry-editor"
DOWNLOADED = "title: Typed\nrows:\n  - {table: by_day}\n"
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
        (EditorAuthor("ann", frozenset({Right.RUN})), 403),
        (EditorAuthor("ann", frozenset({Right.VIEW, Right.RUN}), frozenset({ENVIRONMENT})), 200),
    ],
)
async def test_what_the_author_may_do_is_asked_each_time(tmp_path: Path, author: EditorAuthor, status: int) -> None:
    """Red when _require_author compares only the name, or nothing."""
    async with served_editor(tmp_path) as site:
        shown = await preview(site, dashboard=DASHBOARD)
        token = await shown.redeem()
        site.author = author
        assert ((await shown.panels(token)).status_code, (await shown.frame()).status_code) == (status, status)


async def download(shown: Preview, token: str) -> str:
    """The code of a panel's file."""
    headers = {"X-User-Group-Token": token}
    answer = await shown.site.client.post(f"{shown.path}/-/panels/1-1/download", json={}, headers=headers)
    address: str = answer.json()["address"]
    return address.rpartition("/")[2]


@pytest.mark.parametrize("kind", ["session", "callable"])
async def test_a_file_that_is_still_sent_ends_with_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, kind: str
) -> None:
    """Red when Downloads asks only for the session of the preview, which lasts an hour."""

    async def send_slowly(self: Reader, sent: Any) -> None:
        self._messages.put_nowait(sent)
        await asyncio.sleep(0.02)

    monkeypatch.setattr(served, "Resolver", partial(Resolver, staleness=1.0))
    monkeypatch.setattr(Reader, "send", send_slowly)
    async with served_editor(tmp_path, **options(kind)) as site:
        leave, cookies = await entered(site, kind)
        shown = await preview(site, drafts={"queries/by_day.sql": ROWS, DASHBOARD: DOWNLOADED})
        address = f"{shown.mount}/-/download/{await download(shown, await shown.redeem())}"
        count = running("sqlite", site, request)
        async with reading(site.app, address, {}, dict(cookies), method="GET") as reader:
            assert (await message(reader))["status"] == 200
            assert (await message(reader))["body"]
            await until(count, 1)
            await leave()
            await until(count, 0)
        while not reader._messages.empty():
            assert reader._messages.get_nowait()["more_body"] is True


async def test_a_key_is_of_one_preview(tmp_path: Path) -> None:
    """A preview of another environment, which the author may use now, is no way to the group of the first one. Red when
    the guard compares the dashboard's name only, when a file's address works in any preview, and when a code opens a
    session in any."""
    async with served_editor(tmp_path) as site:
        shown, unused, other = [await preview(site, group) for group in ("ha", "ha", "ua")]
        token = await shown.redeem()
        file = await download(shown, token)
        refused = await other.panels(token)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "missing_scope")
        for path in ("panels/1-1/explanation", "panels/1-1/download"):
            answer = await site.client.post(f"{other.path}/-/{path}", json={}, headers={"X-User-Group-Token": token})
            assert answer.status_code == 403, path
        assert (await site.client.get(f"{other.mount}/-/download/{file}")).status_code == 410
        answer = await site.client.post(f"{other.mount}/-/redeem", json={"code": unused.code})
        assert answer.status_code == 410
        assert (await site.client.get(f"{shown.mount}/-/download/{await download(shown, token)}")).status_code == 200


async def test_nothing_of_a_preview_opens_the_product(tmp_path: Path) -> None:
    """There nobody asks for the author, and queries are those of viewers. Nor does a viewer's file show drafts. Red
    when both accept the same sessions, codes or files."""
    async with served_editor(tmp_path) as site:
        embedding = Embedding(site.store, KeyRing([SigningKey("k1", bytes(32))]))
        mount_dashboards(site.app, tmp_path / "dashboards", site.resolver, site.sources, embedding=embedding)
        shown, unused = await preview(site), await preview(site)
        token = await shown.redeem()
        file = await download(shown, token)
        headers, product = {"X-User-Group-Token": token}, "/dashboards"
        answer = await site.client.post(f"{product}/flights/-/panels", json={"definition": True}, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "missing_scope")
        assert (await site.client.get(f"{product}/-/download/{file}")).status_code == 410
        assert (await site.client.post(f"{product}/-/redeem", json={"code": unused.code})).status_code == 410
        headers = {"X-User-Group-Token": site.tokens["ha"]}
        answer = await site.client.post(f"{product}/flights/-/panels/1-1/download", json={}, headers=headers)
        file = answer.json()["address"].rpartition("/")[2]
        assert (await site.client.get(f"{shown.mount}/-/download/{file}")).status_code == 410


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
