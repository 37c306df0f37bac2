from __future__ import annotations

from collections.abc import Set
from urllib.parse import quote, unquote_to_bytes

from tenantry.errors import AmbiguousToken
from tenantry.middleware.addresses import (
    ADDRESS_HEADERS,
    ADDRESS_KEY,
    MASK,
    OriginalAddress,
    Scope,
    address_cleaner,
    mask_in_query,
)
from tenantry.middleware.cache_headers import Header
from tenantry.middleware.carriers import Carriers, CustomCarriers
from tenantry.middleware.origins import OriginCheck


class Extractor:
    """Takes the token out of a request. An empty value in a carrier counts as a bad token. If the token came only in
    values that browsers send automatically, ``origins`` checks the origin of the request."""

    __slots__ = ("_carriers", "_clean", "_cookies", "_custom", "_names", "_origins", "_queries", "_read", "_schemes")

    def __init__(self, carriers: Carriers, origins: OriginCheck | None = None) -> None:
        self._names = frozenset(name.lower().encode() for name in carriers.headers)
        self._schemes = frozenset(scheme.lower().encode() for scheme in carriers.schemes)
        self._cookies = frozenset(name.encode() for name in carriers.cookies)
        self._queries = frozenset(name.encode() for name in carriers.queries)
        self._read = self._names | ADDRESS_HEADERS | ({b"cookie"} if carriers.cookies else frozenset())
        self._custom = CustomCarriers(carriers.custom)
        self._carriers = carriers
        self._clean = address_cleaner(carriers.queries)
        self._origins = origins

    def extract(self, scope: Scope) -> bytes | None:
        """Return the request's token, or None. Remove every token from the scope, even if AmbiguousToken or
        OriginNotAllowed is raised."""
        path = scope["path"]
        in_headers: list[bytes] = []
        by_browser: list[bytes] = []
        self._from_headers(scope, in_headers, by_browser)
        in_query = self._from_query(scope) if self._queries and scope.get("query_string") else []
        in_address = in_query + self._from_path(scope) if self._carriers.paths else in_query
        if self._carriers.custom:
            self._custom.extract(scope, in_headers, by_browser)
        found = in_headers + by_browser + in_address
        if not found:
            return None
        token = found[0]
        if scope.get("query_string"):
            scope["query_string"] = mask_in_query(scope["query_string"], token)
        if len(set(found)) > 1:
            raise AmbiguousToken(AmbiguousToken.MESSAGE)
        if in_address:
            scope[ADDRESS_KEY] = OriginalAddress(token, path, self._carriers.queries[0] if in_query else None)
        elif not in_headers and self._origins is not None:
            self._origins.require(scope)
        return token

    def _from_headers(self, scope: Scope, found: list[bytes], in_cookies: list[bytes]) -> None:
        rest: list[Header] = []
        read = self._read
        for pair in scope["headers"]:
            name, value = pair
            if name not in read:
                rest.append(pair)
            elif name in self._names:
                token = self._authorized(value) if name == b"authorization" else value.strip()
                rest.append(pair) if token is None else found.append(token)
            elif name == b"cookie":
                left = self._from_cookie(value, in_cookies)
                if left is not None:
                    rest.append((name, left))
            else:
                rest.append((name, self._clean(value)))
        scope["headers"] = rest

    def _authorized(self, value: bytes) -> bytes | None:
        scheme, *credentials = value.split(None, 1)[:2] or [b""]
        if scheme.lower() not in self._schemes:
            return None
        return credentials[0].strip() if credentials else b""

    def _from_cookie(self, line: bytes, found: list[bytes]) -> bytes | None:
        others, before = [], len(found)
        for cookie in line.split(b";"):
            name, _, value = cookie.partition(b"=")
            if name.strip() not in self._cookies:
                others.append(cookie)
                continue
            value = value.strip()
            if len(value) > 1 and value[:1] == value[-1:] == b'"':
                value = value[1:-1]
            found.append(unquote_to_bytes(value) if b"%" in value else value)
        return line if len(found) == before else b";".join(others).strip() or None

    def _from_path(self, scope: Scope) -> list[bytes]:
        return [token for carrier in self._carriers.paths if (token := _path_token(scope, carrier)) is not None]

    def _from_query(self, scope: Scope) -> list[bytes]:
        found, others = [], []
        for part in scope["query_string"].split(b"&"):
            name, _, value = part.partition(b"=")
            if _decoded(name) in self._queries:
                found.append(_decoded(value))
            else:
                others.append(part)
        if found:
            scope["query_string"] = b"&".join(others)
        return found


def _decoded(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" ")) if b"%" in text or b"+" in text else text


def _path_token(scope: Scope, carrier: str) -> bytes | None:
    if not carrier.startswith("/"):
        return _parameter_token(scope, carrier)
    template = carrier.split("/")[1:]
    segments = scope["path"].split("/")
    root = scope.get("root_path", "").rstrip("/")
    first = len(root.split("/")) if scope["path"].startswith(root + "/") else 1
    own = segments[first : first + len(template)]
    if len(own) < len(template) or own[:-1] != template[:-1]:
        return None
    position = first + len(template) - 1
    token: str = segments[position]
    _mask_path(scope, {position})
    return token.encode("utf-8", "surrogateescape")


def _parameter_token(scope: Scope, name: str) -> bytes | None:
    parameters = scope.get("path_params") or {}
    if name not in parameters:
        return None
    token = str(parameters[name])
    scope["path_params"] = {**parameters, name: MASK}
    if token:
        shown = {position for position, segment in enumerate(scope["path"].split("/")) if segment == token}
        if shown:
            _mask_path(scope, shown)
        scope["root_path"] = scope.get("root_path", "").replace(f"/{token}", f"/{MASK}")
    return token.encode("utf-8", "surrogateescape")


def _mask_path(scope: Scope, positions: Set[int]) -> None:
    # Mask all positions in one pass, because a hostile path may repeat the token thousands of times.
    segments = [MASK if index in positions else each for index, each in enumerate(scope["path"].split("/"))]
    scope["path"] = "/".join(segments)
    raw = scope.get("raw_path")
    if raw is not None:
        scope["raw_path"] = _masked_raw_path(raw, segments, positions)


def _masked_raw_path(raw: bytes, segments: list[str], positions: Set[int]) -> bytes:
    raw_segments, end = raw.partition(b"?")[0].split(b"/"), 0
    for index, segment in enumerate(raw_segments):
        # A raw segment with encoded slashes (%2F) decodes to several segments. Encode the slashes again, so that an
        # inner app can still refuse them.
        start, end = end, end + 1 + unquote_to_bytes(segment).count(b"/")
        if not positions.isdisjoint(range(start, end)):
            raw_segments[index] = quote("/".join(segments[start:end]), safe="").encode()
    # If the numbers of segments differ, derive the raw path from the path, because some servers prepend root_path to
    # only one of the two.
    return b"/".join(raw_segments) if end == len(segments) else quote("/".join(segments)).encode()
