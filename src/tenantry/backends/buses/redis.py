"""A bus on Redis or Valkey (PUBLISH and SUBSCRIBE)."""

# The subscriber of redis-py is not used: it reconnects and does not report that messages may be lost.

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

from tenantry.aio import LoopLocal, Message, PublishQueue
from tenantry.backends.buses.subscription import (
    HEARTBEAT_SECONDS,
    SILENCE_SECONDS,
    BusCounters,
    BusStatus,
    NotificationLimiter,
    follow,
    probe,
)
from tenantry.database import RedisClient, ask_server, load_redis, read_redis_address
from tenantry.errors import InvalidSettings
from tenantry.groups import CHANNEL, write_notice
from tenantry.ports import EvictionListener

logger: logging.Logger = logging.getLogger(__name__)

_CHANNEL = re.compile(r"[A-Za-z0-9:._-]{1,128}")
_PUBLISH_SECONDS = 3.0
_CAUSE = (
    "a message published at this address does not reach the subscribers there: check whether a proxy or several "
    "servers share the address"
)
_NO_STORE = "-"
"""Replaces the store id in notices, because the bus does not know its store. A notice from another store has no effect,
because handles are random."""


class RedisBus:
    """Publishes the changes that this process makes in a store, and receives those of all processes. ``url``: see
    database/redis_server.py. ``channel``: must be the same in all processes that use the store. The bus does no I/O
    before its first use. Raises InvalidSettings."""

    def __init__(self, url: str, *, channel: str = CHANNEL) -> None:
        if not _CHANNEL.fullmatch(channel):
            raise InvalidSettings(
                "the channel of a RedisBus must have 1 to 128 characters: letters, digits and : . _ -"
            )
        load_redis()  # to report a missing package now
        self.counters: BusCounters = BusCounters()
        self._server = read_redis_address(url)
        self._channel = channel
        self._clients = LoopLocal(lambda: RedisClient(self._server), RedisClient.aclose)
        self._queue = PublishQueue(self._publish)

    def __repr__(self) -> str:
        return f"<RedisBus: {self._server.label}>"

    def changed(self, handle: bytes, generation: int) -> None:
        """Publish the change in the background."""
        self._queue.put(Message(handle, generation))

    async def aclose(self) -> None:
        """Publish the pending messages for at most a second, then close this event loop's publishing connections."""
        dropped = self._queue.dropped
        await self._queue.aclose()
        if self._queue.dropped > dropped:
            logger.warning(
                "%s did not get the last changes: other processes see them when they poll", self._server.label
            )
        await self._clients.aclose()

    async def _publish(self, messages: Sequence[Message]) -> None:
        notices = [write_notice(_NO_STORE, each.generation, each.handle) for each in messages]
        client = self._clients.get()

        async def publish_all() -> None:
            for notice in notices:
                await client.redis.publish(self._channel, notice)

        await ask_server(publish_all(), seconds=_PUBLISH_SECONDS)

    @property
    def status(self) -> BusStatus:
        return self.counters.status

    async def follow(self, listener: EvictionListener) -> None:
        await follow(self._listen, listener, self.counters, self._server.label)

    async def _listen(self, limiter: NotificationLimiter, on_delivery: Callable[[], None]) -> None:
        client = RedisClient(self._server)
        connection = client.reading_connection()
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                await connection.connect()
                await connection.send_command("SUBSCRIBE", self._channel)
                while not _is(b"subscribe", await _read(connection)):
                    pass
            async with asyncio.TaskGroup() as group:
                group.create_task(_ping(connection))
                group.create_task(_receive(connection, limiter))
                group.create_task(self._probe(client, limiter, on_delivery))
        finally:
            await connection.disconnect(nowait=True)
            await client.aclose()

    async def _probe(self, client: RedisClient, limiter: NotificationLimiter, on_delivery: Callable[[], None]) -> None:
        from redis.exceptions import NoPermissionError

        try:
            await probe(limiter, lambda text: client.redis.publish(self._channel, text), on_delivery, cause=_CAUSE)
        except NoPermissionError:
            # This connection cannot send probes, so it counts as delivering if it responds.
            logger.info("the bus on %s cannot be checked: the URL's user has no right to publish", self._server.label)
            on_delivery()


async def _ping(connection: Any) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        await connection.send_command("PING", check_health=False)


async def _receive(connection: Any, limiter: NotificationLimiter) -> None:
    while True:
        async with asyncio.timeout(SILENCE_SECONDS):
            answer = await _read(connection)
        if _is(b"message", answer):
            limiter.feed(answer[2])


async def _read(connection: Any) -> Any:
    return await connection.read_response(disable_decoding=True)


def _is(kind: bytes, answer: Any) -> bool:
    return isinstance(answer, list) and answer[:1] == [kind]
