"""The interface behind a real HTTP server, asked by the client and by bare sockets."""

from __future__ import annotations

import json
import socket
import uuid
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from tenantry.client import AsyncClient, Client
from tenantry.client.bulk import MAX_TOGETHER
from tenantry.errors import (
    GroupSuspended,
    MissingScope,
    TokenAlreadyRotated,
    Unauthorized,
    UnknownDataSource,
    UnknownGroup,
    UnknownToken,
)
from tests.client.conftest import Live, serving


def new_id() -> str:
    return f"acme-{uuid.uuid4()}"


@pytest.mark.parametrize("get_method", ["GET", "QUERY", "POST"])
def test_the_life_of_a_group(live: Live, get_method: str) -> None:
    """Created, found, updated, rotated; by each of the methods that get or create."""
    name = new_id()
    with Client(live.url + "/", live.caller, get_method=get_method) as client:  # type: ignore[arg-type]
        made = client.get_or_create(name, name="Acme", properties={"region": "eu"})
        assert (made.created, made.name, made.provided_id, made.properties) == (True, "Acme", name, {"region": "eu"})
        assert client.get_or_create(name).token == made.token
        changed = client.update(name, properties=None)
        assert (changed.name, changed.properties, changed.created) == ("Acme", None, None)
        assert str(changed.api_environment_tag) == "Customer"
        tried = client.update(name, name="B", dry_run=True)
        assert (tried.name, tried.token, tried.dry_run) == ("B", made.token, True)
        assert client.rotate(made.token, dry_run=True).token == ""
        assert client.get_or_create(new_id(), dry_run=True).created
        client.update(name, properties={"a": 1, "b": {"c": 2, "d": 3}})
        merged = client.merge(name, properties={"b": {"c": None}, "e": [4]})
        assert (merged.name, merged.properties) == ("Acme", {"a": 1, "b": {"d": 3}, "e": [4]})
        ends = datetime(2027, 2, 1, 1, 59, 59, 500_000, timezone(timedelta(hours=2)))
        ended = client.merge(name, expires_at=ends)
        assert (ended.expires_at, ended.properties) == (ends, merged.properties)
        assert merged.expires_at is client.update(name, name="Acme").expires_at is None
        listed = client.find(name)
        assert listed is not None
        assert listed.expires_at == ends
        assert client.merge(name, expires_at=None).expires_at is None
        with pytest.raises(ValueError, match="time zone"):
            client.merge(name, expires_at=ends.replace(tzinfo=None))
        rotated = client.rotate(made.token)
        assert rotated.token != made.token
        tried_deletion = client.delete(name, dry_run=True)
        assert tried_deletion is not None
        assert (tried_deletion.provided_id, tried_deletion.properties) == (name, merged.properties)
        found = client.get_or_create(name)
        assert (found.token, found.name) == (rotated.token, "Acme")
        assert client.delete(name) == tried_deletion
        assert client.find(name) is None


def test_groups_are_listed_without_tokens(live: Live) -> None:
    """All of them, page by page; one by its id; and nothing is created."""
    name = new_id()
    with Client(live.url, live.caller) as client:
        made = [
            client.get_or_create(f"{name}-{number}", name="Listed é", properties={"n": number}) for number in range(5)
        ]
        listed = list(client.groups(match=f"{name}-", page_size=2))
        assert [(each.team_id, each.provided_id, each.properties) for each in listed] == [
            (each.team_id, each.provided_id, each.properties) for each in made
        ]
        assert [each.provided_id for each in client.groups(match="listed é", after=made[3].team_id)] == [f"{name}-4"]
        found = client.find(f"{name}-1")
        assert found == listed[1]
        assert (found.name, found.mapping, str(found.api_environment_tag)) == ("Listed é", None, "Customer")
        assert client.find(name) is None
        assert client.find(name) is None


async def test_a_pass(live: Live) -> None:
    """From threads and from asyncio; the API token reads no token. Red when a field is not sent."""
    name = new_id()
    with Client(live.url, live.caller) as owner, Client(live.url, live.reader) as host:
        token = owner.get_or_create(name).token
        made = host.create_pass(name, "ann", {"region": "eu"}, seconds=60, scope="app")
        assert owner.merge(name, suspended=True).suspended
        with pytest.raises(GroupSuspended):
            host.create_pass(name)
        with pytest.raises(GroupSuspended):
            owner.get_or_create(name)
        assert owner.merge(name, suspended=False).token == token
    async with AsyncClient(live.url, live.reader) as client:
        again = await client.create_pass(name, "ann", {"region": "eu"}, seconds=60, scope="app")
    for each in (made, again):
        assert each.token not in repr(each)
        assert each.token[3:47] == token[3:47]
        claims = json.loads(urlsafe_b64decode(each.token.split(".")[2] + "=="))
        assert claims.pop("exp") - claims.pop("iat") == 60
        assert claims == {"sub": "ann", "viewer": {"region": "eu"}, "scope": "app"}
        assert each.expires_at - datetime.now(UTC) < timedelta(seconds=60)


async def test_a_revoked_viewer(live: Live) -> None:
    """From threads and from asyncio. Red when another error is raised for an unknown group."""
    name = new_id()
    with Client(live.url, live.caller) as owner:
        owner.get_or_create(name)
        first = owner.revoke_viewer(name, "ann")
        with pytest.raises(UnknownGroup):
            owner.revoke_viewer(new_id(), "ann")
    async with AsyncClient(live.url, live.caller) as client:
        second = await client.revoke_viewer(name, "ann")
    assert first <= second
    assert timedelta(seconds=-60) < second - datetime.now(UTC) <= timedelta(seconds=1)


async def test_the_same_from_asyncio(live: Live) -> None:
    """One implementation: the calls are the same objects."""
    name = new_id()
    async with AsyncClient(live.url, live.caller) as client:
        made = await client.get_or_create(name, name="Acme", properties={"a": [1, None]})
        changed = await client.update(name, name="B")
        assert (made.created, changed.name, changed.properties) == (True, "B", {"a": [1, None]})
        listed = [each async for each in client.groups(match=name, page_size=1)]
        assert listed == [await client.find(name)]
        assert await client.find(name + "-") is None
        merged = await client.merge(name, properties={"a": None}, expires_at=datetime(2027, 1, 31, tzinfo=UTC))
        assert (merged.properties, merged.expires_at) == ({}, datetime(2027, 1, 31, tzinfo=UTC))
        rotated = await client.rotate(made.token, idempotency_key=name)
        again = await client.rotate(made.token, idempotency_key=name)
        assert (rotated.token, rotated.replayed, again.replayed) == (again.token, False, True)


def test_errors_come_back_as_what_they_were(live: Live) -> None:
    """By their code, with their field and the request id."""
    with Client(live.url, live.caller) as client:
        made = client.get_or_create(new_id())
        client.rotate(made.token)
        with pytest.raises(TokenAlreadyRotated):
            client.rotate(made.token)
        with pytest.raises(UnknownToken):
            client.rotate("x")
        with pytest.raises(UnknownGroup):
            client.update(new_id(), name="x")
        with pytest.raises(UnknownDataSource, match=r"tenantry data-source create x .*\(request \w+\)") as caught:
            client.get_or_create(new_id(), mapping={"main": "x"})
        assert (caught.value.field, caught.value.status, caught.value.code) == (
            "/mapping/main",
            422,
            "unknown_data_source",
        )
    with Client(live.url, live.reader) as client, pytest.raises(MissingScope):
        client.get_or_create("x")
    with Client(live.url, "wrong") as client, pytest.raises(Unauthorized):
        client.get_or_create("x")


def test_threads_share_a_client(live: Live) -> None:
    """32 calls at once, one group."""
    name = new_id()
    with Client(live.url, live.caller) as client, ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: client.get_or_create(name), range(32)))
    assert len({each.token for each in made}) == 1
    assert sum(each.created is True for each in made) == 1


# --- bare sockets -----------------------------------------------------------------------------------------------------


def talk(live: Live, *parts: bytes) -> bytes:
    """Sends the parts, reads until the server closes or is silent."""
    with socket.create_connection(live.address, timeout=60) as connection:
        for part in parts:
            connection.sendall(part)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
            if _is_whole(received):
                break
    return received


def _is_whole(received: bytes) -> bool:
    received = received.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    head, separator, body = received.partition(b"\r\n\r\n")
    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(separator) and bool(length) and len(body) >= int(length[0].split(b":")[1])


def head(live: Live, *lines: str, method: str = "GET") -> bytes:
    fixed = [f"{method} /api/user HTTP/1.1", "Host: x", f"Authorization: Token {live.caller}"]
    return "\r\n".join([*fixed, "Content-Type: application/json", *lines, "", ""]).encode()


@pytest.mark.parametrize("method", ["GET", "QUERY", "POST"])
def test_a_chunked_body(live: Live, method: str) -> None:
    """A body without a length, on GET too."""
    body = json.dumps({"user_group_id": new_id()}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:5], body[5:])) + b"0\r\n\r\n"
    assert talk(live, head(live, "Transfer-Encoding: chunked", method=method), chunks).startswith(b"HTTP/1.1 200")


def test_a_body_too_large_is_refused_before_it_is_asked_for(live: Live) -> None:
    """The client waits for ``100 Continue`` and gets 413, and the connection is closed."""
    answer = talk(live, head(live, "Content-Length: 65537", "Expect: 100-continue"))
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"\r\nconnection: close\r\n" in answer.lower()
    small = b'{"user_group_id":"expected"}'
    answer = talk(live, head(live, f"Content-Length: {len(small)}", "Expect: 100-continue"), small)
    assert b"HTTP/1.1 200" in answer


def test_an_endless_chunked_body_is_cut_off(live: Live) -> None:
    """413 after 64 KiB, though no length was announced."""
    chunks = [b"2710\r\n" + b" " * 10_000 + b"\r\n"] * 7
    assert talk(live, head(live, "Transfer-Encoding: chunked"), *chunks).startswith(b"HTTP/1.1 413")


def test_a_slow_body_is_given_up() -> None:
    """408 with ``success`` when the rest does not come (half a second here, ten by default)."""
    with serving(body_seconds=0.5) as hasty:
        answer = talk(hasty, head(hasty, "Content-Length: 100"), b"{")
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"success":0' in answer


def test_head_creates_nothing(live: Live) -> None:
    """405 without a body, on a real server."""
    name = new_id()
    body = json.dumps({"user_group_id": name}).encode()
    answer = talk(live, head(live, f"Content-Length: {len(body)}", "Connection: close", method="HEAD"), body)
    assert answer.startswith(b"HTTP/1.1 405")
    assert answer.endswith(b"\r\n\r\n")
    with Client(live.url, live.caller) as client, pytest.raises(UnknownGroup):
        client.update(name)


async def test_many_groups_at_a_live_service(live: Live) -> None:
    """Both clients, several requests, and groups that come asynchronously."""
    names = [new_id() for _ in range(MAX_TOGETHER + 20)]
    with Client(live.url, live.caller) as client:
        made = list(client.bulk({"user_group_id": name, "properties": {"a": 1}} for name in names))
        assert [each.outcome for each in made] == ["created"] * len(names)
        assert [each.group.provided_id for each in made if each.group] == names
        found = client.get_or_create(names[0])
        assert made[0].group is not None
        assert found.token == made[0].group.token

    end = datetime(2031, 1, 31, tzinfo=timezone(timedelta(hours=1)))

    async def groups() -> AsyncIterator[dict[str, Any]]:
        for name in [*names[:3], ""]:
            yield {"user_group_id": name, "properties": {"a": None, "b": 2}, "expires_at": end}

    async with AsyncClient(live.url, live.caller) as asynchronous:
        merged = [each async for each in asynchronous.bulk(groups())]
    assert [each.outcome for each in merged] == ["updated"] * 3 + ["failed"]
    assert [(each.group.properties, each.group.expires_at) for each in merged if each.group] == [({"b": 2}, end)] * 3
