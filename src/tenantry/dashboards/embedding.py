"""The response headers of a page that lives in another site's frame."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.responses import Response

from tenantry.errors import InvalidSettings

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_ORIGIN = re.compile(rf"https?://(?:\*\.)?{_LABEL}(?:\.{_LABEL})*(?::\d{{1,5}})?", re.ASCII | re.IGNORECASE)


def frame_ancestors_of(origins: Sequence[str]) -> str:
    """The ``frame-ancestors`` policy (CSP level 3) that lets pages of these origins embed a page; none: nobody may.

    Raises InvalidSettings for what is not ``'self'`` or an origin with a host: a path, a lone ``*`` or ``https:``, or
    anything that would begin another directive or header.
    """
    if isinstance(origins, str):
        raise InvalidSettings(f"frame_ancestors is a list of origins: write [{origins!r}]")
    listed = list(origins)
    if listed in ([], ["'none'"]):
        return "frame-ancestors 'none'"
    for origin in listed:
        if origin != "'self'" and _ORIGIN.fullmatch(origin) is None:
            raise InvalidSettings(
                f"frame_ancestors: {origin!r} is not an origin: write scheme, host and port only, as in "
                "https://app.example.com, https://*.example.com, http://localhost:3000, or 'self' in its quotes"
            )
    return "frame-ancestors " + " ".join(listed)


def embed(response: Response, policy: str) -> None:
    """Set the headers of an embedded page. What the page set itself stays, unless a shared cache could keep it."""
    headers = response.headers
    if policy not in headers.getlist("Content-Security-Policy"):  # a renderer may hand out one Response again and again
        headers.append("Content-Security-Policy", policy)  # beside any other: a browser obeys every policy it is sent
    headers["X-Content-Type-Options"] = "nosniff"
    headers.setdefault("Referrer-Policy", "no-referrer")  # the address may hold the token
    directives = {part.strip().lower().partition("=")[0] for part in headers.get("Cache-Control", "").split(",")}
    if not directives & {"private", "no-store"} or directives & {"public", "s-maxage"}:
        headers["Cache-Control"] = "private, no-store"
