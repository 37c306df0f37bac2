"""What caches get: Vary always, and never a shared copy of a group's page."""

from __future__ import annotations

import pytest

from tenantry.middleware import DEFAULT_CARRIERS, first_of, path
from tests.middleware.asgi import Page, World, http, values

NAME = b"x-user-group-token"
VARY = b"X-User-Group-Token, USER_GROUP_TOKEN, Authorization, Cookie"

CONTROL_ROWS = [
    ([], b"private"),
    ([b"private"], b"private"),
    ([b"no-store"], b"no-store"),
    ([b"private, max-age=60"], b"private, max-age=60"),
    ([b"max-age=60, PRIVATE"], b"max-age=60, PRIVATE"),
    ([b"public, max-age=60"], b"private, max-age=60"),
    ([b"max-age=60"], b"private, max-age=60"),
    ([b"public", b"s-maxage=9, immutable"], b"private, immutable"),
    ([b"no-cache"], b"private, no-cache"),
    ([b'private="set-cookie", max-age=5'], b"private, max-age=5"),
    ([b""], b"private"),
    ([b"no-store, must-understand, max-age=60"], b"private, no-store, must-understand, max-age=60"),
]


@pytest.mark.parametrize(("own", "expected"), CONTROL_ROWS)
@pytest.mark.parametrize("name", [b"cache-control", b"Cache-Control", b"CACHE-CONTROL"])
async def test_cache_control_with_a_group(own: list[bytes], expected: bytes, name: bytes) -> None:
    """The app's private and no-store stay; everything else is made private. Red when _merge() keeps ``public``."""
    world = World(page=Page(headers=[(name, value) for value in own]))
    _, token = world.backend.issue()
    sent = await world.call(http(headers=[(NAME, token)]))
    assert [value for key, value in sent[0]["headers"] if key.lower() == b"cache-control"] == [expected]


@pytest.mark.parametrize("name", [b"cdn-cache-control", b"Surrogate-Control", b"x-accel-expires"])
async def test_headers_that_speak_to_a_cdn_alone_are_dropped(name: bytes) -> None:
    """They would outrank Cache-Control (RFC 9213)."""
    world = World(page=Page(headers=[(name, b"max-age=600"), (b"etag", b"x")]))
    _, token = world.backend.issue()
    sent = await world.call(http(headers=[(NAME, token)]))
    assert sent[0]["headers"] == [(b"etag", b"x"), (b"vary", VARY), (b"cache-control", b"private")]


async def test_without_a_token_only_vary_is_added() -> None:
    """A page for everybody may be cached, as long as a request with a token is another one."""
    world = World(page=Page(headers=[(b"cache-control", b"public, max-age=60"), (b"cdn-cache-control", b"x")]))
    sent = await world.call(http())
    assert sent[0]["headers"] == [
        (b"cache-control", b"public, max-age=60"),
        (b"cdn-cache-control", b"x"),
        (b"vary", VARY),
    ]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ([b"Accept-Encoding"], b"Accept-Encoding, " + VARY),
        (
            [b"accept-encoding, COOKIE", b"Origin"],
            b"accept-encoding, COOKIE, Origin, " + VARY.removesuffix(b", Cookie"),
        ),
        ([b"*"], b"*"),
        ([b"Origin", b"*"], b"*"),
        ([b""], VARY),
    ],
)
@pytest.mark.parametrize("grouped", [True, False])
async def test_vary_is_merged_with_the_own_one(own: list[bytes], expected: bytes, grouped: bool) -> None:
    """One Vary line with the app's names first and ours once."""
    world = World(page=Page(headers=[(b"vary", value) for value in own]))
    _, token = world.backend.issue()
    sent = await world.call(http(headers=[(NAME, token)] if grouped else []))
    assert values(sent, b"vary") == [expected]
    assert values(sent, b"cache-control") == ([b"private"] if grouped else [])


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize(
    ("own", "expected"),
    [([], [b"strict-origin"]), ([b"no-referrer"], [b"no-referrer"]), ([b"unsafe-url"], [b"unsafe-url"])],
)
async def test_a_token_in_the_address_is_no_referer(own: list[bytes], expected: list[bytes], warm: bool) -> None:
    """A page that was opened with the token in its query or path has the browser not name that address to what it
    loads; the app's own policy stays. Red when CacheHeaders forgets it."""
    headers = [(b"Referrer-Policy", value) for value in own]
    world = World({"carriers": first_of(DEFAULT_CARRIERS, path("/embed/{token}"))}, page=Page(headers=headers))
    plain = World(page=Page(headers=headers))
    plain.backend.groups = world.backend.groups
    _, token = world.backend.issue()
    for asked, scope in (
        (plain, http(query=b"USER_GROUP_TOKEN=" + token)),
        (world, http(path=f"/embed/{token.decode()}")),
    ):
        if warm:
            await asked.resolver.resolve(token)
        sent = await asked.call(scope)
        policies = [value for name, value in sent[0]["headers"] if name.lower() == b"referrer-policy"]
        assert policies == expected
        assert values(sent, b"cache-control") == [b"private"]
    kept = await plain.call(http(query=b"a=1", headers=[(NAME, token)]))
    assert values(kept, b"referrer-policy") == []
