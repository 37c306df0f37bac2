# A fingerprint must differ for parameters of different types. JSON and `str` would write a date like a string, and a
# dict would treat the keys 1, 1.0 and True as equal. So plain values are serialized by `marshal` version 2, in which
# each value has exactly one form.

from __future__ import annotations

import marshal
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Final, NamedTuple
from uuid import UUID

from tenantry.sql.syntax_tree import VariableReference


class BoundSQL(NamedTuple):
    """SQL and its parameters, for a driver's ``execute(sql, params)``. ``repr`` shows no value."""

    sql: str
    params: tuple[Any, ...] | dict[str, Any] | None
    """A dict for the paramstyles ``named``, ``pyformat`` and ``named_at``, otherwise a tuple. None if the SQL has
    no placeholder and the paramstyle is ``format`` or ``pyformat``. In this case, ``%`` is not doubled in the SQL."""
    paramstyle: str
    dialect: str
    reads_group: bool = True
    """Whether the result can depend on the group. True if the template names a variable other than ``params.*``, or if
    a parameter takes its value from a property of the group."""

    def fingerprint(self, *, source: str, revision: str, group: str, session: BoundSQL | None = None) -> str:
        """Return the cache key of the query's result: 64 hexadecimal digits.

        The key covers the SQL, the parameters with their types, the data source (its id ``source`` and its
        ``revision``), and ``session``, the statement that the source runs first. If the template reads the group or
        there is a ``session``, the key also covers ``group``, for example ``UserGroup.handle.hex()``.

        Raises ValueError if ``source`` or ``group`` is empty, and TypeError for a parameter of an unknown type.
        """
        if not source or not group:
            raise ValueError("a fingerprint needs the id of the data source and the id of the group")
        owner = group if self.reads_group or session is not None else None
        set_before = None if session is None else (session.sql, session.params)
        return digest(
            (source, revision, self.dialect, self.paramstyle, self.sql, self.params, owner, set_before),
        )

    def __repr__(self) -> str:
        count = len(self.params or ())
        return f"<BoundSQL {self.dialect} {self.paramstyle}, {count} parameter{'s' * (count != 1)}: {self.sql!r}>"


class TracedSQL(NamedTuple):
    """A BoundSQL, and the variables from which the value of each parameter is made."""

    bound: BoundSQL
    references: tuple[tuple[VariableReference, ...], ...]


_BYTES = 32
_PLAIN: Final = frozenset({type(None), bool, int, float, str, bytes})
_NESTED: Final = frozenset({tuple, dict})


def digest(values: tuple[Any, ...]) -> str:
    """Return the values' BLAKE2b digest, 64 hexadecimal digits. Raises TypeError for a value of an unknown type."""
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            continue
        if kind in _NESTED:
            held = value.values() if kind is dict else value  # parameter names are strings
            if _PLAIN.issuperset(map(type, held)):
                continue
        return blake2b(_encode(values), digest_size=_BYTES).hexdigest()
    return blake2b(b"plain:" + marshal.dumps(values, 2), digest_size=_BYTES).hexdigest()


def _encode(value: Any) -> bytes:
    encoder = _ENCODERS.get(type(value))
    if encoder is None:
        raise TypeError(f"a value of type {type(value).__name__} has no fingerprint")
    tag, to_bytes = encoder
    encoded = to_bytes(value)
    return b"%s%d:%s" % (tag, len(encoded), encoded)


def _moment(value: datetime | time) -> bytes:
    return f"{value.isoformat()} {value.fold} {value.tzinfo}".encode(errors="surrogatepass")


def _joined(values: list[Any] | tuple[Any, ...]) -> bytes:
    return b"".join(map(_encode, values))


_ENCODERS: Final[dict[type, tuple[bytes, Callable[[Any], bytes]]]] = {
    type(None): (b"n", lambda value: b""),
    bool: (b"o", lambda value: b"1" if value else b"0"),
    int: (b"i", lambda value: b"%d" % value),
    float: (b"f", lambda value: value.hex().encode()),
    Decimal: (b"d", lambda value: str(value).encode()),
    str: (b"s", lambda value: value.encode(errors="surrogatepass")),
    bytes: (b"b", bytes),
    date: (b"D", lambda value: value.isoformat().encode()),
    datetime: (b"M", _moment),
    time: (b"t", _moment),
    timedelta: (b"p", lambda value: b"%d %d %d" % (value.days, value.seconds, value.microseconds)),
    UUID: (b"u", lambda value: value.bytes),
    list: (b"l", _joined),
    tuple: (b"T", _joined),
    dict: (b"m", lambda value: _joined([part for item in value.items() for part in item])),
}
