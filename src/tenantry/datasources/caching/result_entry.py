# Each entry has a digest, keyed with the secret of RedisResults: without the secret, nobody can create an entry or move
# one to another key. The body is MessagePack, column by column. If all values of a column have the same type, they are
# written plainly; otherwise each has a type tag. Decoding runs no code.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from hmac import compare_digest
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from tenantry.datasources.results import Result
from tenantry.datasources.results.format import missing_package_message
from tenantry.errors import InvalidSettings

if TYPE_CHECKING:
    import msgspec

_MAC_BYTES: Final = 32
_VERSION: Final = 2
_PLAIN_WORDS: Final[dict[type, str]] = {
    kind: kind.__name__ for kind in (int, float, str, bytes, bool, Decimal, date, UUID)
}
_TYPES: Final[dict[str, Any]] = {word: GenericAlias(list, (kind | None,)) for kind, word in _PLAIN_WORDS.items()}
_TAGGED: Final = "tagged"


class Unencodable(Exception):
    pass


class RefusedResult(Exception):
    """The bytes are not a valid entry for this key and this secret."""


@dataclass(frozen=True, slots=True)
class SharedEntry:
    key: str
    mark: str
    """The source's mark (see ``RedisResults``) when the rows were read."""
    as_of: float
    """When the source was queried, in Unix seconds."""
    size: int
    """Bytes in memory."""
    result: Result


def check_codec() -> None:
    """Raise InvalidSettings if msgspec is missing."""
    try:
        import msgspec  # noqa: F401
    except ImportError:
        raise InvalidSettings(missing_package_message("msgspec", "json")) from None


def write_result(secret: bytes, entry: SharedEntry) -> bytes:
    """Encode and sign an entry. Raises Unencodable if a value cannot be encoded."""
    result = entry.result
    try:
        columns = [_column(values) for values in zip(*result.rows, strict=True)]
        body = _codec().encode(
            (
                *(_VERSION, entry.key, entry.mark, entry.as_of, entry.size),
                *(result.names, result.types, result.arrow_types, len(result.rows), columns),
            )
        )
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Unencodable from error
    return _mac(secret, body) + body


def read_result(secret: bytes, key: str, data: bytes) -> SharedEntry:
    """Verify and decode an entry. Raises RefusedResult."""
    mac, body = data[:_MAC_BYTES], data[_MAC_BYTES:]
    if not compare_digest(mac, _mac(secret, body)):
        raise RefusedResult
    import msgspec

    try:
        version, own_key, mark, as_of, size, names, types, arrow_types, count, columns = _decoder(None).decode(body)
        if version != _VERSION or own_key != key:
            raise RefusedResult
        values = [_values(word, content) for word, content in columns]
    except (msgspec.MsgspecError, ValueError, TypeError, LookupError) as error:
        raise RefusedResult from error
    rows = tuple(zip(*values, strict=True)) if names else ((),) * count
    types, arrow_types = (None if each is None else tuple(each) for each in (types, arrow_types))
    result = Result(tuple(names), rows, types, datetime.fromtimestamp(as_of, UTC), arrow_types=arrow_types)
    return SharedEntry(key, mark, as_of, size, result)


def _mac(secret: bytes, body: bytes) -> bytes:
    return blake2b(body, key=secret, digest_size=_MAC_BYTES, person=b"tenantry.result").digest()


@lru_cache(maxsize=1)
def _codec() -> msgspec.msgpack.Encoder:
    import msgspec

    return msgspec.msgpack.Encoder(decimal_format="string", uuid_format="canonical")


@lru_cache(maxsize=16)
def _decoder(word: str | None) -> msgspec.msgpack.Decoder[Any]:
    import msgspec

    return msgspec.msgpack.Decoder(Any if word is None else _TYPES[word])


def _column(values: Sequence[Any]) -> tuple[str, bytes]:
    kinds = set(map(type, values)) - {type(None)}
    word = _PLAIN_WORDS.get(kinds.pop()) if len(kinds) == 1 else None
    if word is not None:
        try:
            return word, _codec().encode(values)
        except (ValueError, OverflowError):  # an integer of more than 64 bits, or a lone surrogate
            pass
    return _TAGGED, _codec().encode([_tagged(value) for value in values])


def _values(word: str, content: bytes) -> list[Any]:
    if word == _TAGGED:
        return [_untagged(value) for value in _decoder(None).decode(content)]
    values: list[Any] = _decoder(word).decode(content)
    return values


# --- one value with its type ------------------------------------------------------------------------------------------


def _tagged(value: Any) -> Any:
    if value is None:
        return None
    found = _TAGS.get(type(value))
    if found is None:
        raise Unencodable
    return [found[0], found[1](value)]


def _untagged(tagged: Any) -> Any:
    if tagged is None:
        return None
    tag, content = tagged
    return _READERS[tag](content)


def _offset(value: datetime | time) -> Any:
    if value.tzinfo is None:
        return None
    offset = value.utcoffset()
    if offset is None:  # the offset of its zone depends on the date
        raise Unencodable
    return _interval(offset)


def _zone(offset: Any) -> timezone | None:
    return None if offset is None else timezone(timedelta(*offset))


def _interval(value: timedelta) -> tuple[int, int, int]:
    return value.days, value.seconds, value.microseconds


def _moment(value: datetime | time) -> Any:
    return value.replace(tzinfo=None).isoformat(), value.fold, _offset(value)


def _read_datetime(content: Any) -> datetime:
    text, fold, offset = content
    return datetime.fromisoformat(text).replace(tzinfo=_zone(offset), fold=fold)


def _read_time(content: Any) -> time:
    text, fold, offset = content
    return time.fromisoformat(text).replace(tzinfo=_zone(offset), fold=fold)


_Pair = tuple[str, Callable[[Any], Any]]
_FORMS: Final[dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    bool: ("o", bool, bool),
    int: ("i", str, int),
    float: ("f", float, float),
    str: ("s", lambda value: value.encode(errors="surrogatepass"), lambda read: read.decode(errors="surrogatepass")),
    bytes: ("b", bytes, bytes),
    Decimal: ("d", str, Decimal),
    UUID: ("u", lambda value: value.bytes, lambda read: UUID(bytes=read)),
    date: ("D", date.isoformat, date.fromisoformat),
    datetime: ("M", _moment, _read_datetime),
    time: ("t", _moment, _read_time),
    timedelta: ("p", _interval, lambda read: timedelta(*read)),
    list: ("l", lambda value: [*map(_tagged, value)], lambda read: [*map(_untagged, read)]),
    tuple: ("T", lambda value: [*map(_tagged, value)], lambda read: tuple(map(_untagged, read))),
    dict: (
        "m",
        lambda value: [(_tagged(name), _tagged(item)) for name, item in value.items()],
        lambda read: {_untagged(name): _untagged(item) for name, item in read},
    ),
}
_TAGS: Final[dict[type, _Pair]] = {kind: (tag, write) for kind, (tag, write, _) in _FORMS.items()}
_READERS: Final[dict[str, Callable[[Any], Any]]] = {tag: read for tag, _, read in _FORMS.values()}
