"""Who calls, and when that is looked up: together with the group, and before any error about the body."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from tenantry.provisioning.http.request import SMALL_BODY
from tenantry.tokens import checksum
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_app
from tests.provisioning.http.test_table import ACME, code_of

ANEW = {"user_group_id": "new"}


PARTS = {"groups", "environments", "api_tokens", "sources", "codes", "usage", "audit"}


class Counted:
    """A store that notes the calls of its parts, and of itself."""

    def __init__(self, counted: Any, calls: list[str] | None = None, prefix: str = "") -> None:
        self._counted = counted
        self._prefix = prefix
        self.calls: list[str] = [] if calls is None else calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._counted, name)
        if name in PARTS:
            return Counted(found, self.calls, f"{name}.")
        self.calls.append(self._prefix + name)
        return found


def unknown_token() -> str:
    """An API token of the right shape that nobody has."""
    checked = b"ugkc_" + b"0" * 43
    return (checked + checksum(checked)).decode()


@pytest.mark.parametrize(
    ("method", "body", "calls"),
    [
        ("GET", ACME, ["api_tokens.get_with_group"]),
        ("QUERY", ACME, ["api_tokens.get_with_group"]),
        ("POST", ACME, ["api_tokens.get_with_group"]),
        ("GET", ANEW, ["api_tokens.get_with_group", "groups.get_or_create"]),
        ("PUT", {**ACME, "name": "Acme Ltd"}, ["api_tokens.get_with_group", "groups.update"]),
        ("PUT", ANEW, ["api_tokens.get_with_group"]),
        ("POST", {"current_token": "?"}, ["api_tokens.get"]),
    ],
)
async def test_what_a_request_asks_of_the_store(
    service: Service, method: str, body: dict[str, Any], calls: list[str]
) -> None:
    """One read answers for a group that is there, and a write reads nothing twice.

    Red when the API token is looked up by itself, and when a verb looks for the group again.
    """
    await service.ask("GET", ACME)
    store = Counted(service.store)
    headers = {**JSON_TYPE, "Authorization": f"Token {service.caller}"}
    transport = httpx2.ASGITransport(make_app(store, service.keys))
    async with httpx2.AsyncClient(transport=transport, base_url="http://tenantry.test", headers=headers) as http:
        await http.request(method, "/api/user", json=body)
    assert store.calls == calls


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", JSON_TYPE),
        (b"{", JSON_TYPE),
        (b"[]", JSON_TYPE),
        (b'{"user_group_id": ""}', JSON_TYPE),
        (b'{"user_group_id": "acme"}', {"Content-Type": "text/plain"}),
        (b"x" * (SMALL_BODY + 1), JSON_TYPE),
        (b"x" * 70_000, JSON_TYPE),
        (b"{}", {**JSON_TYPE, "Content-Length": "two"}),
    ],
)
async def test_a_stranger_hears_nothing_about_the_body(service: Service, body: bytes, headers: dict[str, str]) -> None:
    """401, whatever is wrong with it, long or brief. Red without the look-up where the body is refused."""
    for method in ("GET", "PUT", "POST"):
        answer = await service.send(method, body, headers, caller=unknown_token())
        assert code_of(answer) == (401, "unauthorized")


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", b"%d" % (SMALL_BODY + 1))],
        [(b"content-length", b"2"), (b"expect", b"100-continue")],
        [(b"transfer-encoding", b"chunked")],
    ],
)
async def test_the_body_of_a_stranger_is_not_waited_for(
    service: Service, headers: list[tuple[bytes, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """He is refused before his body is asked for, and then it has a second to come, so that he can read that; one that
    waits for ``100 Continue``, which a server says when a body is first asked for, has none.

    Red when ``has_small_body`` forgets the length or Expect, and when what is drained has no limit of time.
    """
    sent: list[dict[str, Any]] = []
    looked_up = asyncio.Event()
    real = service.store.api_tokens.get

    async def api_token(digest: bytes) -> Any:
        looked_up.set()
        return await real(digest)

    monkeypatch.setattr(service.store.api_tokens, "get", api_token)

    async def receive() -> dict[str, Any]:
        assert looked_up.is_set(), "the body was asked for"
        assert (b"expect", b"100-continue") not in headers, "the body was asked for"
        await asyncio.Event().wait()
        raise AssertionError("never")

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    given = [(b"authorization", b"Token " + unknown_token().encode()), (b"content-type", b"application/json"), *headers]
    scope = {"type": "http", "method": "GET", "path": "/api/user", "root_path": "", "headers": given}
    async with asyncio.timeout(30):
        await make_app(service.store, service.keys)(scope, receive, send)
    assert sent[0]["status"] == 401


async def test_a_long_body_of_a_caller_is_read(service: Service) -> None:
    """The caller is looked up before it, and again with the group: who was revoked meanwhile is too late."""
    body = json.dumps({**ACME, "properties": {"text": "x" * SMALL_BODY}}).encode()
    assert (await service.send("GET", body, JSON_TYPE)).status_code == 200
    found = await service.store.groups.get(service.production, "acme")
    assert found is not None
    assert found.group.as_dict()["properties"] == {"text": "x" * SMALL_BODY}
