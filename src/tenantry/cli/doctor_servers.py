from __future__ import annotations

import asyncio
import shlex
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tenantry.backends.buses import BusStatus, PostgresBus, RedisBus
from tenantry.cli.data_source_changes import problem_by_name
from tenantry.cli.doctor_store import CheckResult, CheckState
from tenantry.database import (
    PostgresServer,
    RedisClient,
    RedisServer,
    ask_server,
    connection_problem,
    read_address,
    read_redis_address,
)
from tenantry.datasources import check_connections, secret_state
from tenantry.errors import InvalidKeys, InvalidSettings, SecretUnavailable, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.tokens.keys import list_keys

if TYPE_CHECKING:
    from tenantry.backends.sql import SQLStore
    from tenantry.server import Settings

_SERVER_SECONDS: Final = 5.0
_LOOKS: Final = 200
_LOOK_SECONDS: Final = 0.05
"""The status of a bus is read up to _LOOKS times, with pauses of _LOOK_SECONDS. In this time, a bus finds out whether
its own messages arrive."""
_DIFFERENCE: Final = 5.0
"""Seconds by which clocks may differ."""


# --- buses ------------------------------------------------------------------------------------------------------------


async def check_buses(chosen: Settings) -> list[CheckResult]:
    redis, direct = chosen.redis, chosen.listen_database
    checks = []
    if redis is not None:
        checks.append(_check_bus("TENANTRY_REDIS", lambda: RedisBus(redis)))
    if direct is not None:
        checks.append(_check_bus("TENANTRY_LISTEN_DATABASE", lambda: PostgresBus(chosen.database, listen_url=direct)))
    if checks:
        return await asyncio.gather(*checks)
    why = "TENANTRY_REDIS and TENANTRY_LISTEN_DATABASE are not set: other hosts see a change at their next poll"
    return [CheckResult("bus", CheckState.SKIPPED, why)]


async def _check_bus(variable: str, make: Callable[[], PostgresBus | RedisBus]) -> CheckResult:
    try:
        bus = make()
    except InvalidSettings as error:
        return CheckResult("bus", CheckState.FAILED, error.message, f"Correct {variable}")
    following = asyncio.create_task(bus.follow(_NoListener()))
    for _ in range(_LOOKS):
        await asyncio.sleep(_LOOK_SECONDS)
        if bus.status not in (BusStatus.IDLE, BusStatus.CONNECTING):
            break
    status = bus.status
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    name = repr(bus).strip("<>")
    if status is BusStatus.RECEIVING:
        return CheckResult("bus", CheckState.OK, f"{name}: its own messages arrive")
    return CheckResult("bus", CheckState.FAILED, f"{name}: {bus.counters.problem or 'no answer'}", f"Check {variable}")


class _NoListener:
    def evict(self, handle: bytes, generation: int) -> None: ...

    def flush(self) -> None: ...


# --- clocks -----------------------------------------------------------------------------------------------------------


async def check_clock(chosen: Settings) -> CheckResult:
    """Compare this host's clock with the clocks of PostgreSQL and Redis, and with the time in the newest key."""
    offsets = await _offsets(chosen)
    with suppress(InvalidKeys):
        newest = max(list_keys(chosen.keys), key=lambda each: each.created_at)
        ahead = newest.created_at.timestamp() - time.time()
        if ahead > 0:
            offsets[f"the time in {chosen.keys} at which the key {newest.id} was made"] = ahead
    wrong = [
        f"this host's clock is {abs(offset):,.0f} s {'behind' if offset > 0 else 'ahead of'} {name}"
        for name, offset in offsets.items()
        if abs(offset) > _DIFFERENCE
    ]
    if wrong:
        fix = "Synchronise the clocks with NTP: each host checks end dates and passes by its own clock"
        return CheckResult("clock", CheckState.FAILED, "; ".join(wrong), fix)
    if not offsets:
        return CheckResult("clock", CheckState.SKIPPED, "there is no other clock to compare with")
    return CheckResult("clock", CheckState.OK, f"this host's clock agrees with {' and '.join(offsets)}")


async def _offsets(chosen: Settings) -> dict[str, float]:
    """Return, for each server, the seconds by which its clock is ahead of ours."""
    address, clocks = read_address(chosen.database), dict[str, Callable[[], Awaitable[float]]]()
    if isinstance(address, PostgresServer):
        clocks[f"that of the {address.label}"] = partial(_postgres_time, address)
    if chosen.redis is not None:
        with suppress(InvalidSettings):
            server = read_redis_address(chosen.redis)
            clocks[f"that of {server.label}"] = partial(_redis_time, server)
    offsets = {}
    for name, ask in clocks.items():
        begun = time.time()
        with suppress(TenantryError, OSError, ImportError):  # the check of the store or the bus names the error
            theirs = await ask()
            offsets[name] = theirs - (begun + time.time()) / 2
    return offsets


async def _postgres_time(server: PostgresServer) -> float:
    from psycopg import Error

    try:
        connection = await server.connect(seconds=_SERVER_SECONDS)
        try:
            async with asyncio.timeout(_SERVER_SECONDS):
                rows, _ = await connection.run("select extract(epoch from clock_timestamp())::float8", ())
            return float(rows[0][0])
        finally:
            connection.terminate()
    except Error as error:
        raise ConnectionError(str(error)) from None


async def _redis_time(server: RedisServer) -> float:
    client = RedisClient(server)
    try:
        seconds, microseconds = await ask_server(client.redis.time(), seconds=_SERVER_SECONDS)
        return float(seconds + microseconds / 1e6)
    finally:
        await client.aclose()


# --- data sources and embedding hosts ---------------------------------------------------------------------------------


async def check_sources(chosen: Settings, store: SQLStore, key_file: CheckResult) -> list[CheckResult]:
    """Connect to all registered data sources. Raises StoreUnavailable."""
    environments = await store.environments.list()
    sources = [each for environment in environments for each in await store.sources.list(environment)]
    if not sources:
        return [CheckResult("data sources", CheckState.SKIPPED, "none is registered")]
    errors = await check_connections(sources, keys=chosen.keys, seconds=_SERVER_SECONDS)
    return [_of_source(source, error, key_file) for source, error in zip(sources, errors, strict=True)]


def _of_source(source: RegisteredSource, error: TenantryError | None, key_file: CheckResult) -> CheckResult:
    name, environment = source.provided_id, source.environment.name
    check = f"data source {name} in {environment}"
    is_encrypted = secret_state(source.url) == "encrypted"
    if isinstance(error, SecretUnavailable) and is_encrypted and key_file.state is CheckState.FAILED:
        return CheckResult(check, CheckState.SKIPPED, "its URL is encrypted: correct the keys first")
    if error is not None:
        which = f"{shlex.quote(name)} --environment {shlex.quote(environment)}"
        fix = f"Correct the data source with `tenantry data-source update {which}`, or repair its server"
        return CheckResult(check, CheckState.FAILED, problem_by_name(error, source), fix)
    if secret_state(source.url) == "plain":
        unencrypted = "it answers, but the store holds its password unencrypted"
        return CheckResult(check, CheckState.WARNING, unencrypted, "`tenantry keys rotate` encrypts it")
    return CheckResult(check, CheckState.OK, "it answers")


async def check_hosts(store: SQLStore) -> list[CheckResult]:
    """Look up the embedding hosts in DNS. Raises StoreUnavailable."""
    found = []
    for environment, origins in (await store.environments.embedding_hosts()).items():
        named = [each for each in origins if "//" in each and "*" not in each]
        checked = zip(named, await asyncio.gather(*map(_host_problem, named)), strict=True)
        check = f"embedding hosts of {environment}"
        fix = f"Correct the hosts with `tenantry environment set-embedding {shlex.quote(environment)} …`"
        bad = [CheckResult(check, CheckState.WARNING, f"{each}: {why}", fix) for each, why in checked if why]
        found += bad or [CheckResult(check, CheckState.OK, f"pages of {', '.join(origins)} may embed dashboards")]
    nothing = "no page on another host may embed a dashboard (`tenantry environment set-embedding` allows it)"
    return found or [CheckResult("embedding hosts", CheckState.SKIPPED, nothing)]


async def _host_problem(origin: str) -> str | None:
    host = urlsplit(origin).hostname
    try:
        async with asyncio.timeout(_SERVER_SECONDS):
            await asyncio.get_running_loop().getaddrinfo(host, None)
    except (socket.gaierror, TimeoutError) as error:
        return connection_problem(error, f"{host}:")
    return None
