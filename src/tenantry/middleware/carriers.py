from __future__ import annotations

import re
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Protocol, runtime_checkable

from tenantry.middleware.addresses import MASK
from tenantry.middleware.cache_headers import Header
from tenantry.tokens import TOKEN_LENGTH

HTTP_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The syntax of the name of a header (RFC 9110 section 5.6.2) or cookie (RFC 6265)."""

_ORIGIN_HEADERS: Final = frozenset({"host", "origin", "sec-fetch-site"})
_SUBPROTOCOLS: Final = b"sec-websocket-protocol"


@dataclass(frozen=True, slots=True, repr=False)
class Extracted:
    """A token that a custom carrier found in a header line. ``repr`` omits the token. Raises TypeError for arguments of
    the wrong type."""

    token: bytes
    """The token. If the header field is empty, this is ``b""``, which counts as a bad token."""
    rest: bytes | None
    """The line without the token, for the app. None removes the whole line."""
    sent_by_browser: bool = True
    """Whether a browser or gateway may add the token to a request that a page on another site makes. If it may, the
    middleware checks the origin, as for a cookie. Use False only if the token is always added by a program, or by a
    script in your page. A token in the header ``Cookie`` always counts as sent by a browser."""

    def __post_init__(self) -> None:
        given: tuple[object, object] = (self.token, self.rest)
        if not isinstance(given[0], bytes) or not isinstance(given[1], bytes | None):
            raise TypeError("Extracted(token, rest): token must be bytes, rest bytes or None")


@runtime_checkable
class Carrier(Protocol):
    """Reads tokens in your own format from request headers. Does no I/O."""

    @property
    def headers(self) -> Sequence[str]:
        """Names of the headers to read, at least one. ``Host``, ``Origin`` and ``Sec-Fetch-Site`` are not allowed."""

    def extract(self, name: str, value: bytes, /) -> Extracted | None:
        """Return the first token in a line of the header ``name`` (lower case), or None. After ``extract``
        returns a token, the middleware calls it again with the rest of the line. If ``extract`` raises an exception,
        the response is a 500. The exception's message must not contain header values."""
        ...


def require_carrier(carrier: object) -> None:
    if not isinstance(carrier, Carrier) or isinstance(carrier, type):
        raise TypeError(
            f"a carrier is header(…), cookie(…), query(…), path(…), or an object with headers and extract(), "
            f"not {type(carrier).__name__}"
        )
    name = type(carrier).__name__
    if isinstance(carrier.headers, str) or not carrier.headers:
        raise ValueError(f"{name}.headers must be a list with at least one header name")
    for each in carrier.headers:
        if not HTTP_TOKEN.fullmatch(each) or each.lower() in _ORIGIN_HEADERS:
            raise ValueError(
                f"{name}.headers: {each!r} is not allowed: give a valid header name other than Host, Origin or "
                "Sec-Fetch-Site"
            )


class CustomCarriers:
    __slots__ = ("_by_header",)

    def __init__(self, carriers: Iterable[Carrier]) -> None:
        self._by_header: dict[bytes, list[Carrier]] = {}
        for carrier in carriers:
            for name in dict.fromkeys(name.lower().encode() for name in carrier.headers):
                self._by_header.setdefault(name, []).append(carrier)

    def extract(self, scope: MutableMapping[str, Any], explicit: list[bytes], by_browser: list[bytes]) -> None:
        """Move the tokens from the scope's headers to ``by_browser`` if they are ``sent_by_browser``, otherwise to
        ``explicit``. Raises RuntimeError if a carrier leaves the token in ``Extracted.rest``."""
        headers: list[Header] = scope["headers"]
        if not any(name in self._by_header for name, _ in headers):
            return
        self._replace(scope, [pair for pair in headers if pair[0] not in self._by_header])
        rest: list[Header] = []
        found: list[Extracted] = []
        for name, value in headers:
            left = self._extract_line(name, value, found) if name in self._by_header else value
            if left is not None:
                rest.append((name, left))
        for each in found:
            (by_browser if each.sent_by_browser else explicit).append(each.token)
        # These headers may contain further copies of the token, in formats that the carrier does not read: mask them.
        for token in {each.token for each in found if len(each.token) >= TOKEN_LENGTH}:
            rest = [
                (name, value.replace(token, MASK.encode()) if name in self._by_header else value)
                for name, value in rest
            ]
        self._replace(scope, rest)

    def _extract_line(self, name: bytes, value: bytes, found: list[Extracted]) -> bytes | None:
        for carrier in self._by_header[name]:
            while (one := carrier.extract(name.decode("latin-1"), value)) is not None:
                found.append(Extracted(one.token, None) if name == b"cookie" else one)
                if one.rest is None:
                    return None
                if len(one.rest) >= len(value):  # the loop might never end
                    raise RuntimeError(
                        f"{type(carrier).__name__}.extract() found a token in the header {name.decode('latin-1')} and "
                        "left it there: Extracted.rest must be the header's value without the token"
                    )
                value = one.rest
        return value

    def _replace(self, scope: MutableMapping[str, Any], headers: list[Header]) -> None:
        scope["headers"] = headers
        if _SUBPROTOCOLS in self._by_header and "subprotocols" in scope:
            lines = b",".join(value for name, value in headers if name == _SUBPROTOCOLS).decode("latin-1")
            scope["subprotocols"] = [each.strip() for each in lines.split(",") if each.strip()]


_PLACEHOLDER = "{token}"


@dataclass(frozen=True, slots=True)
class Carriers:
    """The places where a request may carry a token. All places are read, and a request with two different tokens is
    refused. A header contains only the token, except ``Authorization``, in which one of ``schemes`` precedes the token.
    ``paths``: templates (``/embed/{token}``) or names of path parameters."""

    headers: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    custom: tuple[Carrier, ...] = ()

    def __post_init__(self) -> None:
        for carrier in self.custom:
            require_carrier(carrier)

    @property
    def vary(self) -> str:
        """The value of the Vary header of the app's responses."""
        names = [*self.headers, "Cookie"] if self.cookies else [*self.headers]
        for name in (name for carrier in self.custom for name in carrier.headers):
            if name.lower() not in {known.lower() for known in names}:
                names.append(name)
        return ", ".join(names)


TOKEN_HEADER: Final = "X-User-Group-Token"  # noqa: S105  # its name
"""The header in which dashboard pages send the token."""


def header(*names: str, scheme: str = "UserGroup") -> Carriers:
    """Read the token from headers. By default, these are ``X-User-Group-Token``, ``USER_GROUP_TOKEN`` and
    ``Authorization: <scheme> <token>``. ``Authorization`` with another scheme is ignored. Some proxies drop headers
    whose names have underscores. Raises ValueError for an invalid name."""
    chosen = names or (TOKEN_HEADER, "USER_GROUP_TOKEN", "Authorization")
    for name in (*chosen, scheme):
        _require_token(name, "a header name or scheme")
    if any(name.lower() == "cookie" for name in chosen):
        raise ValueError("to read the Cookie header, use cookie(name)")
    return Carriers(
        headers=chosen, schemes=(scheme,) if any(name.lower() == "authorization" for name in chosen) else ()
    )


def cookie(name: str = "USER_GROUP_TOKEN") -> Carriers:
    """Read the token from a cookie. The name is case-sensitive (RFC 6265). Raises ValueError for an invalid name."""
    _require_token(name, "a cookie name")
    return Carriers(cookies=(name,))


def query(name: str = "USER_GROUP_TOKEN") -> Carriers:
    """Read the token from a query parameter. Names are percent-decoded and then compared, case-sensitively. Raises
    ValueError for an invalid name."""
    if not name.isascii() or not name.isprintable() or not name.strip():
        raise ValueError(f"the name of a query parameter must be printable ASCII, not {name!r}")
    return Carriers(queries=(name,))


def path(where: str) -> Carriers:
    """Read the token from a path segment. ``where``: a template such as ``/embed/{token}``, relative to the mount
    point, or the name of a path parameter of an outer router. The app sees ``redacted`` instead of the token. Browser
    histories and proxy logs keep paths: prefer a header or cookie. Raises ValueError for an invalid ``where``."""
    if where.startswith("/"):
        segments = where.split("/")[1:]
        if segments.count(_PLACEHOLDER) != 1 or any("{" in part for part in segments if part != _PLACEHOLDER):
            raise ValueError(
                f"a path template must have one segment {_PLACEHOLDER}, as in '/embed/{_PLACEHOLDER}', not {where!r}"
            )
        if segments[-1] != _PLACEHOLDER:
            raise ValueError(
                f"a path template must end with {_PLACEHOLDER}: remove the segments after it from {where!r} (the "
                "template also matches longer paths)"
            )
    elif not where.isidentifier():
        raise ValueError(f"path() takes the name of a parameter, or a template that starts with '/', not {where!r}")
    return Carriers(paths=(where,))


def first_of(*carriers: Carriers | Carrier) -> Carriers:
    """Combine carriers. Raises ValueError if no carrier is given, TypeError if an argument is not a carrier."""
    if not carriers:
        raise ValueError("first_of() takes at least one carrier")
    merged = [each if isinstance(each, Carriers) else Carriers(custom=(each,)) for each in carriers]
    custom = {id(carrier): carrier for each in merged for carrier in each.custom}  # a carrier may not be hashable
    return Carriers(
        **{
            field.name: tuple(dict.fromkeys(name for each in merged for name in getattr(each, field.name)))
            for field in fields(Carriers)
            if field.name != "custom"
        },
        custom=tuple(custom.values()),
    )


AnyCarriers = Carriers | Carrier | Sequence[Carriers | Carrier] | None
"""One carrier, several, or None for DEFAULT_CARRIERS."""


def read_carriers(given: AnyCarriers) -> Carriers:
    if given is None:
        return DEFAULT_CARRIERS
    if isinstance(given, Carriers | Carrier):
        return first_of(given)
    return first_of(*given)


def _require_token(name: str, what: str) -> None:
    if not HTTP_TOKEN.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be {what}: use only ASCII letters, digits and !#$%&'*+-.^_`|~ (RFC 9110 section 5.6.2)"
        )


DEFAULT_CARRIERS = first_of(header(), cookie(), query())
"""``header()``, ``cookie()`` and ``query()``, with their default names."""
