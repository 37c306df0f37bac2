"""Finds values of other groups in bound SQL, cache keys, fetched rows, logs, ``sys.stdout`` and ``sys.stderr`` during a
leak check."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any
from unittest.mock import patch

from tenantry.datasources import DataSources
from tenantry.groups import Record, RecordList
from tenantry.sql import BoundSQL, SQLTemplate
from tenantry.testing.canaries import Canary, CanaryGroups, group_label

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LISTED = 20  # crossings that a message shows


@dataclass(frozen=True)
class Crossing:
    """A group's value in SQL text, or in another group's parameters, rows, response, cache key, log or output."""

    what: str
    """The template or request."""
    where: str
    """Where the value was found, such as ``response body``."""
    run: int
    """1 in the first run of the templates or requests, 2 in the second."""
    owner: str
    """The value's group."""
    served: str
    """The group that received the value."""
    name: str
    """The property that has the value."""
    canary: str

    def __str__(self) -> str:
        whose = f"its own {self.name}" if self.owner == self.served else f"{self.name} of {self.owner}"
        return f"{self.what}, run {self.run}: {self.where} for {self.served} has {whose} ({self.canary})"


class LeakFound(AssertionError):
    """Raised if a group's values reached another group, or are in the text of SQL. The message shows only canaries."""

    def __init__(self, crossings: Iterable[Crossing]) -> None:
        self.crossings: tuple[Crossing, ...] = tuple(crossings)
        shown = [f"  {crossing}" for crossing in self.crossings[:_LISTED]]
        if len(self.crossings) > _LISTED:
            shown.append(f"  and {len(self.crossings) - _LISTED} more")
        super().__init__("\n".join(["values crossed between user groups, or are in the SQL:", *shown]))


class Recorder:
    def __init__(self, groups: CanaryGroups) -> None:
        self.crossings: dict[Crossing, None] = {}
        self.seen: set[int] = set()
        """Groups whose values were found in the right place."""
        self._groups = groups
        self._what = ""
        self._run = 1
        self._served: tuple[int, ...] = ()
        self._keys: dict[str, tuple[int, ...]] = {}

    def begin(self, what: str, run: int, served: tuple[int, ...]) -> None:
        self._what, self._run, self._served = what, run, served

    def search(self, what: str, where: str, value: Any, served: tuple[int, ...]) -> None:
        for canary in self._groups.find(_text(value)):
            if canary.group in served:
                self.seen.add(canary.group)
            else:
                self._note(what, where, canary, served)

    def bound(self, template: object, bound: BoundSQL) -> None:
        if not self._served:
            return
        what = self._named(template)
        for canary in self._groups.find(bound.sql):
            self._note(what, "SQL text", canary, self._served)
        self.search(what, "parameters", bound.params, self._served)

    def key(self, key: str, *, of_group: bool) -> None:
        if not self._served:
            return
        self.search(self._what, "cache key", key, self._served)
        owners = self._keys.setdefault(key, self._served) if of_group else self._served
        if not set(owners) & set(self._served):
            canary = Canary(owners[0], "the same key", f"{key[:12]}…")
            self._note(self._what, "cache key", canary, self._served)

    def rows(self, template: object, rows: Any) -> None:
        if self._served:
            self.search(self._named(template), "rows", rows, self._served)

    def written(self, where: str, text: str) -> None:
        if self._served:
            self.search(self._what, where, text, self._served)

    def require(self, checked: str, refused: Iterable[str] = ()) -> None:
        """Raise LeakFound if a value was found in the wrong place, and AssertionError if requests were refused or no
        value of any group was seen."""
        __tracebackhide__ = True
        if self.crossings:
            raise LeakFound(self.crossings)
        listed = list(islice(refused, _LISTED))
        if listed:
            raise AssertionError("\n  ".join(["these requests were refused, so they check nothing:", *listed]))
        if not self.seen:
            raise AssertionError(
                f"no value of any group appeared in {checked}, so nothing was checked: make it use properties of the "
                "group"
            )

    def _named(self, template: object) -> str:
        if self._what.startswith("template "):
            return self._what
        return f"{self._what}, {template_name(template)}"

    def _note(self, what: str, where: str, canary: Canary, served: tuple[int, ...]) -> None:
        groups = served if canary.group not in served else (canary.group,)
        labels = " or ".join(map(group_label, groups))
        crossing = Crossing(what, where, self._run, group_label(canary.group), labels, canary.name, canary.value)
        self.crossings[crossing] = None


def template_name(template: object) -> str:
    text = template if isinstance(template, str) else getattr(template, "text", None)
    if text is None:
        return f"template {getattr(template, '__name__', type(template).__name__)}"
    line = " ".join(text.split())
    return f"template {line[:60]!r}{'…' if len(line) > 60 else ''}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping | Record):
        return "\n".join([f"{name}\n{_text(value[name])}" for name in value])
    if isinstance(value, list | tuple | set | frozenset | RecordList):
        return "\n".join(map(_text, value))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


# --- observing this process ---


@contextmanager
def observe(recorder: Recorder, level: int) -> Iterator[None]:
    bind, fingerprint, fetch = SQLTemplate.bind, BoundSQL.fingerprint, DataSources.fetch
    handle = logging.Logger.callHandlers

    def observed_bind(self: SQLTemplate, *arguments: Any, **options: Any) -> BoundSQL:
        bound = bind(self, *arguments, **options)
        recorder.bound(self, bound)
        return bound

    def observed_fingerprint(self: BoundSQL, **options: Any) -> str:
        key = fingerprint(self, **options)
        recorder.key(key, of_group=self.reads_group or options.get("session") is not None)
        return key

    async def observed_fetch(self: DataSources, group: Any, schema: str, template: Any, *arguments: Any) -> Any:
        rows = await fetch(self, group, schema, template, *arguments)
        recorder.rows(template, rows)
        return rows

    def observed_record(self: logging.Logger, record: logging.LogRecord) -> None:
        recorder.written(f"log of {record.name}", _record_text(record))
        handle(self, record)

    root = logging.getLogger()
    before = root.level
    with ExitStack() as stack:
        stack.enter_context(patch.object(SQLTemplate, "bind", observed_bind))
        stack.enter_context(patch.object(BoundSQL, "fingerprint", observed_fingerprint))
        stack.enter_context(patch.object(DataSources, "fetch", observed_fetch))
        stack.enter_context(patch.object(logging.Logger, "callHandlers", observed_record))
        stack.enter_context(redirect_stdout(_Copy(recorder, "stdout", sys.stdout)))
        stack.enter_context(redirect_stderr(_Copy(recorder, "stderr", sys.stderr)))
        root.setLevel(level)
        stack.callback(root.setLevel, before)
        yield


class _Copy:
    def __init__(self, recorder: Recorder, name: str, stream: IO[str]) -> None:
        self._recorder = recorder
        self._name = name
        self._stream = stream

    def write(self, text: str) -> int:
        self._recorder.written(self._name, text)
        return self._stream.write(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _record_text(record: logging.LogRecord) -> str:
    extra = [f"{name}={value!r}" for name, value in vars(record).items() if name not in _PLAIN]
    try:
        return "\n".join([logging.Formatter().format(record), *extra])
    except (TypeError, ValueError):  # its arguments do not fit its format string
        return "\n".join([str(record.msg), repr(record.args), *extra])
