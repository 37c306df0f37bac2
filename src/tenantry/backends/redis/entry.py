"""The commands for the second-level cache, and its entries. An entry has one of these forms:
    <generation, 19 digits><JSON>        a group that was read at this generation
    <generation, 19 digits>              a tombstone: the group was changed at this generation

The JSON contains the store id and the handle, so that an entry under a wrong key is refused. It identifies the token by
a SHA-256 digest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha1, sha256
from hmac import compare_digest
from typing import Any, NoReturn

from tenantry.aio import Message
from tenantry.database import RedisClient
from tenantry.groups import CACHE_ENTRY, LookupResult, Token, UserGroup

DIGITS = 19
_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class RefusedEntry(ValueError):
    """The value in Redis is not an entry of this store and handle. The error message does not quote the value."""


def key_of(store_id: str, handle: bytes) -> str:
    # The braces enclose the hash tag for Redis Cluster.
    return f"{_prefix(store_id)}{{{handle.hex()}}}"


@lru_cache(maxsize=8)
def _prefix(store_id: str) -> str:
    return f"tenantry:{sha256(store_id.encode()).hexdigest()[:32]}:"


def stamp(generation: int) -> bytes:
    return b"%019d" % generation


def write_entry(store_id: str, token: Token, group: UserGroup) -> bytes:
    entry = {
        "store": store_id,
        "handle": group.handle.hex(),
        "token": _fingerprint(token),
        **CACHE_ENTRY.encode(group),
    }
    return _dump(entry).encode()


def read_entry(value: bytes, store_id: str, token: Token) -> LookupResult | None:
    """Return the group in an entry, with its generation. Return None for a tombstone, and for another token's entry.
    Raises RefusedEntry for an invalid value."""
    try:
        return _read(value[:DIGITS], value[DIGITS:], store_id, token)
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        raise RefusedEntry(
            "an entry of the second-level cache is not valid and is ignored: check what else writes to this server"
        ) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_load = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _read(digits: bytes, text: bytes, store_id: str, token: Token) -> LookupResult | None:
    if len(digits) != DIGITS or not digits.isdigit():
        raise ValueError
    if not text:
        return None
    entry = _load(text.decode())
    if entry["store"] != store_id or entry["handle"] != token.handle.hex():
        raise ValueError
    if not compare_digest(entry["token"], _fingerprint(token)):
        return None
    group = CACHE_ENTRY.decode(entry, handle=token.handle)
    if group.token_version != token.version or group.environment.tag is not token.tag:
        raise ValueError
    return LookupResult(group, int(digits))


def _fingerprint(token: Token) -> str:
    parts = (
        b"tenantry.second-level.v2",
        token.tag.value.encode(),
        token.key_id.encode(),
        token.handle,
        token.version.to_bytes(8, "big"),
        token.nonce,
    )
    return sha256(b"".join(len(part).to_bytes(2, "big") + part for part in parts)).hexdigest()


_WRITE = f"""
local there = redis.call('GETRANGE', KEYS[1], 0, {DIGITS - 1})
if #there == {DIGITS} and (there > ARGV[1] or (there == ARGV[1] and ARGV[2] == '')) then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
return 1
"""
"""Writes a group or a tombstone. Keeps an entry of a later generation, because writes may arrive late. A tombstone does
not replace a group of the same generation, because that group was read after the change."""

_DIGEST = sha1(_WRITE.encode(), usedforsecurity=False).hexdigest()


class RedisCommands:
    def __init__(self, client: RedisClient, lifetime: float) -> None:
        self._client = client
        self._milliseconds = max(1, round(lifetime * 1000))

    async def read(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        """Return one value for each key: None if the key is missing or has another type."""
        redis = self._client.redis
        values: Sequence[bytes | None] = await (redis.mget_nonatomic if self._client.is_cluster else redis.mget)(*keys)
        return values

    async def write(self, messages: Sequence[tuple[str, bytes, Message]]) -> int:
        """Write each message under its key. ``messages``: tuples of the key, the ``stamp`` of the generation, and the
        message. Return the number of failed writes. Raises the driver's errors."""
        answers = await self._run([("EVALSHA", _DIGEST, *self._arguments(*each)) for each in messages])
        again = [
            ("EVAL", _WRITE, *self._arguments(*each))
            for each, answer in zip(messages, answers, strict=True)
            if _is_unknown_script(answer)
        ]
        if again:  # the server lacks the script, for example after a restart
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
