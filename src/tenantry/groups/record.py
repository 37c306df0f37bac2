"""Immutable JSON for templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, Self, TypeAlias

from tenantry.errors import MissingVariable

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
"""A plain JSON value."""


class MissingItem(MissingVariable, KeyError):
    """Raised for a name that a Record does not contain."""

    def __str__(self) -> str:
        return self.message  # a KeyError would show the repr of its message


class _Immutable:
    # No public attributes: Jinja tries attributes before items, so ``{{ x.items }}`` on a ``dict`` prints a method.
    __slots__ = ()
    _values: Any  # each subclass has its own slot, so ``_fill`` of a Record accepts only Records

    def __len__(self) -> int:
        return len(self._values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable")

    def __reduce__(self) -> tuple[type[Self], tuple[Any]]:
        return type(self), (self._values,)

    def __str__(self) -> NoReturn:
        kind = type(self).__name__
        raise TypeError(f"a {kind} cannot be printed: name one of its values, or use |tojson")


class Record(_Immutable):
    """An immutable, unhashable JSON object. Reading a missing name raises MissingItem. ``str()`` raises TypeError, so
    that no template prints a tenant's properties by mistake. ``repr()`` shows only the names."""

    __slots__ = ("_values",)
    __hash__: ClassVar[None]  # type: ignore[assignment]  # values may be unhashable, as in a dict
    _values: dict[str, Any]

    def __init__(self, values: Mapping[str, Any] | Record) -> None:
        object.__setattr__(self, "_values", {name: freeze(values[name]) for name in values})

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise MissingItem(f"there is no {name!r} in this record", names=(str(name),)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record):
            return self._values == other._values
        if isinstance(other, dict):
            return bool(self._values == other)
        return NotImplemented

    def __repr__(self) -> str:
        return f"<Record of {', '.join(map(repr, self)) or 'nothing'}>"


class RecordList(_Immutable):
    """An immutable JSON array. ``str()`` raises TypeError."""

    __slots__ = ("_values",)
    __hash__: ClassVar[None]  # type: ignore[assignment]  # values may be unhashable, as in a list
    _values: tuple[Any, ...]

    def __init__(self, values: Sequence[Any] | RecordList) -> None:
        object.__setattr__(self, "_values", tuple(freeze(value) for value in values))

    def __getitem__(self, index: int | slice) -> Any:
        return RecordList(self._values[index]) if isinstance(index, slice) else self._values[index]

    def __contains__(self, value: object) -> bool:
        return value in self._values

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RecordList):
            return self._values == other._values
        if isinstance(other, list | tuple):
            return self._values == tuple(other)
        return NotImplemented

    def __repr__(self) -> str:
        return f"<RecordList of {len(self)}>"


def freeze(value: Any) -> Any:
    """Return an immutable copy. Instances of a subclass of ``str``, such as ``Markup``, become plain strings, so that
    templates escape them."""
    if type(value) in _IMMUTABLE:  # the common case, and the fast one
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return Record(value)
    if isinstance(value, list | tuple):
        return RecordList(value)
    return value


_SCALARS = frozenset({str, int, float, bool, type(None)})
_IMMUTABLE = _SCALARS | {Record, RecordList}


def adopt(value: Any) -> Any:
    """Freeze the result of a JSON parser without copying it. The caller must not use the parser's dicts afterwards."""
    if type(value) is dict:
        for name, item in value.items():
            if type(item) not in _IMMUTABLE:
                value[name] = adopt(item)
        record = object.__new__(Record)
        _fill(record, value)
        return record
    if type(value) is list:
        items = object.__new__(RecordList)
        _fill_list(items, tuple([item if type(item) in _IMMUTABLE else adopt(item) for item in value]))
        return items
    return value


_fill = Record.__dict__["_values"].__set__  # bypasses __setattr__, which raises
_fill_list = RecordList.__dict__["_values"].__set__


def extend(record: Record, name: str, value: Any) -> Record:
    """Return a copy of the record in which ``name`` has this value."""
    copy = Record.__new__(Record)
    object.__setattr__(copy, "_values", {**record._values, name: value if type(value) is Record else freeze(value)})
    return copy


def thaw(value: Any) -> Any:
    """Return a copy that consists of plain dicts and lists."""
    if isinstance(value, Record):
        return {name: item if type(item) in _SCALARS else thaw(item) for name, item in value._values.items()}
    if isinstance(value, RecordList):
        return [item if type(item) in _SCALARS else thaw(item) for item in value._values]
    return value
