"""Careful: what taking a token out of a request means, for every carrier, spelling and repetition."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, unquote_to_bytes

from tenantry.errors import AmbiguousToken
from tenantry.middleware.addresses import (
    ADDRESS_HEADERS,
    ADDRESS_KEY,
    MASK,
    Address,
    Scope,
    address_cleaner,
    without_token,
)
from tenantry.middleware.carriers import Carriers
from tenantry.middleware.origins import OriginCheck

Header = tuple[bytes, bytes]


class Careful:
    """Looks at every carrier and takes out every token, then says which one it is.

    An empty value is a token, and a bad one: a carrier that is there but holds nothing is a fault of the sender (a
    logged-out cookie, a template that rendered nothing) and never means "no token given".
    """

    __slots__ = ("_authorization", "_carriers", "_clean", "_cookies", "_headers", "_origins", "_queries", "_schemes")

    def __init__(self, carriers: Carriers, origins: OriginCheck | None = None) -> None:
        names = {name.lower().encode() for name in carriers.headers}
        self._authorization = b"authorization" in names
        self._headers = frozenset(names - {b"authorization"})
        self._schemes = frozenset(scheme.lower().encode() for scheme in carriers.schemes)
        self._cookies = frozenset(name.encode() for name in carriers.cookies)
        self._queries = frozenset(name.encode() for name in carriers.queries)
        self._carriers = carriers
        self._clean = address_cleaner(carriers.queries)
        self._origins = origins

    def take(self, scope: Scope) -> bytes | None:
        """The token of this request, or None. It is out of the scope afterwards, also when AmbiguousToken is raised, or
        OriginNotAllowed: that only where no carrier but cookies holds the token, for who writes it elsewhere knows it.
        """
        path, in_cookies = scope["path"], list[bytes]()
        in_headers = self._from_headers(scope, in_cookies)
        in_query = self._from_query(scope)
        in_address = [*in_query, *self._from_path(scope)]
        found = in_headers + in_cookies + in_address
        if not found:
            return None
        token = found[0]
        if scope.get("query_string"):
            scope["query_string"] = without_token(scope["query_string"], token)
        if len(set(found)) > 1:
            raise AmbiguousToken(AmbiguousToken.MESSAGE)
        if in_address:
            scope[ADDRESS_KEY] = Address(token, path, self._carriers.queries[0] if in_query else None)
        elif not in_headers and self._origins is not None:
            self._origins.require(scope)
        return token

    # --- headers ------------------------------------------------------------------------------------------------------

    def _from_headers(self, scope: Scope, in_cookies: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        kept: list[Header] = []
        for pair in scope["headers"]:
            name, value = pair
            if name in self._headers:
                found.append(value.strip())
            elif name == b"authorization" and self._authorization:
                token = self._authorized(value)
                kept.append(pair) if token is None else found.append(token)
            elif name == b"cookie" and self._cookies:
                kept += self._from_cookie(pair, in_cookies)
            elif name in ADDRESS_HEADERS:
                kept.append((name, self._clean(value)))
            else:
                kept.append(pair)
        scope["headers"] = kept
        return found

    def _authorized(self, value: bytes) -> bytes | None:
        scheme, *rest = value.split(None, 1)[:2] or [b""]
        if scheme.lower() not in self._schemes:
            return None
        return rest[0].strip() if rest else b""

    def _from_cookie(self, pair: Header, found: list[bytes]) -> Iterator[Header]:
        """The Cookie header without our cookies, the others byte for byte; nothing if no other is left."""
        crumbs = pair[1].split(b";")
        others = []
        for crumb in crumbs:
            name, _, value = crumb.partition(b"=")
            if name.strip() in self._cookies:
                found.append(_cookie_value(value))
            else:
                others.append(crumb)
        if len(others) == len(crumbs):
            yield pair
        elif rest := b";".join(others).strip():
            yield pair[0], rest

    # --- the query ----------------------------------------------------------------------------------------------------

    def _from_query(self, scope: Scope) -> list[bytes]:
        query = scope.get("query_string", b"")
        if not query or not self._queries:
            return []
        found, others = [], []
        for part in query.split(b"&"):
            name, _, value = part.partition(b"=")
            if _decoded(name) in self._queries:
                found.append(_decoded(value))
            else:
                others.append(part)
        if found:
            scope["query_string"] = b"&".join(others)
        return found

    # --- the path -----------------------------------------------------------------------------------------------------

    def _from_path(self, scope: Scope) -> list[bytes]:
        return [token for where in self._carriers.paths if (token := _path_token(scope, where)) is not None]


def _cookie_value(value: bytes) -> bytes:
    value = value.strip()
    if len(value) > 1 and value[:1] == value[-1:] == b'"':
        value = value[1:-1]
    return unquote_to_bytes(value) if b"%" in value else value


def _decoded(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))


def _path_token(scope: Scope, where: str) -> bytes | None:
    if not where.startswith("/"):
        return _parameter_token(scope, where)
    template = where.split("/")[1:]
    segments = scope["path"].split("/")
    root = scope.get("root_path", "").rstrip("/")
    first = len(root.split("/")) if scope["path"].startswith(root + "/") else 1
    own = segments[first : first + len(template)]
    if len(own) < len(template) or own[:-1] != template[:-1]:
        return None
    place = first + len(template) - 1
    token: str = segments[place]
    _mask_path(scope, place)
    return token.encode("utf-8", "surrogateescape")


def _parameter_token(scope: Scope, name: str) -> bytes | None:
    """A path parameter that a router has read, masked there and wherever the path still shows it."""
    parameters = scope.get("path_params") or {}
    if name not in parameters:
        return None
    token = str(parameters[name])
    scope["path_params"] = {**parameters, name: MASK}
    for place, segment in enumerate(scope["path"].split("/")):
        if segment == token and token:
            _mask_path(scope, place)
    if token:
        scope["root_path"] = scope.get("root_path", "").replace(f"/{token}", f"/{MASK}")
    return token.encode("utf-8", "surrogateescape")


def _mask_path(scope: Scope, place: int) -> None:
    segments = scope["path"].split("/")
    segments[place] = MASK
    raw = scope.get("raw_path")
    scope["path"] = "/".join(segments)
    if raw is None:
        return
    raw_segments = raw.split(b"/")
    if len(raw_segments) == len(segments):
        raw_segments[place] = MASK.encode()
        scope["raw_path"] = b"/".join(raw_segments)
    else:  # an encoded slash: the places do not correspond
        scope["raw_path"] = quote(scope["path"]).encode()
