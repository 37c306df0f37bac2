"""RedactTokens: no token in a log record, and the record's shape stays."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from uvicorn.logging import AccessFormatter

from tenantry.groups import Record
from tenantry.middleware import RedactTokens

T = "ugtc_k1_" + "Ab-_" * 9 + "AbA." + "x" * 49
RECORD = Record({"a": 1})  # its str() raises
K = "ugkt_" + "Q" * 49
P = "ugpv_" + "Ab-_" * 10 + "AbA"
PASS = "ugvc_k1_" + "A" * 39 + ".eyJhbGciOiJIUzI1NiJ9.eyJpYXQiOjF9." + "B_-" * 14 + "A"


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def logged() -> Iterator[tuple[logging.Logger, Lines]]:
    logger = logging.getLogger("tests.redaction")
    handler = Lines()
    handler.addFilter(RedactTokens())
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, handler
    logger.removeHandler(handler)
    logger.propagate = True


class Url:
    def __str__(self) -> str:
        return f"https://h/?USER_GROUP_TOKEN={T}"


@pytest.mark.parametrize(
    ("message", "arguments", "line"),
    [
        (f"GET /?t={T}&a=1", (), "GET /?t=ugtc_[redacted]&a=1"),
        ("%s and %d and %s", (T, 3, K), "ugtc_[redacted] and 3 and ugkt_[redacted]"),
        ("%(a)s", ({"a": T},), "ugtc_[redacted]"),
        ("%s", (T.encode(),), "b'ugtc_[redacted]'"),
        ("%r", (T.encode(),), "b'ugtc_[redacted]'"),  # red when bytes become a string
        ("%s", (Url(),), "https://h/?USER_GROUP_TOKEN=ugtc_[redacted]"),
        ("%s", ([T],), "['ugtc_[redacted]']"),
        ("%s", (T.replace("_", "%5F"),), "ugtc_[redacted]"),
        ("%s", (T[:40],), "ugtc_[redacted]"),
        (f"GET /?preview={P}", (), "GET /?preview=ugpv_[redacted]"),  # red with tokens alone in the pattern
        (f"GET /?t={PASS}&a=1", (), "GET /?t=ugvc_[redacted]&a=1"),  # likewise
        ("%s", (PASS.replace(".", "%2E"),), "ugvc_[redacted]"),
        ("%s", (PASS[:40],), "ugvc_[redacted]"),
        # Red when the letters of the prefix are searched as they are alone.
        (f"GET /?t=%75{T[1:]}&a=%", (), "GET /?t=%75gtc_[redacted]&a=%"),
        ("%s", (f"u%67{PASS[2:]}",), "u%67vc_[redacted]"),
        ("%s", (f"ug%6Bt%5F{K[5:]}",), "ug%6Bt_[redacted]"),
        ("%s", (f"%75%67%70%76_{P[5:]}",), "%75%67%70%76_[redacted]"),
        ("a hug, ugtc_ and %s%%", (100,), "a hug, ugtc_ and 100%"),
        ("%s %r", (None, RECORD), f"None {RECORD!r}"),
    ],
)
def test_message_and_arguments(
    logged: tuple[logging.Logger, Lines], message: str, arguments: tuple[object, ...], line: str
) -> None:
    """Tokens of either kind go; everything else stays as it was, an object that cannot be printed too."""
    logger, handler = logged
    logger.warning(message, *arguments)
    assert handler.lines == [line]


def test_traceback_and_extras(logged: tuple[logging.Logger, Lines]) -> None:
    """A token in an exception's text is hidden with it; an exception without one keeps its exc_info."""
    logger, handler = logged
    handler.setFormatter(logging.Formatter("%(message)s %(colour)s"))
    try:
        int(T)
    except ValueError:
        logger.exception("failed", extra={"colour": f"red {K}"})
    assert T not in handler.lines[0]
    assert K not in handler.lines[0]
    assert "ValueError: invalid literal for int() with base 10: 'ugtc_[redacted]'" in handler.lines[0]
    record = logging.LogRecord("x", 40, "p", 1, "m", None, (ValueError, ValueError("fine"), None))
    RedactTokens().filter(record)
    assert record.exc_info is not None


def test_an_access_log_of_uvicorn_keeps_its_columns() -> None:
    """uvicorn's formatter takes the five arguments apart."""
    arguments = ("1.2.3.4:5", "GET", f"/d?USER_GROUP_TOKEN={T}", "1.1", 200)
    record = logging.LogRecord("uvicorn.access", 20, "p", 1, '%s - "%s %s HTTP/%s" %d', arguments, None)
    assert RedactTokens().filter(record)
    line = AccessFormatter('%(client_addr)s "%(request_line)s" %(status_code)s', use_colors=False).format(record)
    assert line == '1.2.3.4:5 "GET /d?USER_GROUP_TOKEN=ugtc_[redacted] HTTP/1.1" 200 OK'
