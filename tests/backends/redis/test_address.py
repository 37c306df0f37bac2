"""The URL of a Redis: read purely, and never shown."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import SSLConnection
from redis.exceptions import AuthenticationError

from tenantry.database import connection_problem
from tenantry.database.redis_server import RedisClient, RedisKind, RedisServer, read_redis_address
from tenantry.errors import InvalidSettings

GOOD = {
    "redis://localhost": RedisServer(RedisKind.SINGLE, "Redis localhost:6379", (("localhost", 6379),)),
    "redis://[::1]:7000/3": RedisServer(RedisKind.SINGLE, "Redis ::1:7000", (("::1", 7000),), database=3),
    "redis://me:p%40ss@cache:1/": RedisServer(
        RedisKind.SINGLE, "Redis cache:1", (("cache", 1),), username="me", password="p@ss"
    ),
    "rediss://:secret@cache?ssl_ca_certs=/ca.pem": RedisServer(
        RedisKind.SINGLE,
        "Redis cache:6379",
        (("cache", 6379),),
        tls=True,
        password="secret",
        options={"ssl_ca_certs": "/ca.pem"},
    ),
    "unix:///run/valkey.sock?db=2": RedisServer(
        RedisKind.SOCKET, "Redis at the socket /run/valkey.sock", path="/run/valkey.sock", database=2
    ),
    "redis+sentinel://a,b:26380/main/1": RedisServer(
        RedisKind.SENTINEL,
        "Redis main of the Sentinels a:26379, b:26380",
        (("a", 26379), ("b", 26380)),
        service="main",
        database=1,
    ),
    "rediss+sentinel://u:p@a/main?sentinel_password=q": RedisServer(
        RedisKind.SENTINEL,
        "Redis main of the Sentinels a:26379",
        (("a", 26379),),
        service="main",
        tls=True,
        username="u",
        password="p",
        options={"sentinel_password": "q"},
    ),
    "redis+cluster://a:7000,b:7001,c": RedisServer(
        RedisKind.CLUSTER, "Redis Cluster a:7000, b:7001, c:6379", (("a", 7000), ("b", 7001), ("c", 6379))
    ),
}


@pytest.mark.parametrize("url", GOOD)
def test_a_url_is_read(url: str) -> None:
    """Each kind, its defaults, credentials with %-escapes, the options that it takes."""
    assert read_redis_address(url) == GOOD[url]


def test_a_password_is_never_shown() -> None:
    """Not by ``repr``, and not by the label."""
    server = read_redis_address("rediss+sentinel://me:s3cret@a/main?sentinel_password=s3cret2&ssl_keyfile=s3cret3")
    assert (server.password, server.options["sentinel_password"]) == ("s3cret", "s3cret2")
    assert "s3cret" not in repr(server) + server.label + str(server)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:6379",
        "http://s3cret@host",
        "redis://",
        "redis://:s3cret@host:port",
        "redis://:s3cret@host:70000",
        "redis://:s3cret@host:0",
        "redis://:s3cret@a,b",
        "redis://:s3cret@host/zero",
        "redis://:s3cret@host/-1",
        "redis://:s3cret@host/1/2",
        "redis://:s3cret@host?db=1",
        "redis://:s3cret@host?ssl_ca_certs=x",
        "redis://:s3cret@host#fragment",
        "redis://:s3@cret@host",
        "redis://:s3cret/@host",
        "redis://:s3cret?@host",
        "redis://[:s3cret@host",
        "rediss://:s3cret@host?ssl_cert_reqs=none",
        "unix://:s3cret@relative.sock",
        "unix://:s3cret@/",
        "unix:///run/%00s3cret",
        "redis+sentinel://:s3cret@host",
        "redis+sentinel://:s3cret@host/ma in",
        "redis+cluster://:s3cret@host/1",
        "redis+cluster://:s3cret@a,,b",
    ],
)
def test_a_wrong_url_is_refused_without_its_password(url: str) -> None:
    """The message names the spellings that are taken, and no part of what was given."""
    with pytest.raises(InvalidSettings, match="redis\\+cluster://host") as caught:
        read_redis_address(url)
    assert "s3" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("url", ["unix:///run/redis.sock?db=one", "redis://host/one"])
def test_a_database_without_a_number_is_named(url: str) -> None:
    """Red when the message says of the option ``db``, too, that the path is wrong."""
    with pytest.raises(InvalidSettings, match="names a database that is not a number"):
        read_redis_address(url)


def test_a_missing_password_is_not_called_wrong() -> None:
    """redis-py has one error for both. Red when the reason says only that it is wrong."""
    error = AuthenticationError("Authentication required.")
    assert connection_problem(error, "Redis host:6379") == "the user or the password is wrong or missing"


@given(st.sampled_from(["redis://", "redis+sentinel://", "unix://", "redis+cluster://"]), st.text(max_size=40))
def test_no_text_breaks_the_reader(start: str, rest: str) -> None:
    """Whatever comes, it is a server or InvalidSettings."""
    with suppress(InvalidSettings):
        read_redis_address(start + rest)


async def test_a_tls_address_is_encrypted_to_each_server() -> None:
    """Red when `ssl` is not passed on for Sentinels and clusters: the password then went out in plain text."""
    clients = [RedisClient(read_redis_address(f"rediss+{each}")) for each in ("sentinel://a/main", "cluster://a")]
    sentinel, cluster = (client.redis for client in clients)
    pools = [
        sentinel.connection_pool,
        *(each.connection_pool for each in sentinel.connection_pool.sentinel_manager.sentinels),
    ]
    nodes = cluster.nodes_manager.startup_nodes.values()
    for kind in [each.connection_class for each in (*pools, *nodes)]:
        assert issubclass(kind, SSLConnection)
    assert isinstance(clients[1].reading_connection(), SSLConnection)
    for client in clients:
        await client.aclose()
