"""taker: the token of a request, taken out of its scope so that neither the app nor an access log sees it.

Two lanes with one meaning. ``Careful`` is the meaning. The fast lane serves what nearly every request is, no token at
all or one plain header or cookie, in one pass over the headers; anything else it hands over, before it has touched the
scope. It checks no more of a token than its length: what has the right length and odd characters is bad in either lane.
A differential test holds the two equal.

``find`` and not ``in``: ``bytes.__contains__`` first tries its argument as a number, and throws away a TypeError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from tenantry.middleware.addresses import ADDRESS_HEADERS, Scope, hides_token
from tenantry.middleware.careful import Careful
from tenantry.middleware.carriers import Carriers
from tenantry.middleware.origins import OriginCheck
from tenantry.tokens import TOKEN_LENGTH

_ODD: Final = (b"", None)
"""What a reader answers when the careful lane has to look: no token has this length."""

Reader = Callable[[bytes], tuple[bytes, bytes | None] | None]
"""Header value -> the token, and what is left of a Cookie header without it (None: the header was no cookie); None if
it holds no token; or _ODD. A token of another length than ours goes to the careful lane too."""


def taker(carriers: Carriers, origins: OriginCheck | None = None) -> Callable[[Scope], bytes | None]:
    """What takes the token out of an ASGI scope: gives it, or None, or raises AmbiguousToken; with ``origins`` also
    OriginNotAllowed, where the token came in a cookie alone."""
    careful = Careful(carriers, origins).take
    return careful if carriers.paths else _fast_taker(carriers, careful, origins)


def _fast_taker(
    carriers: Carriers, careful: Callable[[Scope], bytes | None], origins: OriginCheck | None
) -> Callable[[Scope], bytes | None]:
    readers = _readers(carriers)
    in_query = _query_test(carriers)
    require_origin = _pass if origins is None else origins.require

    def take(scope: Scope) -> bytes | None:
        headers = scope["headers"]
        if type(headers) is not list:  # ASGI promises no more than an iterable
            headers = scope["headers"] = list(headers)
        token = where = None
        rest: bytes | None = None
        for pair in headers:
            if pair[0] in readers:
                read = readers[pair[0]]
                # Nearly every request of a browser has a Referer, and nearly none is long enough for a token.
                skip = read is _address and len(pair[1]) < TOKEN_LENGTH
                found = None if skip else (pair[1], None) if read is None else read(pair[1])
                if found is not None:
                    if where is not None:
                        return careful(scope)
                    token, rest = found
                    where = pair
        if (token is not None and len(token) != TOKEN_LENGTH) or (
            (query := scope.get("query_string")) and in_query(query)
        ):
            return careful(scope)
        if where is not None:
            # Out of a copy: the list may be shared with the server, the scope is the request's own.
            scope["headers"] = headers = headers.copy()
            if rest is None:
                headers.remove(where)
            else:
                place = headers.index(where)
                headers[place : place + 1] = [(where[0], rest)] if rest else []
                require_origin(scope)
        return token

    return take


def _pass(_: Scope) -> None:
    """No origin is asked for."""


def _query_test(carriers: Carriers) -> Callable[[bytes], bool]:
    """Whether a query may hold a token, as a carrier or within the value of another parameter."""
    if not carriers.queries:
        return hides_token
    name = carriers.queries[0].encode()
    if len(carriers.queries) > 1 or quote(name) != name.decode():
        return lambda _: True
    return lambda query: query.find(name) >= 0 or hides_token(query) or (query.find(b"%") >= 0 and _hides_a_name(query))


def _hides_a_name(query: bytes) -> bool:
    """True if a percent sign stands in the name of a parameter."""
    return any(part.partition(b"=")[0].find(b"%") >= 0 for part in query.split(b"&"))


def _readers(carriers: Carriers) -> dict[bytes, Reader | None]:
    """The reader of each header that is looked at; None where the whole value is the token."""
    readers: dict[bytes, Reader | None] = dict.fromkeys(ADDRESS_HEADERS, _address)
    readers |= {name.lower().encode(): None for name in carriers.headers}
    if b"authorization" in readers:
        schemes = [scheme.lower().encode() for scheme in carriers.schemes]
        readers[b"authorization"] = _authorization(schemes[0]) if len(schemes) == 1 else _odd
    if carriers.cookies:
        readers[b"cookie"] = _cookie(carriers.cookies[0].encode()) if len(carriers.cookies) == 1 else _odd
    return readers


def _address(value: bytes) -> tuple[bytes, None] | None:
    return _ODD if value.find(b"ugt") >= 0 else None


def _odd(_: bytes) -> tuple[bytes, None]:
    return _ODD


def _authorization(scheme: bytes) -> Reader:
    size = len(scheme)

    def read(value: bytes) -> tuple[bytes, bytes | None] | None:
        if value[:size].lower() != scheme:
            return _ODD if value[:1].isspace() else None
        return (value[size + 1 :], None) if value[size : size + 1] == b" " else _ODD

    return read


def _cookie(name: bytes) -> Reader:
    end = TOKEN_LENGTH + 1

    def read(value: bytes) -> tuple[bytes, bytes | None] | None:
        before, found, after = value.partition(name)
        if not found:
            return None
        rest = after[end:]
        if (
            after[:1] != b"="
            or (before and before[-2:] != b"; ")
            or (rest and rest[:2] != b"; ")
            or rest.find(name) >= 0
        ):
            return _ODD
        return after[1:end], (before + rest[2:] if rest else before[:-2]).strip()

    return read
