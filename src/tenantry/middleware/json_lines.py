"""JsonLines: log records as one JSON object a line, for whoever collects them."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final

from tenantry.middleware.redaction import redacted

_FIELDS: Final = ("request_id", "method", "path", "status", "seconds")
"""What our own records bring with them."""

_ACCESS: Final = ("client", "method", "path", "http_version", "status")
"""What the five arguments of a record of ``uvicorn.access`` are."""


class JsonLines(logging.Formatter):
    """One object a line: ``time`` (RFC 3339, UTC), ``level``, ``logger``, ``message``; and ``exception``,
    ``request_id`` and the fields of an access log (``method``, ``path``, ``status``, ``seconds``) where there are such.
    Tokens are hidden in all of them.

    A record of yours brings them like this: ``logger.warning("…", extra={"request_id": "…"})``.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line.update((name, record.__dict__[name]) for name in _FIELDS if name in record.__dict__)
        if record.name == "uvicorn.access" and isinstance(record.args, tuple) and len(record.args) == len(_ACCESS):
            line.update(zip(_ACCESS, record.args, strict=True))
        if record.exc_info or record.exc_text:
            line["exception"] = record.exc_text or self.formatException(record.exc_info)  # type: ignore[arg-type]
        return redacted(json.dumps(line, default=str))
