# A source that changes gets a new random mark. An entry contains the mark that its source had, and is used only while
# the source still has this mark.
#
# `<prefix>:<key>` holds an entry. The hash `<prefix>:marks` holds the marks of changed sources, and the mark
# "born", which changes if the server loses the hash.
#
# The server is not trusted: each entry has a digest that cannot be computed without the secret.

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from tenantry.aio import Breaker, LoopLocal
from tenantry.database import RedisClient, ask_server, load_redis, read_redis_address
from tenantry.datasources.caching.result_entry import (
    RefusedResult,
    SharedEntry,
    Unencodable,
    check_codec,
    read_result,
    write_result,
)
from tenantry.datasources.caching.shared_answer import SharedAnswer
from tenantry.datasources.changes import LATE_SECONDS
from tenantry.errors import InvalidSettings, SourceUnavailable

if TYPE_CHECKING:
    from tenantry.datasources.caching.result_cache import ResultCache

logger: logging.Logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
"""If the sources' marks (see ``RedisResults``) were read more than this many seconds ago, ``is_current`` starts to
reread them."""
LEASE_SECONDS: Final = LATE_SECONDS
"""If the marks were read more than this many seconds ago, all queries go to their sources: neither this cache nor the
one in memory is used."""
_WRITE_SECONDS = 3.0
_WRITES: Final = 16
"""While this many writes are pending, further results are not written."""
_SHORTEST_SECRET: Final = 32
_BORN: Final = "born"
_LARGE: Final = 128 * 1024
"""Entries of this many bytes or more are decoded in a thread."""


class RedisResults:
    """A second level of ResultCache that all processes share, in Redis or Valkey. Each source has a mark: a random
    string that is replaced when the source's rows change. An entry contains its source's mark, and is used only while
    the source has this mark.

    Arguments:
    - ``url``: as for RedisBackend.
    - ``secret``: at least 32 random bytes that all processes share and nobody else knows.
    - ``budget``: maximum seconds that a query waits for one reply of the server.
    - ``max_entry_bytes``: larger results are not shared.

    The constructor does no I/O. Raises InvalidSettings for an invalid URL or secret, or a missing package.
    """

    def __init__(
        self,
        url: str,
        *,
        secret: bytes,
        budget: float = 0.05,
        max_entry_bytes: int = 4 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if type(secret) is not bytes or len(secret) < _SHORTEST_SECRET:
            raise InvalidSettings(f"the secret of RedisResults must have at least {_SHORTEST_SECRET} random bytes")
        load_redis()
        check_codec()
        self.caches: WeakSet[ResultCache] = WeakSet()
        """The caches in memory that use this second level."""
        self._secret = blake2b(secret, person=b"tenantry.entry").digest()
        self._prefix = f"tenantry:results:{blake2b(secret, digest_size=8, person=b'tenantry.prefix').hexdigest()}"
        self._server = read_redis_address(url)
        self._budget = budget
        self._max_bytes = max_entry_bytes
        self._clock = clock
        self._breaker = Breaker(clock=clock, chance=random.random)
        self._clients = LoopLocal(lambda: RedisClient(self._server), RedisClient.aclose)
        self._marks: dict[str, str] = {}
        # Changed sources whose new mark is not stored yet. Their entries are neither read nor written.
        self._untold: set[str] = set()
        self._has_refused = False
        self._known_at: float | None = None  # the time at which the known marks were requested
        self._poll: asyncio.Task[None] | None = None
        self._writing: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<RedisResults: {self._server.label}>"

    # --- marks --------------------------------------------------------------------------------------------------------

    def is_current(self) -> bool:
        """Return whether the sources' marks were read at most ``LEASE_SECONDS`` ago. If they were read more than
        ``POLL_SECONDS`` ago, start a task that rereads them."""
        age = self._age()
        if age > POLL_SECONDS and (self._poll is None or self._poll.done()):
            self._poll = asyncio.get_running_loop().create_task(self._read_marks())
        return age <= LEASE_SECONDS

    async def follow(self) -> bool:
        """Like ``is_current``, but if the marks are too old, first wait up to ``budget`` seconds for new ones."""
        if not self.is_current() and self._poll is not None:
            await asyncio.wait([self._poll], timeout=self._budget)
        return self._age() <= LEASE_SECONDS

    def _age(self) -> float:
        return float("inf") if self._known_at is None else self._clock() - self._known_at

    async def _read_marks(self) -> None:
        asked = self._clock()
        answers = await self._ask(
            ("HSETNX", self._marks_key, _BORN, secrets.token_hex(8)),
            ("HGETALL", self._marks_key),
            seconds=_WRITE_SECONDS,
        )
        if answers is None:
            return
        marks = _pairs(answers[1])
        if marks.get(_BORN) != self._marks.get(_BORN):
            self._marks = marks
            self._drop(None)
        for source in [source for source, mark in marks.items() if self._marks.get(source) != mark]:
            self._marks[source] = marks[source]
            self._drop(source)
        self._known_at = asked

    async def mark(self, source: str) -> None:
        """Drop the results of a changed source from the caches in memory. Give the source a new mark, so that no
        process uses older entries. Raises SourceUnavailable if the server does not answer."""
        self._drop(source)
        mark = secrets.token_hex(8)
        answers = await self._ask(
            ("HSETNX", self._marks_key, _BORN, secrets.token_hex(8)),
            ("HSET", self._marks_key, source, mark),
            seconds=_WRITE_SECONDS,
        )
        if answers is None:
            self._untold.add(source)
            raise SourceUnavailable(
                "the shared result cache does not answer, so other processes do not know that data changed; try again"
            )
        self._marks[source] = mark
        self._untold.discard(source)
        self._drop(source)  # again: an old result may have come from the server meanwhile

    def _drop(self, source: str | None) -> None:
        for cache in self.caches:
            cache.changed(source)

    def mark_of(self, source: str) -> str:
        """Return the source's last known mark."""
        return f"{self._marks.get(_BORN, '')} {self._marks.get(source, '')}"

    @property
    def _marks_key(self) -> str:
        return f"{self._prefix}:marks"

    # --- entries ------------------------------------------------------------------------------------------------------

    def _key(self, key: str) -> str:
        # A keyed digest: without the key, nobody can guess a query's values from it.
        return f"{self._prefix}:{blake2b(key.encode(), key=self._secret, digest_size=20).hexdigest()}"

    async def read(self, key: str, source: str) -> SharedEntry | None:
        """Return the entry for ``key``, or None if there is no usable entry or the server does not reply in time."""
        if source in self._untold:
            return None
        answers = await self._ask(
            ("GETRANGE", self._key(key), 0, self._max_bytes),
            ("HMGET", self._marks_key, _BORN, source),
            seconds=self._budget,
        )
        if answers is None:
            return None
        data, (born, mark) = answers[0], map(_text, answers[1])
        if not data:
            return None
        try:
            if len(data) < _LARGE:
                entry = read_result(self._secret, key, data)
            else:
                entry = await asyncio.to_thread(read_result, self._secret, key, data)
        except RefusedResult:
            if not self._has_refused:  # logged once, because there may be many such entries
                self._has_refused = True
                logger.warning(
                    "%s: an entry was ignored, because it is not valid for its key and the secret of RedisResults",
                    self._server.label,
                )
            return None
        return entry if born and entry.mark == f"{born} {mark}" else None

    def write(self, key: str, source: str, as_of: float, answer: SharedAnswer, seconds: float) -> None:
        """Start a task that stores a result for ``seconds``."""
        if len(self._writing) >= _WRITES or source in self._untold or self._age() > LEASE_SECONDS or seconds <= 0:
            return
        entry = SharedEntry(key, self.mark_of(source), as_of, answer.size, answer.original)
        task = asyncio.get_running_loop().create_task(self._write(entry, max(1, round(seconds * 1000))))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, entry: SharedEntry, milliseconds: int) -> None:
        try:
            data = await asyncio.to_thread(write_result, self._secret, entry)
        except Unencodable:
            return
        if len(data) <= self._max_bytes:
            await self._ask(("SET", self._key(entry.key), data, "PX", milliseconds), seconds=_WRITE_SECONDS)

    async def _ask(self, *commands: tuple[Any, ...], seconds: float) -> Sequence[Any] | None:
        if not self._breaker.allows():
            return None
        try:
            answers = await ask_server(self._run(commands), seconds=seconds)
        except ConnectionError:
            if self._breaker.failed():
                logger.warning("%s does not answer: data sources are asked instead", self._server.label)
            return None
        if self._breaker.succeeded():
            logger.warning("%s answers again", self._server.label)
        return answers

    async def _run(self, commands: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        client = self._clients.get()
        pipeline = client.redis.pipeline() if client.is_cluster else client.redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        answers: Sequence[Any] = await pipeline.execute()
        return answers

    async def settle(self) -> None:
        """Wait for pending writes."""
        while self._writing:
            await asyncio.wait(set(self._writing))

    async def aclose(self) -> None:
        tasks = [*self._writing, *([self._poll] if self._poll is not None else [])]
        tasks = [task for task in tasks if task.get_loop() is asyncio.get_running_loop() and not task.done()]
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._poll = None
        await self._clients.aclose()


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def _pairs(answer: Any) -> dict[str, str]:
    if isinstance(answer, dict):
        return {_text(name): _text(value) for name, value in answer.items()}
    texts = [*map(_text, answer)]
    return dict(zip(texts[::2], texts[1::2], strict=True))
