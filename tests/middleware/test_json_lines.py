"""Log records as JSON lines."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry.groups import Tag
from tenantry.middleware import JsonLines, RedactTokens
from tenantry.tokens import KeyRing, SigningKey, draft_token

TOKEN = KeyRing([SigningKey("k1", b"1" * 32)]).mint(draft_token(Tag.CUSTOMER, "k1", lambda size: b"7" * size))


class Written(io.StringIO):
    """A log, and its lines as objects."""

    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, Written]]:
    """A logger of its own, whose lines are kept."""
    written = Written()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    handler.addFilter(RedactTokens())
    logger = logging.Logger("uvicorn.access")  # noqa: LOG001  # one that nobody else has
    logger.addHandler(handler)
    yield logger, written
    handler.close()


def test_one_object_a_line(log: tuple[logging.Logger, Written]) -> None:
    """Whatever is in the message: a line break in it forges no second line. Red when text is joined by hand."""
    logger, written = log
    logger.warning('first\n{"level": "forged"} "%s"', "ü\u2028", extra={"request_id": "r-1"})
    (line,) = written.objects()
    assert written.getvalue().count("\n") == 1
    assert (line["level"], line["logger"], line["request_id"]) == ("warning", "uvicorn.access", "r-1")
    assert line["message"] == 'first\n{"level": "forged"} "ü\u2028"'
    time = datetime.fromisoformat(line["time"])
    assert time.utcoffset() == UTC.utcoffset(None)
    assert abs((datetime.now(UTC) - time).total_seconds()) < 60


def test_an_access_log_has_fields(log: tuple[logging.Logger, Written]) -> None:
    """uvicorn's own record is taken apart."""
    logger, written = log
    logger.info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:5", "GET", "/api/user", "1.1", 200)
    (line,) = written.objects()
    assert (line["method"], line["path"], line["status"], line["client"]) == ("GET", "/api/user", 200, "127.0.0.1:5")


def test_no_token_gets_out(log: tuple[logging.Logger, Written]) -> None:
    """In no field of a line: message, path, request id, exception. Red when the formatter does not redact and the
    filter is missing."""
    logger, written = log
    logger.handlers[0].filters.clear()
    logger.info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:5", "GET", f"/?USER_GROUP_TOKEN={TOKEN}", "1.1", 200)
    logger.warning("the token %s", TOKEN, extra={"request_id": TOKEN})
    try:
        int(TOKEN)
    except ValueError:
        logger.exception("failed")
    lines = written.objects()
    assert len(lines) == 3
    assert "ugtc_[redacted]" in lines[2]["exception"]
    assert TOKEN not in written.getvalue()
    assert TOKEN[8:30] not in written.getvalue()


def test_what_json_does_not_know_is_written_as_text(log: tuple[logging.Logger, Written]) -> None:
    """A log line is never lost for the type of a field."""
    logger, written = log
    logger.warning("x", extra={"status": object})
    assert json.loads(written.getvalue())["status"] == str(object)
