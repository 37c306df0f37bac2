"""RedisBus: publish and subscribe on Redis or Valkey.

The reading connection is a raw one: redis-py's own subscriber connects again by itself and tells nobody that messages
were lost meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

from tenantry.buses.hearing import BusCounters, BusStatus, Hearing
from tenantry.buses.line import HEARTBEAT_SECONDS, SILENCE_SECONDS, follow
from tenantry.buses.probe import probe
from tenantry.errors import InvalidSettings
from tenantry.groups import CHANNEL, write_notice
from tenantry.homes import Homes
from tenantry.ports import EvictionListener
from tenantry.redis_server import Client, Letter, Outbox, driver, read_redis_address

logger = logging.getLogger(__name__)

_CHANNEL = re.compile(r"[A-Za-z0-9:._-]{1,128}")
_PUBLISH_SECONDS = 3.0
_CAUSE = (
    "what is published at this address does not reach those who subscribe there: is it a proxy, or several servers?"
)
_NO_STORE = "-"
"""A bus is not told which store a change is of. Handles are random, so another store's notice harms nobody."""


class RedisBus:
    """A ``ports.Bus``, and a ``ports.ChangeListener`` that publishes the writes of a store that it is subscribed to.

    ``url`` is of the same kinds as for RedisBackend; ``channel`` is one for all who share a store. Making one does no
    I/O; InvalidSettings is raised for a wrong URL or channel.
    """

    def __init__(self, url: str, *, channel: str = CHANNEL) -> None:
        if not _CHANNEL.fullmatch(channel):
            raise InvalidSettings("the channel of a RedisBus takes 1 to 128 letters, digits and : . _ -")
        driver()  # now, and not in the midst of the first request
        self.counters = BusCounters()
        self._server = read_redis_address(url)
        self._channel = channel
        self._homes = Homes(lambda: Client(self._server))
        self._outbox = Outbox(self._publish)

    def __repr__(self) -> str:
        return f"<RedisBus: {self._server.label}>"

    def changed(self, handle: bytes, generation: int) -> None:
        """ports.ChangeListener: publishes the change in the background."""
        self._outbox.put(Letter(handle, generation))

    async def aclose(self) -> None:
        """Publishes what waits, within a second, and closes the publishing connections of this event loop."""
        dropped = self._outbox.dropped
        await self._outbox.aclose()
        if self._outbox.dropped > dropped:
            logger.warning("%s was not told of the last changes: others hear of it when they poll", self._server.label)
        await self._homes.aclose()

    async def _publish(self, letters: Sequence[Letter]) -> None:
        messages = [write_notice(_NO_STORE, each.generation, each.handle) for each in letters]
        client = await self._homes.here()
        try:
            async with asyncio.timeout(_PUBLISH_SECONDS):
                for message in messages:
                    await client.redis.publish(self._channel, message)
        except Exception as error:
            raise ConnectionError("the bus did not take a notice") from error

    @property
    def status(self) -> BusStatus:
        """What it is worth just now."""
        return self.counters.status

    async def follow(self, listener: EvictionListener) -> None:
        """Until it is cancelled."""
        await follow(self._listen, listener, self.counters, self._server.label)

    async def _listen(self, hearing: Hearing, begin: Callable[[], None]) -> None:
        client = Client(self._server)
        connection = client.reading_connection()
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                await connection.connect()
                await connection.send_command("SUBSCRIBE", self._channel)
                while not _is(b"subscribe", await _read(connection)):
                    pass
            async with asyncio.TaskGroup() as group:
                group.create_task(_ask(connection))
                group.create_task(_hear(connection, hearing))
                group.create_task(self._probe(client, hearing, begin))
        finally:
            await connection.disconnect(nowait=True)
            await client.aclose()

    async def _probe(self, client: Client, hearing: Hearing, begin: Callable[[], None]) -> None:
        """Where this user may not publish, there is nothing to be seen: then a connection that answers is enough."""
        try:
            await probe(hearing, lambda text: client.redis.publish(self._channel, text), begin, cause=_CAUSE)
        except _no_permission():
            logger.info("the bus on %s cannot be probed: its user may not publish", self._server.label)
            begin()


def _no_permission() -> Any:
    from redis.exceptions import NoPermissionError

    return NoPermissionError


async def _ask(connection: Any) -> None:
    """A subscriber hears nothing for hours when nothing changes. A PING each second makes silence mean something."""
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        await connection.send_command("PING", check_health=False)


async def _hear(connection: Any, hearing: Hearing) -> None:
    while True:
        async with asyncio.timeout(SILENCE_SECONDS):
            answer = await _read(connection)
        if _is(b"message", answer):
            hearing.hear(answer[2])


async def _read(connection: Any) -> Any:
    return await connection.read_response(disable_decoding=True)


def _is(kind: bytes, answer: Any) -> bool:
    return isinstance(answer, list) and answer[:1] == [kind]
