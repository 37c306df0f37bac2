"""No address reaches what was not allowed: every trick against canaries, and each defence removed once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pytest

from tenantry_site.relay import Relay, app, dial
from tenantry_site.relay.request import RelayRequest
from tenantry_site.relay.url import parse_url
from tests.relay.conftest import relay_of
from tests.relay.stage import OWN, PUBLIC, World, post, world
from tests.relay.tricks import TRICKS, Trick

REFUSALS = {"bad_address", "origin_not_allowed", "address_refused", "name_not_found"}


def test_there_are_enough_tricks() -> None:
    assert len(TRICKS) >= 120
    assert len({trick.name for trick in TRICKS}) == len({trick.address + str(trick.answers) for trick in TRICKS})


@pytest.mark.parametrize("trick", TRICKS, ids=[trick.name for trick in TRICKS])
async def test_no_trick_reaches_a_canary(trick: Trick, stage: World, relay: Relay) -> None:
    """Red when any of the defences of ``test_each_defence_is_needed`` is missing, or when a name is resolved before its
    origin is looked up: a name alone can carry data away.
    """
    if trick.answers:
        stage.names["api.allowed.test"] = [list(answer) for answer in trick.answers]

    answer = await post(relay, {"method": "GET", "url": stage.fill(trick.address)})

    assert answer.code in REFUSALS
    assert stage.reached == 0
    assert stage.dials == []
    assert not stage.asked or trick.answers


async def test_an_answer_that_changes_changes_nothing(stage: World, relay: Relay) -> None:
    """DNS rebinding: public when it is checked, loopback when it is connected to. Red when the name is asked twice."""
    stage.names["api.allowed.test"] = [[PUBLIC], ["127.0.0.1"]]

    answer = await post(relay, {"url": stage.fill("http://api.allowed.test:{canary}/")})

    assert answer.status == 200
    assert stage.asked == ["api.allowed.test"]
    assert stage.dials == [(PUBLIC, stage.canary.port)]
    assert stage.canary.accepts == 0


async def test_a_private_origin_opens_one_port_and_no_metadata() -> None:
    """Red when ``private`` opens a host, or a name that leads to link-local or metadata addresses."""
    async with world() as stage:
        relay = Relay([], ["http://inside.test", f"http://127.0.0.1:{stage.allowed.port}"], resolve=stage.resolve)
        for bad in ("169.254.169.254", "100.100.100.200", "fd00:ec2::254", "0.0.0.0", "::ffff:127.0.0.1", "fe80::1"):
            stage.names["inside.test"] = [[bad]]
            assert (await post(relay, {"url": "http://inside.test/"})).code == "address_refused"
        for port in (stage.canary.port, 80, 22):
            assert (await post(relay, {"url": f"http://127.0.0.1:{port}/"})).code == "origin_not_allowed"
        beside = Relay([stage.fill("http://inside.test:{canary}")], ["http://inside.test"], resolve=stage.resolve)
        stage.names["inside.test"] = [["127.0.0.1"]]
        assert (await post(beside, {"url": stage.fill("http://inside.test:{canary}/")})).code == "address_refused"
        assert stage.reached == 0


REDIRECTS = [
    "http://127.0.0.1:{canary}/",
    "http://localhost:{canary}/",
    "//127.0.0.1:{canary}/",
    "http://[::1]:{canary6}/",
    "http://169.254.169.254/latest/",
    "file:///etc/passwd",
]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", REDIRECTS)
async def test_redirects_are_shown_and_not_followed(status: int, location: str) -> None:
    """Red when a redirect is followed."""

    async def redirect(_: bytes, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status} Moved\r\nLocation: {stage.fill(location)}\r\nRefresh: 0; url={location}\r\n"
        writer.write(f"{head}Content-Length: 0\r\n\r\n".encode())

    async with world(redirect) as stage:
        answer = await post(relay_of(stage), {"url": stage.fill("http://127.0.0.1:{allowed}/")})

        assert answer.content["status"] == status
        assert answer.content["headers"]["location"] == stage.fill(location)
        assert (stage.reached, stage.allowed.accepts) == (0, 1)


# Defences: what removes each of them, and a request that then reaches a canary.


def no_check(stage: World, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dial, "address_problem", lambda ip, *, private=False: None)
    stage.names["api.allowed.test"] = [["127.0.0.1"]]


def first_answer_only(stage: World, patch: pytest.MonkeyPatch) -> None:
    check = dial._check_address
    seen: list[Any] = []

    def lazy(url: Any, ip: Any, *, private: bool, hint: str) -> None:
        if not seen:
            check(url, ip, private=private, hint=hint)
        seen.append(ip)

    patch.setattr(dial, "_check_address", lazy)
    stage.internet.port = 1  # nobody is there, so that the next address is tried
    stage.names["api.allowed.test"] = [[PUBLIC, "127.0.0.1"]]


def no_pin(stage: World, patch: pytest.MonkeyPatch) -> None:
    connect = dial.connect

    async def by_name(addresses: Any, url: Any, tls: Any) -> Any:
        again = [ip_address(text) for text in await stage.resolve(url.host, url.port)]
        return await connect(again, url, tls)

    patch.setattr(dial, "connect", by_name)
    stage.names["api.allowed.test"] = [[PUBLIC], ["127.0.0.1"]]


def no_list(stage: World, patch: pytest.MonkeyPatch) -> None:
    class Everything(frozenset[str]):
        def __contains__(self, origin: object) -> bool:
            return True

        def __or__(self, other: object) -> Everything:  # type: ignore[override]
            return self

    patch.setattr(app, "frozenset", lambda values: Everything(values), raising=False)


def follow_redirects(stage: World, patch: pytest.MonkeyPatch) -> None:
    send_request = app.send_request

    async def following(reader: Any, writer: Any, request: RelayRequest, *, limit: int) -> Any:
        response = await send_request(reader, writer, request, limit=limit)
        url = parse_url(dict(response.headers)["Location"])
        link = await stage.open_socket(url.literal, url.port)  # type: ignore[arg-type]
        streams = await asyncio.open_connection(sock=link)
        response = await send_request(*streams, replace(request, url=url), limit=limit)
        streams[1].transport.abort()
        return response

    patch.setattr(app, "send_request", following)


DEFENCES: list[tuple[Callable[[World, pytest.MonkeyPatch], None], str]] = [
    (no_check, "http://api.allowed.test:{canary}/"),
    (first_answer_only, "http://api.allowed.test:{canary}/"),
    (no_pin, "http://api.allowed.test:{canary}/"),
    (no_list, "http://127.0.0.1:{canary}/"),
    (follow_redirects, "http://127.0.0.1:{allowed}/"),
]


@pytest.mark.parametrize(("remove", "address"), DEFENCES, ids=[remove.__name__ for remove, _ in DEFENCES])
async def test_each_defence_is_needed(
    remove: Callable[[World, pytest.MonkeyPatch], None], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The canaries are alive, and one defence less is one canary reached. Red when a defence does nothing."""

    async def redirect(_: bytes, writer: asyncio.StreamWriter) -> None:
        head = stage.fill("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{canary}/\r\n")
        writer.write(f"{head}Content-Length: 0\r\n\r\n".encode())

    async with world(redirect) as stage:
        monkeypatch.setattr(dial, "open_socket", stage.open_socket)
        with monkeypatch.context() as patch:
            remove(stage, patch)
            relay = relay_of(stage)
            await post(relay, {"method": "GET", "url": stage.fill(address), "headers": {}, "body": None}, headers=OWN)
        assert stage.canary.accepts == 1
