"""The redirect: how a token leaves the address."""

from __future__ import annotations

from http.cookies import SimpleCookie

import httpx2
import pytest

from tests.demo.stage import Stage


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_the_token_goes_from_the_address_into_a_cookie(stage: Stage, scheme: str) -> None:
    """303 to an address without it; HttpOnly, SameSite, short-lived, for one path; Secure where it can be."""
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=stage.app), base_url=f"{scheme}://demo") as client:
        answer = await client.get("/", params={"USER_GROUP_TOKEN": stage.tokens["UA"]})
    cookie = SimpleCookie(answer.headers["set-cookie"])["USER_GROUP_TOKEN"]
    assert answer.status_code == 303
    assert stage.tokens["UA"] not in answer.headers["location"]
    assert cookie.value == stage.tokens["UA"]
    assert (cookie["httponly"], cookie["samesite"], cookie["secure"] or False) == (True, "Lax", scheme == "https")
    assert cookie["path"] == answer.headers["location"]
    assert cookie["path"].count("/") == 3
    assert 0 < int(cookie["max-age"]) <= 3600
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"


async def test_the_server_s_log_does_not_see_the_token(stage: Stage) -> None:
    """What a server logs after the answer is the scope, and the token is gone from it. Red when it is only read."""
    scopes = []

    async def watched(scope, receive, send):  # type: ignore[no-untyped-def]
        scopes.append(scope)
        await stage.app(scope, receive, send)

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=watched), base_url="http://demo") as client:
        await client.get("/", params={"USER_GROUP_TOKEN": stage.tokens["UA"]})
    assert stage.tokens["UA"].encode() not in scopes[0]["query_string"]


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
async def test_a_token_that_was_never_given_out_is_refused(stage: Stage, accept: str) -> None:
    """401 as a page or as JSON, no cookie, and the token is not repeated."""
    token = stage.unknown_token()
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=stage.app), base_url="http://demo") as client:
        answer = await client.get("/", params={"USER_GROUP_TOKEN": token}, headers={"Accept": accept})
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith(accept)
    assert "set-cookie" not in answer.headers
    assert token not in answer.text


async def test_without_a_token_there_is_no_page(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """Neither in the middleware nor behind it."""
    handle = (await stage.provisioner.get(stage.environment, "UA")).group.handle.hex()  # type: ignore[union-attr]
    assert (await browse.get("/")).status_code == 401
    assert (await browse.get(f"/d/{handle}/")).status_code == 401


async def test_a_cookie_opens_no_other_group_s_address(stage: Stage) -> None:
    """Red when departures() does not compare the address with the group."""
    handle = (await stage.provisioner.get(stage.environment, "B6")).group.handle.hex()  # type: ignore[union-attr]
    cookie = {"Cookie": f"USER_GROUP_TOKEN={stage.tokens['UA']}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=stage.app), base_url="http://demo") as client:
        assert (await client.get(f"/d/{handle}/", headers=cookie)).status_code == 401


async def test_a_rotated_token_closes_the_open_page(stage: Stage, browse: httpx2.AsyncClient) -> None:
    """The next reload is refused."""
    page = await browse.get("/", params={"USER_GROUP_TOKEN": stage.tokens["UA"]})
    assert page.status_code == 200
    await stage.provisioner.rotate(stage.environment, stage.tokens["UA"])
    assert (await browse.get(page.url)).status_code == 401
