"""A resolver whose key file changes while it runs: what a removed key has signed is gone, also from the cache."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tenantry import mint_pass
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.middleware.token_watch import TokenWatch
from tenantry.resolver import Resolver
from tenantry.testing import make_group, make_token
from tenantry.tokens.keys import SigningKeys, create_key_file, remove_key, rotate_key_file
from tests.middleware.sockets import Socket, listening
from tests.resolver.fake import PATIENT, FakeBackend, FindBackend
from tests.resolver.test_poller import until

OFTEN = 0.05


async def _poll(resolver: Resolver) -> None:
    """By hand, and not by the time: what is cached stays good where a busy machine stands still."""
    assert resolver._poller is not None
    await resolver._poller.poll()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A key file with k1 and k2."""
    create_key_file(tmp_path / "tenantry.keys")
    rotate_key_file(tmp_path / "tenantry.keys")
    return tmp_path / "tenantry.keys"


def _issue(backend: FindBackend, keys: SigningKeys, key_id: str) -> bytes:
    group = make_group(name=key_id)
    backend.groups[group.handle] = group
    return keys.mint(make_token(group, key_id=key_id)).encode()


@pytest.mark.parametrize("down", [False, True], ids=["store-answers", "store-down"])
async def test_cached_groups_of_a_removed_key_are_forgotten(path: Path, down: bool) -> None:
    """Only hits are asked for, which look at no file: the poll does, and what it finds is gone within the bound, also
    while the store is down. The group of the other key is read again. Red when the cache is not emptied."""
    backend, keys = FakeBackend(), SigningKeys.from_file(path)
    resolver = Resolver(backend, keys=keys, staleness=PATIENT, patience=PATIENT)
    leaked, good = _issue(backend, keys, "k1"), _issue(backend, keys, "k2")
    for raw in (leaked, good):
        await resolver.resolve(raw)
        assert resolver.peek(raw) is not None
    if down:
        backend.poll_error = StoreUnavailable("down")
    remove_key(path, "k1")
    await _poll(resolver)
    assert resolver.peek(leaked) is None
    assert resolver.counters.flushed == 1
    with pytest.raises(InvalidToken):
        await resolver.resolve(leaked)
    assert (await resolver.resolve(good)).name == "k2"
    await resolver.aclose()


async def test_the_passes_of_a_removed_key_are_forgotten(path: Path) -> None:
    """The cached one, and one that was never seen: the program that has the token goes on making them. Red when the
    cache is not emptied, and when a pass is verified without the keys that there are now."""
    backend, keys = FakeBackend(), SigningKeys.from_file(path)
    resolver = Resolver(backend, keys=keys, staleness=PATIENT, patience=PATIENT)
    leaked, good = _issue(backend, keys, "k1").decode(), _issue(backend, keys, "k2").decode()
    cached, other = [mint_pass(token, "ada").encode() for token in (leaked, good)]
    for raw in (cached, other):
        assert (await resolver.resolve(raw)).viewer_id == "ada"
    remove_key(path, "k1")
    await _poll(resolver)
    assert resolver.peek(cached) is None
    for raw in (cached, mint_pass(leaked, "bob").encode()):
        with pytest.raises(InvalidToken):
            await resolver.resolve(raw)
    assert (await resolver.resolve(other)).name == "k2"
    await resolver.aclose()


async def test_a_key_that_was_added_empties_no_cache(path: Path) -> None:
    """Its tokens are good, and what is cached stays. Red when each change of the file empties the cache."""
    backend, keys = FakeBackend(), SigningKeys.from_file(path)
    resolver = Resolver(backend, keys=keys, staleness=PATIENT, patience=PATIENT)
    before = _issue(backend, keys, "k1")
    await resolver.resolve(before)
    rotate_key_file(path)
    await _poll(resolver)
    assert keys._ids == ("k1", "k2", "k3")
    await resolver.resolve(_issue(backend, keys, "k3"))
    assert resolver.peek(before) is not None
    assert resolver.counters.flushed == 0
    await resolver.aclose()


async def test_a_backend_that_is_not_followed_keeps_to_the_bound(path: Path) -> None:
    """No poll looks at the file there: each load does, so an entry that is stored was signed by a key that is there.
    Red when the file is looked at once a second: what is stored late in it lives for the bound after that."""
    backend, keys = FindBackend(), SigningKeys.from_file(path)
    resolver = Resolver(backend, keys=keys, staleness=60.0)
    leaked, other = _issue(backend, keys, "k1"), _issue(backend, keys, "k1")
    await resolver.resolve(leaked)
    remove_key(path, "k1")
    with pytest.raises(InvalidToken):
        await resolver.resolve(other)
    assert resolver.peek(leaked) is None
    assert backend.reads == 1
    await resolver.aclose()


async def test_an_open_websocket_of_a_removed_key_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """4401, as after a rotation of the group. The one of another key goes on."""
    monkeypatch.setattr(TokenWatch, "_schedule", lambda watch, rest: watch._set_timer(min(OFTEN, rest)))
    backend, keys = FakeBackend(), SigningKeys.from_file(path)
    resolver = Resolver(backend, keys=keys, staleness=PATIENT, patience=PATIENT)
    sockets = {}
    for key_id in ("k1", "k2"):
        sockets[key_id] = socket = Socket()
        socket.scope["headers"] = [(b"x-user-group-token", _issue(backend, keys, key_id))]
    running = {key_id: socket.open(listening, resolver) for key_id, socket in sockets.items()}
    for socket in sockets.values():
        socket.say("hello")
    await until(lambda: all(socket.texts for socket in sockets.values()))
    remove_key(path, "k1")
    await _poll(resolver)
    await asyncio.wait_for(running["k1"], 120)
    closing = sockets["k1"].closing
    assert closing is not None
    assert (closing["code"], closing["reason"]) == (4401, "invalid_token")
    sockets["k2"].say("still")
    await until(lambda: sockets["k2"].texts == ["hello k2", "still k2"])
    running["k2"].cancel()
    await resolver.aclose()
