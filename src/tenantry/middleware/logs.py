from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final

from tenantry.tokens import replace_tokens


def redact(text: str) -> str:
    """Replace each token in a string by its prefix and ``_[redacted]``, for example ``ugtc_[redacted]``."""
    return replace_tokens(text, "_[redacted]")


class RedactTokens(logging.Filter):
    """Hides tokens in log records. Add this filter to handlers, because a logger's filter does not see the records of
    child loggers::

    for handler in logging.getLogger("uvicorn.access").handlers:
        handler.addFilter(RedactTokens())
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and not record.exc_text:
            text = logging.Formatter().formatException(record.exc_info)
            if redact(text) != text:
                # The exception contains a token: keep only its redacted traceback.
                record.exc_text = text
                record.exc_info = None
        for name, value in list(record.__dict__.items()):
            if name != "args" and (clean := _clean(value)) is not value:
                setattr(record, name, clean)
        if record.args:
            # Keep the type and length: some formatters, such as uvicorn's, unpack the arguments.
            arguments: Any = record.args
            if isinstance(arguments, tuple):
                record.args = tuple(_clean_argument(value) for value in arguments)
            elif isinstance(arguments, dict):
                record.args = {name: _clean_argument(value) for name, value in arguments.items()}
            else:
                record.args = _clean_argument(arguments)
        return True


def _clean_argument(value: Any) -> Any:
    if isinstance(value, str | bytes):
        return _clean(value)
    if value is None or isinstance(value, int | float):
        return value
    try:
        texts = (str(value), repr(value))
    except Exception:  # noqa: BLE001  # an object that cannot be printed fails in its handler anyway
        return value
    return next((redact(text) for text in texts if redact(text) != text), value)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        clean: Any = redact(value)
    elif isinstance(value, bytes):
        clean = redact(value.decode("latin-1")).encode("latin-1")
    else:
        return value
    return value if clean == value else clean


# --- JSON lines -------------------------------------------------------------------------------------------------------

_FIELDS: Final = ("request_id", "method", "path", "status", "seconds")
"""The fields of ``extra`` that JsonLines writes. Tenantry's own log records have them."""

_ACCESS_FIELDS: Final = ("client", "method", "path", "http_version", "status")
"""The arguments of a ``uvicorn.access`` record, in order."""


class JsonLines(logging.Formatter):
    """Formats each record as a line of JSON with ``time`` (RFC 3339, UTC), ``level``, ``logger`` and ``message``.
    These fields are added if the record has them: ``exception``, ``request_id``, ``method``, ``path``, ``status`` and
    ``seconds``. Lines of ``uvicorn.access`` also have ``client``, ``method``, ``path``, ``http_version`` and
    ``status``. Tokens are hidden."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line.update((name, record.__dict__[name]) for name in _FIELDS if name in record.__dict__)
        if (
            record.name == "uvicorn.access"
            and isinstance(record.args, tuple)
            and len(record.args) == len(_ACCESS_FIELDS)
        ):
            line.update(zip(_ACCESS_FIELDS, record.args, strict=True))
        if record.exc_info or record.exc_text:
            line["exception"] = record.exc_text or self.formatException(record.exc_info)  # type: ignore[arg-type]
        return redact(json.dumps(line, default=str))
