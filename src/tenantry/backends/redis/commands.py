"""Commands: what the second-level cache asks of its server, on one event loop."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from typing import Any

from tenantry.backends.redis.entry import DIGITS
from tenantry.redis_server import Message, RedisClient

_WRITE = f"""
local there = redis.call('GETRANGE', KEYS[1], 0, {DIGITS - 1})
if #there == {DIGITS} and (there > ARGV[1] or (there == ARGV[1] and ARGV[2] == '')) then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
return 1
"""
"""Writes an entry or a tombstone unless one of a later generation is there: so neither a late fill nor a late tombstone
undoes what came after it. A tombstone does not bury what was read in its own generation."""

_DIGEST = sha1(_WRITE.encode(), usedforsecurity=False).hexdigest()


class Commands:
    """``lifetime`` (seconds) ends every key."""

    def __init__(self, client: RedisClient, lifetime: float) -> None:
        self._client = client
        self._milliseconds = max(1, round(lifetime * 1000))

    async def read(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        """The value at each key; None where there is none, or a value of another kind."""
        redis = self._client.redis
        values: Sequence[bytes | None] = await (redis.mget_nonatomic if self._client.is_cluster else redis.mget)(*keys)
        return values

    async def write(self, messages: Sequence[tuple[str, bytes, Message]]) -> int:
        """``messages``: key, stamp and what to write there. How many of them the server answered with an error (it is
        full, or a key holds another kind of value). Raises the errors of the driver when it did not answer."""
        answers = await self._run([("EVALSHA", _DIGEST, *self._arguments(*each)) for each in messages])
        again = [
            ("EVAL", _WRITE, *self._arguments(*each))
            for each, answer in zip(messages, answers, strict=True)
            if _is_unknown_script(answer)
        ]
        if again:  # this server has not seen the script yet, or has forgotten it
            answers = [*(each for each in answers if not _is_unknown_script(each)), *await self._run(again)]
        return sum(isinstance(answer, Exception) for answer in answers)

    def _arguments(self, key: str, stamp: bytes, message: Message) -> tuple[Any, ...]:
        return 1, key, stamp, message.content, self._milliseconds

    async def _run(self, commands: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        if self._client.is_cluster:
            pipeline = self._client.redis.pipeline()
        else:
            pipeline = self._client.redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        answers: Sequence[Any] = await pipeline.execute(raise_on_error=False)
        return answers


def _is_unknown_script(answer: object) -> bool:
    return type(answer).__name__ == "NoScriptError"
