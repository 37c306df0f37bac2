"""The built-in variables of Grafana: ``$__from``, ``$__interval``, ``${__user.login}`` and others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tenantry_convert.conversion import Conversion
from tenantry_convert.grafana_macros import GrafanaMacros

_NOT_OF_A_VIEWER: Final = {"__user": "who is asking", "__org": "the organisation", "__dashboard": "the dashboard"}
_TIME_FORMATS: Final = frozenset({"date", "date:iso"})
_TYPE_BEFORE = re.compile(r"\b(?:interval|timestamp|timestamptz|date)\s*$", re.IGNORECASE)
_CAST_AFTER = re.compile(r"\s*::\s*timestamp(?:tz)?\b", re.IGNORECASE)
_MILLISECONDS: Final[Mapping[str, Any]] = {"type": "integer", "min": 1, "default": 3_600_000}


class GrafanaBuiltIn:
    """Converts the built-in variables of one query."""

    def __init__(self, conversion: Conversion, macros: GrafanaMacros) -> None:
        self._conversion = conversion
        self._macros = macros
        self._source = conversion.query.text

    def convert(self, name: str, form: str, start: int, end: int) -> None:
        """Replace a built-in variable, or keep and list it."""
        text = self._text(name, form, start)
        if text is not None:
            if name == "__interval" or form in _TIME_FORMATS:
                start, end = self._unquoted(start, end)
            self._conversion.replace(start, end, text)
            return
        if name in {"__from", "__to"}:
            self._conversion.leave(
                start, end, "a time in a custom format: write {{ params.period.start }}, which is a value"
            )
            return
        what = next((word for prefix, word in _NOT_OF_A_VIEWER.items() if name.startswith(prefix)), None)
        reason = f"{what} is no choice of a viewer: use a property of the group, as {{{{ user_group.id }}}}"
        self._conversion.leave(start, end, reason if what else "this variable of Grafana's own has no counterpart")

    def _text(self, name: str, form: str, offset: int) -> str | None:
        if name in {"__from", "__to"}:
            return self._end("start" if name == "__from" else "end", form, offset)
        if name == "__interval":
            reason = "Grafana computes it from the width of the panel; here it is a parameter"
            self._conversion.report(offset, "$__interval", reason)
            definition = {"type": "interval", "default": "1 hour"}
            return f"{{{{ {self._conversion.declare('__interval', 'interval', definition)} }}}}"
        if name == "__interval_ms":
            return f"{{{{ {self._conversion.declare(name, 'interval_ms', _MILLISECONDS)} }}}}"
        if name in {"__range_s", "__range_ms"}:
            start, end = (self._macros.end_epoch(which, offset) for which in ("start", "end"))
            length = f"({end} - {start})"
            return length if name == "__range_s" else f"{length} * 1000"
        return None

    def _end(self, which: str, form: str, offset: int) -> str | None:
        if form in _TIME_FORMATS:
            return self._macros.end(which, offset)
        if form == "date:seconds":
            return self._macros.end_epoch(which, offset)
        return None if form else f"{self._macros.end_epoch(which, offset)} * 1000"

    def _unquoted(self, start: int, end: int) -> tuple[int, int]:
        """Return the span with the quotes and type around it, as in ``timestamp '…'``.

        They are replaced too: the parameter is an instant already, and a cast could drop its zone.
        """
        if self._source[start - 1 : start] == "'" and self._source[end : end + 1] == "'":
            start, end = start - 1, end + 1
            word = _TYPE_BEFORE.search(self._source[:start])
            if word is not None:
                start = word.start()
            cast = _CAST_AFTER.match(self._source, end)
            if cast is not None:
                end = cast.end()
        return start, end
