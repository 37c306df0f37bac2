from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any, Final

from tenantry.datasources.checks import word_at
from tenantry.editor.offsets import Utf16Text
from tenantry.errors import (
    MissingVariable,
    PrivateNameUsed,
    QueryFailed,
    TemplateError,
    TenantryError,
    UnmappedSchema,
    UnregisteredSource,
    error_location,
)

_log: Final = logging.getLogger("tenantry.editor")
_WORD: Final = re.compile(r"[@\w]+")


def query_error(error: TenantryError, path: str, text: str, sent: str = "") -> dict[str, Any]:
    """Return an error as JSON for the author: its code and message and, if known, the fix, the field, and the place in
    ``text`` (``from`` and ``to``).

    ``path``: the file that contains ``text``. ``sent``: the SQL that was sent to the data source.
    """
    # Viewers must not learn about mappings. Authors may: they chose the group and the schema.
    is_mapping = isinstance(error, UnmappedSchema | UnregisteredSource)
    shown: dict[str, Any] = {"code": error.code, "message": error.message if is_mapping else error.public_message}
    if isinstance(error, TemplateError | PrivateNameUsed) and error.problem:
        shown |= {"message": error.problem, "fix": error.fix}
    if isinstance(error, MissingVariable):
        shown |= _without_value(error.names)
    if error.field is not None:
        shown["field"] = error.field
    where = _place(error, path, text, sent)
    if where is not None:
        shown |= Utf16Text(text).span(*where)
    return shown


def internal_error(error: Exception) -> dict[str, str]:
    """Log an unexpected error. Return the code and message for the author."""
    _log.error("a query of the editor failed: %s", error_location(error))
    return {"code": "internal", "message": "the editor itself failed; its operator can see the reason in the log"}


def _without_value(names: Sequence[str]) -> dict[str, str]:
    places = {
        "viewer": "choose a viewer above the text, with the values that the query needs",
        "params": "fill in the fields above the result, or put the parts of the query that need them in [[ ]]",
    }
    needed = {places.get(name.partition(".")[0], "give the group these properties") for name in names}
    return {"message": f"no value for {', '.join(names)}", "fix": "; ".join(sorted(needed))}


def _place(error: Any, path: str, text: str, sent: str) -> tuple[int, int] | None:
    if isinstance(error, TemplateError):
        location = error.location
        if location is None or location.file != path:
            return None
        start = Utf16Text(text).index(location.line, location.column)
        word = _WORD.match(text, start)
        return start, word.end() if word is not None else min(start + 1, len(text))
    if isinstance(error, QueryFailed | PrivateNameUsed):
        name = (word_at(sent, error.position or 0) if isinstance(error, QueryFailed) else "") or error.word
        found = list(re.finditer(rf"(?<![@\w]){re.escape(name)}(?!\w)", text, re.IGNORECASE)) if name else []
        return found[0].span() if len(found) == 1 else None
    for name in getattr(error, "names", None) or filter(None, [getattr(error, "name", "")]):
        tag = re.search(rf"\{{\{{[^{{}}]*?(?<![\w.])({re.escape(str(name))})(?![\w.])", text)
        if tag is not None:
            return tag.span(1)
    return None
