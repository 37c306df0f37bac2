"""FaultProxy: a TCP proxy that passes bytes on, late, in slices, or not at all; its mode can be changed at any moment.

It runs in a thread with an event loop of its own, so that plain and asynchronous programs can use it alike.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit, urlunsplit

_LINGER_0: Final = struct.pack("ii", 1, 0)
_CHUNK: Final = 65_536
_ANSWER_SECONDS: Final = 10


class Mode(StrEnum):
    """What happens to a connection."""

    PASS = "pass"
    LATENCY = "latency"
    """Each piece comes late, in order."""

    SLICE = "slice"
    """Each piece comes as many tiny ones."""

    DROP = "drop"
    """Closed politely, at once; a new one too."""

    RESET = "reset"
    """Ended by RST, at once; a new one too."""

    BLACK_HOLE = "black hole"
    """Stays open and says nothing, both ways; a new one is accepted and never connected."""

    HALF_OPEN = "half open"
    """What the client sends arrives; no answer comes back, and neither end hears that the other has gone."""


_LOSING: Final = frozenset({Mode.BLACK_HOLE, Mode.HALF_OPEN})
_ENDING: Final = frozenset({Mode.DROP, Mode.RESET})


@dataclass(frozen=True)
class Weather:
    """A mode with its measures: ``seconds`` and ``jitter`` (more seconds, at random) of LATENCY, ``size`` bytes of
    SLICE."""

    mode: Mode = Mode.PASS
    seconds: float = 0.0
    jitter: float = 0.0
    size: int = 7


class Connection:
    """One client and its own way to the server. ``number`` counts from 1 in the order of coming."""

    def __init__(self, number: int, weather: Weather, dice: random.Random, trips: list[tuple[bytes, Weather]]) -> None:
        self.number = number
        self.weather = weather
        self.lost = False
        self._trips = trips
        self._dice = dice
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: tuple[str, int]) -> None:
        """Passes bytes on until both ends are done."""
        self._writers.append(writer)
        if self.weather.mode in _ENDING:
            self.end()
            return
        if self.weather.mode is Mode.BLACK_HOLE:
            self.lost = True
            await self._swallow(reader)
            return
        try:
            answers, server = await asyncio.open_connection(*target)
        except OSError:
            self.end()
            return
        self._writers.append(server)
        self._tasks = [
            asyncio.ensure_future(self._pump(reader, server, outgoing=True)),
            asyncio.ensure_future(self._pump(answers, writer, outgoing=False)),
        ]
        await asyncio.wait(self._tasks)

    def change(self, weather: Weather) -> None:
        """From now on. Bytes that were swallowed are gone: such a connection cannot be healed and is reset."""
        before, self.weather = self.weather, weather
        if weather.mode in _ENDING or (self.lost and before.mode in _LOSING and weather.mode not in _LOSING):
            self.end()

    def end(self) -> None:
        """Ends it at once: by RST in the mode RESET or when bytes were lost, else politely."""
        for writer in self._writers:
            sock = writer.get_extra_info("socket")
            if (self.weather.mode is Mode.RESET or self.lost) and sock is not None:
                with suppress(OSError):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)
                writer.transport.abort()
            else:
                writer.close()
        for task in self._tasks:
            task.cancel()

    async def _swallow(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while await reader.read(_CHUNK):
                pass

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, outgoing: bool) -> None:
        with suppress(OSError):
            while data := await source.read(_CHUNK):
                await self._pass_on(data, target, outgoing=outgoing)
            if self.weather.mode in _LOSING:
                self.lost = True
                return  # nobody is told
            target.close()

    async def _pass_on(self, data: bytes, target: asyncio.StreamWriter, *, outgoing: bool) -> None:
        weather = self.weather
        if outgoing and self._trips and self._trips[0][0] in data:
            self.weather = self._trips.pop()[1]  # from the next piece on: this one arrives
        if weather.mode is Mode.LATENCY:
            await asyncio.sleep(weather.seconds + weather.jitter * self._dice.random())
            weather = self.weather  # it may have changed meanwhile
        if weather.mode in _ENDING:  # tripped by what was sent: that has arrived, and this would be its answer
            self.end()
            return
        if weather.mode is Mode.BLACK_HOLE or (weather.mode is Mode.HALF_OPEN and not outgoing):
            self.lost = True
            return
        pieces = [data]
        if weather.mode is Mode.SLICE:
            pieces = [data[start : start + weather.size] for start in range(0, len(data), weather.size)]
        for piece in pieces:
            target.write(piece)
            await target.drain()
            if len(pieces) > 1:
                await asyncio.sleep(0)  # each its own segment


class FaultProxy:
    """A proxy on a free port of this machine, before ``host``:``port``. Use it as a context manager.

    ``set`` changes the weather of all connections, of the established ones, of new ones, or of one by its number.
    """

    def __init__(self, host: str, port: int, *, seed: int = 0) -> None:
        self._target = (host, port)
        self._weather = Weather()
        self._dice = random.Random(seed)
        self._connections: dict[int, Connection] = {}
        self._trips: list[tuple[bytes, Weather]] = []
        self._handlers: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy", daemon=True)
        self.accepted = 0
        self.port = 0

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(_ANSWER_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_ANSWER_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ANSWER_SECONDS)
        self._loop.close()

    def url(self, url: str) -> str:
        """The same URL, through this proxy."""
        parts = urlsplit(url)
        user, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{self.port}"))

    @property
    def open(self) -> list[int]:
        """The numbers of the connections that are there, oldest first."""
        return sorted(self._connections)

    def set(
        self,
        mode: Mode,
        *,
        seconds: float = 0.0,
        jitter: float = 0.0,
        size: int = 7,
        established: bool = True,
        new: bool = True,
        only: int | None = None,
    ) -> None:
        """Changes the weather; it has changed when this returns. ``only``: of the connection with this number."""
        weather = Weather(mode, seconds, jitter, size)

        async def change() -> None:
            if only is not None:
                self._connections[only].change(weather)
                return
            if new:
                self._weather = weather
            if established:
                for connection in list(self._connections.values()):
                    connection.change(weather)

        asyncio.run_coroutine_threadsafe(change(), self._loop).result(_ANSWER_SECONDS)

    def trip(self, text: bytes, mode: Mode) -> None:
        """The first connection whose client sends this text, which arrives, has this mode from then on: its answer is
        lost."""

        async def arm() -> None:
            self._trips[:] = [(text, Weather(mode))]

        asyncio.run_coroutine_threadsafe(arm(), self._loop).result(_ANSWER_SECONDS)

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._handlers.add(task)
            task.add_done_callback(self._handlers.discard)
        self.accepted += 1
        connection = Connection(self.accepted, self._weather, self._dice, self._trips)
        self._connections[connection.number] = connection
        try:
            with suppress(asyncio.CancelledError):  # the proxy closes
                await connection.run(reader, writer, self._target)
        finally:
            self._connections.pop(connection.number, None)
            connection.end()

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections.values()):
            connection.end()
        for task in list(self._handlers):
            task.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await asyncio.sleep(0)  # the transports say good-bye
