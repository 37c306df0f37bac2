"""A user group as JSON and as table columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

from tenantry.groups.record import Record, adopt, thaw
from tenantry.groups.user_group import Environment, Tag, Token, UserGroup

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """Return microseconds since the start of 1970 (UTC). The time must be aware."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(count: int) -> datetime:
    """Return the UTC time ``count`` microseconds after the start of 1970."""
    return _EPOCH + count * _MICROSECOND


# --- values in JSON ---------------------------------------------------------------------------------------------------


class ValueCodec(NamedTuple):
    """A pair of functions that convert one value to JSON and back. ``decode`` raises an exception for an invalid
    value."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def _exactly(kind: type) -> Callable[[Any], Any]:
    def decode(value: Any) -> Any:
        if type(value) is not kind:  # isinstance(True, int) holds
            raise TypeError
        return value

    return decode


def _decode_mapping(value: Any) -> Record:
    if not all(type(source) is str for source in _exact_dict(value).values()):
        raise TypeError
    return cast("Record", adopt(value))


def _decode_revoked(value: Any) -> Record:
    if not all(type(before) is int for before in _exact_dict(value).values()):
        raise TypeError
    return cast("Record", adopt(value))


def _decode_hex(value: str) -> bytes:
    decoded = bytes.fromhex(value)
    if len(decoded) != 8 or decoded.hex() != value:  # fromhex accepts spaces and capitals
        raise ValueError
    return decoded


def _decode_iso(value: str) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError
    return moment.astimezone(UTC)


def _or_null(codec: ValueCodec) -> ValueCodec:
    encode, decode = codec
    return ValueCodec(
        lambda value: None if value is None else encode(value), lambda value: None if value is None else decode(value)
    )


_exact_int, _exact_dict = _exactly(int), _exactly(dict)
_INTEGER: Final = ValueCodec(int, _exact_int)
_TEXT: Final = ValueCodec(str, _exactly(str))
_FLAG: Final = ValueCodec(bool, _exactly(bool))
_PROPERTIES: Final = _or_null(ValueCodec(thaw, lambda value: adopt(_exact_dict(value))))
_MAPPING: Final = _or_null(ValueCodec(thaw, _decode_mapping))
_REVOKED: Final = _or_null(ValueCodec(thaw, _decode_revoked))
_HANDLE: Final = ValueCodec(bytes.hex, _decode_hex)
_ISO_TIME: Final = _or_null(ValueCodec(datetime.isoformat, _decode_iso))
_MICROS: Final = _or_null(ValueCodec(to_micros, lambda value: from_micros(_exact_int(value))))

_ENVIRONMENT: Final = {
    "id": _INTEGER,
    "name": _TEXT,
    "tag": ValueCodec(lambda tag: tag.value, Tag),
    "external_data_sources": _FLAG,
    "grace_seconds": _INTEGER,
}


def _environment_object(environment: Environment) -> dict[str, Any]:
    return {name: codec.encode(getattr(environment, name)) for name, codec in _ENVIRONMENT.items()}


def _decode_environment_object(value: dict[str, Any]) -> Environment:
    given = {name: codec.decode(value[name]) for name, codec in _ENVIRONMENT.items() if name in _exact_dict(value)}
    return Environment(**given)


def _decode_environment_array(value: list[Any]) -> Environment:
    members = zip(_ENVIRONMENT.values(), value, strict=True)
    return Environment(*[codec.decode(member) for codec, member in members])


_OBJECT: Final = ValueCodec(_environment_object, _decode_environment_object)
_ARRAY: Final = ValueCodec(
    lambda environment: list(_environment_object(environment).values()), _decode_environment_array
)

# --- a group as a JSON document ---------------------------------------------------------------------------------------

# For a new field of UserGroup, add a line here (for all JSON forms) and a column to GroupRow (for all SQL).
_FIELDS: Final[dict[str, ValueCodec]] = {
    "team_id": _INTEGER,
    "provided_id": _TEXT,
    "name": _TEXT,
    "environment": _OBJECT,
    "properties": _PROPERTIES,
    "mapping": _MAPPING,
    "handle": _HANDLE,
    "token_version": _INTEGER,
    "revision": _INTEGER,
    "grace_until": _ISO_TIME,
    "expires_at": _ISO_TIME,
    "suspended": _FLAG,
    "revoked_viewers": _REVOKED,
}
_ALWAYS_WRITTEN: Final = frozenset({"grace_until"})
"""Fields that have a default, but are in the JSON of every version. JSON of earlier versions may lack the other
fields with a default (``_LATER_FIELDS``)."""

_LATER_FIELDS: Final = (
    frozenset(each.name for each in fields(UserGroup) if each.init and each.default is not MISSING) - _ALWAYS_WRITTEN
)


class GroupCodec:
    """Converts a group to JSON and back. ``without``: the fields that the JSON omits; pass their values to ``decode``.
    ``other_forms``: by field name, the codecs that replace the usual ones."""

    def __init__(self, *, without: Collection[str] = (), **other_forms: ValueCodec) -> None:
        forms = {**_FIELDS, **other_forms}
        self._fields = [(name, *forms[name], name in _LATER_FIELDS) for name in _FIELDS if name not in without]

    def encode(self, group: UserGroup) -> dict[str, Any]:
        """Return the group as JSON, without secrets."""
        return {name: encode(getattr(group, name)) for name, encode, _, _ in self._fields}

    def decode(self, document: Mapping[str, Any], **given: Any) -> UserGroup:
        """Parse a document, ignoring unknown members. ``given``: the values of the fields in ``without``. Raises
        ValueError, which quotes no value, if a required field is missing or a field has the wrong type."""
        try:
            values = {
                name: decode(document[name])
                for name, _, decode, optional in self._fields
                if not optional or name in document
            }
            return UserGroup(**values, **given)
        except (TypeError, ValueError, LookupError, OverflowError, RecursionError):
            raise ValueError("this is not a user group document") from None


INTROSPECTION: Final = GroupCodec()
"""The codec of ``user_group`` in introspection responses."""

JSON_COLUMNS: Final = frozenset(name for name, codec in _FIELDS.items() if codec in (_PROPERTIES, _MAPPING, _REVOKED))

TIME_COLUMNS: Final = frozenset(name for name, codec in _FIELDS.items() if codec is _ISO_TIME)
"""The columns that hold a time, as microseconds since 1970 in UTC."""

_SHORT_TIMES: Final = dict.fromkeys(TIME_COLUMNS, _MICROS)

CACHE_ENTRY: Final = GroupCodec(without=("handle",), environment=_ARRAY, **_SHORT_TIMES)
"""The codec of entries in a second-level cache. The key of an entry contains the handle."""

STORED_RESPONSE: Final = GroupCodec(without=("environment", "handle"), **_SHORT_TIMES)
"""The codec of responses stored with an Idempotency-Key. Other columns hold the environment and the handle."""

# --- a group as a row of a table --------------------------------------------------------------------------------------


class EnvironmentRow(NamedTuple):
    """The columns of an environment, in the order in which queries select them."""

    id: int
    name: str
    tag: str
    external_data_sources: int
    grace_seconds: int


class GroupRow(NamedTuple):
    """The columns of a user group, in the order in which queries select them; the columns of EnvironmentRow follow.
    JSON values are strings; times are microseconds since 1970."""

    team_id: int
    provided_id: str
    name: str
    properties: str | None
    mapping: str | None
    handle: bytes
    token_version: int
    key_id: str
    nonce: bytes
    previous_key_id: str | None
    previous_nonce: bytes | None
    grace_until: int | None
    revision: int
    expires_at: int | None
    suspended: int
    """0 or 1."""
    revoked_viewers: str | None

    def group(
        self, environment: Environment, properties: Record | None, mapping: Record | None, revoked: Record | None
    ) -> UserGroup:
        """Make the group. Pass the columns ``properties``, ``mapping`` and ``revoked_viewers`` parsed from JSON."""
        values = list(_in_field_order(self))
        for place in _TIMES:
            if values[place] is not None:
                values[place] = from_micros(values[place])
        values[_SUSPENDED_PLACE] = bool(values[_SUSPENDED_PLACE])
        values[_ENVIRONMENT_PLACE], values[_PROPERTIES_PLACE], values[_MAPPING_PLACE] = environment, properties, mapping
        values[_REVOKED_PLACE] = revoked
        return UserGroup(*values)

    def token(self, tag: Tag) -> Token:
        """The group's current token, unsigned."""
        return Token(tag, self.key_id, self.handle, self.token_version, self.nonce)

    def previous_token(self, tag: Tag) -> Token | None:
        """Return the token that the last rotation replaced, even if its grace period has ended. Return None if that
        rotation set no grace period."""
        if self.previous_key_id is None or self.previous_nonce is None:
            return None
        return Token(tag, self.previous_key_id, self.handle, self.token_version - 1, self.previous_nonce)


# ``GroupRow.group`` passes arguments to ``UserGroup(…)`` by position: by name, a look-up in SQLite would take 5 %
# longer. The positions are computed from the field names.
_PLACES: Final = {each.name: place for place, each in enumerate(each for each in fields(UserGroup) if each.init)}
_in_field_order: Final = itemgetter(
    *(GroupRow._fields.index(name if name != "environment" else "handle") for name in _PLACES)  # replaced in ``group``
)
_TIMES: Final = tuple(_PLACES[name] for name in TIME_COLUMNS)
_SUSPENDED_PLACE: Final = _PLACES["suspended"]
_REVOKED_PLACE: Final = _PLACES["revoked_viewers"]
_ENVIRONMENT_PLACE: Final = _PLACES["environment"]
_PROPERTIES_PLACE: Final = _PLACES["properties"]
_MAPPING_PLACE: Final = _PLACES["mapping"]
