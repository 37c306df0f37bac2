"""One-time links for authors, and the sessions that they open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import Morsel, SimpleCookie
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.editor import EditorAuthor, EditorSessions, Right
from tenantry.errors import InvalidSettings
from tenantry.groups import Author
from tenantry.testing import FrozenClock
from tests.editor.served import EditorSite, served_editor

ANN = EditorAuthor("ann", frozenset({Right.VIEW, Right.UNGUARDED}), frozenset({"production"}))
OPERATOR = Author("operator")


@asynccontextmanager
async def served(folder: Path, clock: FrozenClock, **options: Any) -> AsyncIterator[EditorSite]:
    async with served_editor(folder, clock=clock, **{"authors": None} | options) as site:
        yield site


async def opened(site: EditorSite, code: str, **headers: str) -> httpx2.Response:
    answer = await site.client.post(
        "/editor/-/session", json={"code": code}, headers={"X-Tenantry-Editor": "1"} | headers
    )
    site.client.cookies.clear()
    return answer


def cookie(answer: httpx2.Response) -> Morsel[str]:
    (found,) = SimpleCookie(answer.headers["set-cookie"]).values()
    return found


async def ask(site: EditorSite, path: str, key: str, name: str = "__Secure-tenantry-editor") -> httpx2.Response:
    headers = {"X-Tenantry-Editor": "1", "Cookie": f"{name}={key}"}
    return await site.client.post(f"/editor/-/{path}", json={}, headers=headers)


async def test_a_link_opens_one_session_with_the_authors_rights(tmp_path: Path) -> None:
    """Red when the code is read and not redeemed, when the session forgets rights or environments, and when the key in
    the store is the one in the cookie."""
    async with served(tmp_path, FrozenClock()) as site:
        code = await EditorSessions(site.store).issue(ANN, OPERATOR)
        found = cookie(await opened(site, code))
        state = (await ask(site, "state", found.value)).json()
        assert (state["author"], state["rights"], state["has_session"]) == ("ann", ["unguarded", "view"], True)
        assert state["environments"] == ["production"]
        again = await opened(site, code)
        assert (again.status_code, again.json()["error"]["code"]) == (410, "code_used")
        assert "set-cookie" not in again.headers
        assert found.value.encode() not in repr(site.store._tables.codes).encode()
        assert (await ask(site, "state", found.value)).status_code == 200
        for key in ("", code, found.value[:-1], "x" * 43):
            assert (await ask(site, "state", key)).status_code == 401


async def test_a_second_cookie_changes_no_author(tmp_path: Path) -> None:
    """Another application of the host can set one of the same name for a shorter path. Red when the first or the last
    cookie counts."""
    async with served(tmp_path, FrozenClock()) as site:
        sessions = EditorSessions(site.store)
        keys = [await sessions.open(await sessions.issue(EditorAuthor(name), OPERATOR)) for name in ("ann", "eve")]
        for pair in (keys, keys[::-1]):
            refused = await ask(site, "state", f"{pair[0]}; __Secure-tenantry-editor={pair[1]}")
            assert (refused.status_code, refused.json()["error"]["code"]) == (401, "no_author")
            assert "another application on this host also sets" in refused.json()["error"]["message"]
        twice = await ask(site, "state", f"{keys[0]}; __Secure-tenantry-editor={keys[0]}")
        assert twice.json()["author"] == "ann"


async def test_with_a_second_cookie_an_author_can_log_out(tmp_path: Path) -> None:
    """The session would last for hours. Red when only a request with one cookie ends a session, or only the first."""
    async with served(tmp_path, FrozenClock()) as site:
        sessions = EditorSessions(site.store)
        keys = [await sessions.open(await sessions.issue(EditorAuthor(name), OPERATOR)) for name in ("ann", "eve")]
        both = "; __Secure-tenantry-editor=".join([*keys, "x" * 43])
        many = "; __Secure-tenantry-editor=".join([*(f"{n:043}" for n in range(20)), keys[0]])
        assert (await ask(site, "session/end", many)).status_code == 401, "no more reads than 20"
        foreign = {
            "Cookie": f"__Secure-tenantry-editor={both}",
            "X-Tenantry-Editor": "1",
            "Sec-Fetch-Site": "cross-site",
        }
        assert (await site.client.post("/editor/-/session/end", json={}, headers=foreign)).status_code == 403
        assert (await ask(site, "state", keys[0])).status_code == 200
        left = await ask(site, "session/end", both)
        assert (left.status_code, cookie(left)["max-age"]) == (200, "0")
        assert [(await ask(site, "state", key)).status_code for key in keys] == [401, 401]
        assert (await ask(site, "session/end", both)).status_code == 401
        closed = [each for each in await site.store.audit.list() if each.action == "editor.closed"]
        assert sorted((each.author.name, each.subject) for each in closed) == [
            ("editor ann", "ann"),
            ("editor eve", "eve"),
        ]


async def test_the_cookie_is_only_for_the_editor_of_this_port(tmp_path: Path) -> None:
    """Red when the cookie lacks an attribute, and when two editors on one host overwrite their cookies."""
    async with served(tmp_path, FrozenClock()) as site:
        sessions = EditorSessions(site.store)
        found = cookie(await opened(site, await sessions.issue(ANN, OPERATOR)))
        assert found.key == "__Secure-tenantry-editor"
        assert (found["path"], found["samesite"], found["max-age"]) == ("/editor", "strict", "28800")
        assert found["secure"]
        assert found["httponly"]
        assert not found["domain"]
        other = cookie(await opened(site, await sessions.issue(ANN, OPERATOR), Host="127.0.0.1:8001"))
        assert other.key == "__Secure-tenantry-editor-8001"


async def test_a_session_ends(tmp_path: Path) -> None:
    """After its hours, when the author logs out, and when an operator ends all sessions of the author, also by a link
    that is still unused. Red when one of the three does nothing, or when another author's session ends too."""
    clock = FrozenClock()
    async with served(tmp_path, clock, session_hours=0.5) as site:
        sessions = EditorSessions(site.store)

        async def login(author: EditorAuthor = ANN) -> str:
            return cookie(await opened(site, await sessions.issue(author, OPERATOR))).value

        first = await login()
        clock.advance(1_799)
        second, bob = await login(), await login(EditorAuthor("bob"))
        assert (await ask(site, "state", first)).status_code == 200
        clock.advance(1)
        assert (await ask(site, "state", first)).json()["error"]["code"] == "no_author"

        left = await ask(site, "session/end", second)
        assert (left.status_code, cookie(left)["max-age"], cookie(left)["path"]) == (200, "0", "/editor")
        assert (await ask(site, "state", second)).status_code == 401

        third, unused = await login(), await sessions.issue(ANN, OPERATOR)
        assert await sessions.end_all("ann", OPERATOR) == 2
        assert (await ask(site, "state", third)).status_code == 401
        assert (await opened(site, unused)).status_code == 410
        assert (await ask(site, "state", bob)).status_code == 200


async def test_a_link_ends_after_ten_minutes(tmp_path: Path) -> None:
    clock = FrozenClock()
    async with served(tmp_path, clock) as site:
        code = await EditorSessions(site.store).issue(ANN, OPERATOR)
        clock.advance(600)
        assert (await opened(site, code)).status_code == 410


async def test_links_and_sessions_are_audited(tmp_path: Path) -> None:
    """Red when one of the four is not recorded, or when an entry has the code."""
    async with served(tmp_path, FrozenClock()) as site:
        sessions = EditorSessions(site.store)
        code = await sessions.issue(ANN, OPERATOR)
        key = cookie(await opened(site, code)).value
        await ask(site, "session/end", key)
        await sessions.end_all("ann", OPERATOR)
        entries = [each for each in await site.store.audit.list() if each.action.startswith("editor.")]
        assert [(each.action, each.author.name, each.subject) for each in entries] == [
            ("editor.link_created", "operator", "ann"),
            ("editor.opened", "editor ann", "ann"),
            ("editor.closed", "editor ann", "ann"),
            ("editor.sessions_ended", "operator", "ann"),
        ]
        for entry in entries[:2]:
            assert dict(entry.details) == {"rights": "unguarded view", "environments": "production"}
        assert code not in repr(entries)
        assert key not in repr(entries)


async def test_a_page_of_another_site_opens_no_session(tmp_path: Path) -> None:
    """Otherwise it could log an author in as somebody else. Red when the route does not check its page; the link must
    stay unused."""
    async with served(tmp_path, FrozenClock()) as site:
        code = await EditorSessions(site.store).issue(ANN, OPERATOR)
        assert (await opened(site, code, **{"Sec-Fetch-Site": "cross-site"})).status_code == 403
        without = await site.client.post("/editor/-/session", json={"code": code})
        assert without.status_code == 422
        assert (await opened(site, code)).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("reports.example.com", 422), ("192.168.0.7:8000", 422), ("127.0.0.1:8000", 200), ("[::1]:8000", 200)],
)
async def test_without_https_only_this_machine_gets_a_session(tmp_path: Path, host: str, status: int) -> None:
    """A browser would discard the cookie and the link would be lost. Red when the link is used up first."""
    async with served(tmp_path, FrozenClock()) as site:
        code = await EditorSessions(site.store).issue(ANN, OPERATOR)
        answer = await opened(site, code, Origin=f"http://{host}", Host=host)
        assert answer.status_code == status, answer.text
        if status == 422:
            assert "https://" in answer.json()["error"]["message"]
            assert (await opened(site, code, Origin=f"https://{host}", Host=host)).status_code == 200


async def test_with_authors_of_the_host_there_are_no_sessions(tmp_path: Path) -> None:
    """Red when a link lets in somebody whom the host program does not know."""
    async with served_editor(tmp_path) as site:
        code = await EditorSessions(site.store).issue(ANN, OPERATOR)
        assert (await opened(site, code)).status_code == 404
        assert (await site.post("session/end")).status_code == 404


@pytest.mark.parametrize("hours", [0, -1, 721, float("nan")])
async def test_wrong_lengths_are_refused(tmp_path: Path, hours: float) -> None:
    with pytest.raises(InvalidSettings, match="session_hours"):
        async with served_editor(tmp_path, session_hours=hours):
            pass


async def test_a_link_for_too_many_environments_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, FrozenClock()) as site:
        many = EditorAuthor("ann", environments=frozenset(f"environment-{number:04}" for number in range(400)))
        with pytest.raises(InvalidSettings, match="environments"):
            await EditorSessions(site.store).issue(many, OPERATOR)
