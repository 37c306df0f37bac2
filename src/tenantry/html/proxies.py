"""Template variables that keep their path, so that the error for a missing variable can name it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from typing import Any, NoReturn

from jinja2 import StrictUndefined, Undefined
from jinja2.exceptions import UndefinedError
from jinja2.runtime import Context
from jinja2.utils import missing

from tenantry.errors import MissingVariable, UnbindableValue
from tenantry.groups import Record, RecordList

VARIABLES = "tenantry.variables"
"""Context key of the group's variables. Not an identifier, so templates cannot set it."""

HIDDEN = "[…]"
"""Errors show this instead of a computed key, as in ``row[name]``, because the key may be the value of a property."""


class Missing(StrictUndefined):
    """The value of a missing variable. Any use, except ``is defined``, ``is undefined`` and ``|default(…)``, raises
    ``exc`` (default: MissingVariable)."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: Any = None,
        exc: type[Exception] = UndefinedError,
    ) -> None:
        super().__init__(hint, obj, name, exc)  # type: ignore[arg-type]  # Jinja only ever calls it with a message
        if hint is None and exc is UndefinedError:
            path = name if isinstance(name, str) else f"[{name}]"
            self._undefined_exception = partial(MissingVariable, names=(path,))  # type: ignore[assignment]  # as above

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        if self._undefined_obj is missing:
            return f"there is no variable {self._undefined_name}: this group or view does not have it"
        kind = "a null" if self._undefined_obj is None else f"a value of type {type(self._undefined_obj).__name__}"
        return f"{kind} has no {self._undefined_name}"

    def _refused(self, *_: Any) -> NoReturn:
        self._fail_with_undefined_error()

    # StrictUndefined lacks these: ``|abs``, ``|round`` and slices would raise a TypeError without the name.
    __abs__: Callable[..., NoReturn] = _refused
    __round__: Callable[..., NoReturn] = _refused
    __index__: Callable[..., NoReturn] = _refused

    async def __aiter__(self) -> AsyncIterator[Any]:
        # StrictUndefined would give an empty loop, so an async template would print nothing for a missing list.
        self._fail_with_undefined_error()
        yield  # pragma: no cover  # makes this an asynchronous generator


class RecordView(Record):
    __slots__ = ("_path",)
    _path: str

    def __init__(self, record: Record, path: str = "") -> None:
        object.__setattr__(self, "_values", record._values)
        object.__setattr__(self, "_path", path)

    def __getitem__(self, name: str) -> Any:
        if name in self._values:
            value = self._values[name]
            return _view(value, _join(self._path, name)) if type(value) in _NESTED else value
        return Missing(name=_join(self._path, name))

    def __reduce__(self) -> tuple[type[RecordView], tuple[Any, ...]]:
        return RecordView, (Record(self._values), self._path)

    def __str__(self) -> NoReturn:
        raise _not_printable(self._path, "an object")


class ListView(RecordList):
    __slots__ = ("_path",)
    _path: str

    def __init__(self, values: RecordList, path: str = "") -> None:
        object.__setattr__(self, "_values", values._values)
        object.__setattr__(self, "_path", path)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return ListView(RecordList(self._values[index]), self._path)
        path = f"{self._path}[{index}]"
        try:
            return _view(self._values[index], path)
        except IndexError:
            return Missing(name=path)

    def __iter__(self) -> Iterator[Any]:
        return (_view(value, f"{self._path}[{index}]") for index, value in enumerate(self._values))

    def __reduce__(self) -> tuple[type[ListView], tuple[Any, ...]]:
        return ListView, (RecordList(self._values), self._path)

    def __str__(self) -> NoReturn:
        raise _not_printable(self._path, "a list")


def wrap(variables: Record | Mapping[str, Any]) -> RecordView:
    return RecordView(variables if isinstance(variables, Record) else Record(variables))


class VariablesContext(Context):
    def resolve_or_missing(self, key: str) -> Any:
        value = super().resolve_or_missing(key)
        if value is not missing:
            return value
        source = self.parent.get(VARIABLES)
        if source is None:
            user_group = self.parent.get("user_group")
            if isinstance(user_group, Undefined):
                return user_group  # without a group, the error is MissingToken
            source = user_group["properties"] if isinstance(user_group, RecordView) else None
        return source[key] if isinstance(source, RecordView) and key in source else missing


_NESTED = frozenset({Record, RecordList})


def _view(value: Any, path: str) -> Any:
    if type(value) is Record:
        return RecordView(value, path)
    if type(value) is RecordList:
        return ListView(value, path)
    return value


def _join(path: str, name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        return f"{path}[{json.dumps(name, default=repr, ensure_ascii=False)}]"
    return f"{path}.{name}" if path else name


def _not_printable(path: str, kind: str) -> UnbindableValue:
    where = path or "the variables"
    return UnbindableValue(
        f"{where} is {kind}, which cannot be printed: name one of its values, or use |tojson",
        name=where,
    )
