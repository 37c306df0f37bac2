"""Any value as text; lists and objects as JSON."""

from __future__ import annotations

from typing import Any, Final

from tenantry.datasources.results.format import Format, scalar_text
from tenantry.datasources.results.json import JSONWriter

_NESTED: Final = (dict, list, tuple, set, frozenset)


class TextWriter:
    """Writes values. For lists and objects raises InvalidSettings without msgspec, QueryFailed if they nest too
    deep."""

    def __init__(self, format_: Format) -> None:
        self._format = format_
        self._json: JSONWriter | None = None

    def text(self, value: Any) -> str:
        if not isinstance(value, _NESTED):
            return scalar_text(value, self._format)
        if self._json is None:
            self._json = JSONWriter((), self._format)
        return self._json.write_value(value).decode()
