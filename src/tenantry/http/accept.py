"""The Accept header: which of two representations a request prefers (RFC 9110 section 12.5.1)."""

from __future__ import annotations

from collections.abc import Iterable

Headers = Iterable[tuple[bytes, bytes]]


def prefers_html(headers: Headers) -> bool:
    """True if Accept ranks text/html above application/json. At the same quality the one named more exactly wins."""
    accept = _accept(headers)
    if "text/" not in accept:
        return False
    ranges = _media_ranges(accept)
    html, json = _rank(ranges, "text", "html"), _rank(ranges, "application", "json")
    return html[0] > 0 and html > json


def prefers_problem(headers: Headers) -> bool:
    """True if Accept names application/problem+json (RFC 9457), and ranks application/json no higher."""
    accept = _accept(headers)
    if "application/problem+json" not in accept:
        return False
    qualities = dict(_media_ranges(accept))
    problem = qualities.get("application/problem+json", 0.0)
    return problem > 0 and problem >= qualities.get("application/json", 0.0)


def _accept(headers: Headers) -> str:
    return b",".join(value for name, value in headers if name == b"accept").decode("latin-1").lower()


def _media_ranges(accept: str) -> list[tuple[str, float]]:
    """Each media range with its quality."""
    ranges = []
    for part in accept.split(","):
        media_range, *parameters = (text.strip() for text in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                quality = _quality(value.strip())
                break
        ranges.append((media_range, quality))
    return ranges


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0  # a NaN fails both


def _rank(ranges: list[tuple[str, float]], kind: str, subtype: str) -> tuple[float, int]:
    """Quality of a media type and how exactly it was named; the most exact range decides."""
    for exactness, name in ((3, f"{kind}/{subtype}"), (2, f"{kind}/*"), (1, "*/*")):
        qualities = [quality for media_range, quality in ranges if media_range == name]
        if qualities:
            return max(qualities), exactness
    return 0.0, 0
