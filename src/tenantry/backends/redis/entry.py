"""Entry: a reading as it stands in the second-level cache. Pure.

    <generation, 19 digits><JSON>        a group as it was in this generation
    <generation, 19 digits>              a tombstone: the group was written to in this generation

The JSON repeats the store and the handle, so that an entry that was put under another key is refused. It knows the
token by a SHA-256 of its parts, of which the nonce has 128 random bits: no token can be made from it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from typing import Any, NoReturn, cast

from tenantry.groups import Environment, Reading, Record, Tag, Token, UserGroup, adopt, thaw

DIGITS = 19
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class RefusedEntry(ValueError):
    """What was read is not an entry of this store and handle. The message says no more: it may hold anything."""


def key_of(store_id: str, handle: bytes) -> str:
    """Where the entry of a handle stands. Every part has a fixed length; the braces are a cluster's hash tag."""
    return f"{_prefix(store_id)}{{{handle.hex()}}}"


@lru_cache(maxsize=8)
def _prefix(store_id: str) -> str:
    return f"tenantry:{sha256(store_id.encode()).hexdigest()[:32]}:"


def stamp(generation: int) -> bytes:
    """A generation so that bytes compare as the numbers do."""
    return b"%019d" % generation


def write_entry(store_id: str, token: Token, group: UserGroup) -> bytes:
    """The JSON of an entry: this token is the live one of this group."""
    where = group.environment
    until = group.grace_until
    entry = {
        "store": store_id,
        "handle": group.handle.hex(),
        "token": _fingerprint(token),
        "team_id": group.team_id,
        "provided_id": group.provided_id,
        "name": group.name,
        "environment": [where.id, where.name, where.tag.value, where.external_data_sources, where.grace_seconds],
        "properties": thaw(group.properties),
        "mapping": thaw(group.mapping),
        "token_version": group.token_version,
        "revision": group.revision,
        "grace_until": None if until is None else (until - _EPOCH) // _MICROSECOND,
    }
    return _dump(entry).encode()


def read_entry(value: bytes, store_id: str, token: Token) -> Reading | None:
    """What the entry says of this token; None if it is a tombstone or speaks of another token of the group.

    Raises RefusedEntry.
    """
    try:
        generation, entry = _generation(value[:DIGITS]), value[DIGITS:]
        return _read(generation, _load(entry.decode()), store_id, token) if entry else None
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        raise RefusedEntry("an entry of the second-level cache is not what was written there") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_load = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _generation(digits: bytes) -> int:
    if len(digits) != DIGITS or not digits.isdigit():
        raise ValueError
    return int(digits)


def _read(generation: int, entry: dict[str, Any], store_id: str, token: Token) -> Reading | None:
    if entry["store"] != store_id or entry["handle"] != token.handle.hex():
        raise ValueError
    if not compare_digest(entry["token"], _fingerprint(token)):
        return None
    group = _group(entry, token)
    if group.token_version != token.version or group.environment.tag is not token.tag:
        raise ValueError
    return Reading(group, generation)


def _group(entry: dict[str, Any], token: Token) -> UserGroup:
    number, name, tag, external, grace_seconds = entry["environment"]
    until = entry["grace_until"]
    return UserGroup(
        team_id=_a(int, entry["team_id"]),
        provided_id=_a(str, entry["provided_id"]),
        name=_a(str, entry["name"]),
        environment=Environment(_a(int, number), _a(str, name), Tag(tag), _a(bool, external), _a(int, grace_seconds)),
        properties=_record(entry["properties"]),
        mapping=_record(entry["mapping"]),
        handle=token.handle,
        token_version=_a(int, entry["token_version"]),
        revision=_a(int, entry["revision"]),
        grace_until=None if until is None else _EPOCH + _a(int, until) * _MICROSECOND,
    )


def _a(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value


def _record(value: Any) -> Record | None:
    return None if value is None else cast("Record", adopt(_a(dict, value)))


def _fingerprint(token: Token) -> str:
    parts = (
        b"tenantry.second-level.v1",
        token.tag.value.encode(),
        token.key_id.encode(),
        token.handle,
        token.version.to_bytes(8, "big"),
        token.nonce,
    )
    return sha256(b"".join(len(part).to_bytes(2, "big") + part for part in parts)).hexdigest()
