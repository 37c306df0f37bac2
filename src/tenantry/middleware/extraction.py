"""Extraction: removes the token of a request from its scope. A differential test proves the fast extractor equal to
ReferenceExtractor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import Final
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
    may_hold_token,
)
from tenantry.middleware.carriers import Carriers, CustomCarriers
from tenantry.middleware.origins import OriginCheck
from tenantry.tokens import TOKEN_LENGTH

Header = tuple[bytes, bytes]

Extract = Callable[[Scope], bytes | None]
"""Removes the token from an ASGI scope and returns it, or None. Raises AmbiguousToken, or OriginNotAllowed if only
values sent by browsers contain the token and the origin is foreign."""


def create_extractor(carriers: Carriers, origins: OriginCheck | None = None) -> Extract:
    """The fastest extractor for these carriers."""
    reference = ReferenceExtractor(carriers, origins).extract
    return reference if carriers.paths or carriers.custom else _fast_extractor(carriers, reference, origins)


# --- the reference ----------------------------------------------------------------------------------------------------


class ReferenceExtractor:
    """Reads all carriers and removes all tokens. An empty value is a bad token: the sender made a mistake."""

    __slots__ = (
        "_authorization", "_carriers", "_clean", "_cookies", "_custom", "_headers", "_origins", "_queries", "_schemes",
    )  # fmt: skip

    def __init__(self, carriers: Carriers, origins: OriginCheck | None = None) -> None:
        names = {name.lower().encode() for name in carriers.headers}
        self._authorization = b"authorization" in names
        self._headers = frozenset(names - {b"authorization"})
        self._schemes = frozenset(scheme.lower().encode() for scheme in carriers.schemes)
        self._cookies = frozenset(name.encode() for name in carriers.cookies)
        self._queries = frozenset(name.encode() for name in carriers.queries)
        self._custom = CustomCarriers(carriers.custom)
        self._carriers = carriers
        self._clean = address_cleaner(carriers.queries)
        self._origins = origins

    def extract(self, scope: Scope) -> bytes | None:
        """Remove and return the token, or None. Raises AmbiguousToken or OriginNotAllowed after removing it."""
        path, by_browser = scope["path"], list[bytes]()
        in_headers = self._from_headers(scope, by_browser)
        in_query = self._from_query(scope)
        in_address = [
            *in_query,
            *(token for carrier in self._carriers.paths if (token := _path_token(scope, carrier)) is not None),
        ]
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

    def _from_headers(self, scope: Scope, in_cookies: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        rest: list[Header] = []
        for pair in scope["headers"]:
            name, value = pair
            if name in self._headers:
                found.append(value.strip())
            elif name == b"authorization" and self._authorization:
                token = self._authorized(value)
                rest.append(pair) if token is None else found.append(token)
            elif name == b"cookie" and self._cookies:
                rest += self._from_cookie(pair, in_cookies)
            elif name in ADDRESS_HEADERS:
                rest.append((name, self._clean(value)))
            else:
                rest.append(pair)
        scope["headers"] = rest
        return found

    def _authorized(self, value: bytes) -> bytes | None:
        scheme, *credentials = value.split(None, 1)[:2] or [b""]
        if scheme.lower() not in self._schemes:
            return None
        return credentials[0].strip() if credentials else b""

    def _from_cookie(self, pair: Header, found: list[bytes]) -> Iterator[Header]:
        cookies = pair[1].split(b";")
        others = []
        for cookie in cookies:
            name, _, value = cookie.partition(b"=")
            if name.strip() in self._cookies:
                value = value.strip()
                if len(value) > 1 and value[:1] == value[-1:] == b'"':
                    value = value[1:-1]
                found.append(unquote_to_bytes(value) if b"%" in value else value)
            else:
                others.append(cookie)
        if len(others) == len(cookies):
            yield pair
        elif rest := b";".join(others).strip():
            yield pair[0], rest

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


def _decoded(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))


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
    # All positions at once: a hostile path may have thousands.
    segments = [MASK if index in positions else each for index, each in enumerate(scope["path"].split("/"))]
    scope["path"] = "/".join(segments)
    raw = scope.get("raw_path")
    if raw is not None:
        scope["raw_path"] = _masked_raw_path(raw, segments, positions)


def _masked_raw_path(raw: bytes, segments: list[str], positions: Set[int]) -> bytes:
    raw_segments, end = raw.partition(b"?")[0].split(b"/"), 0
    for index, segment in enumerate(raw_segments):
        # A raw segment with encoded slashes decodes to several. The slashes stay: inner apps may refuse them.
        start, end = end, end + 1 + unquote_to_bytes(segment).count(b"/")
        if not positions.isdisjoint(range(start, end)):
            raw_segments[index] = quote("/".join(segments[start:end]), safe="").encode()
    # They differ where a server prepends root_path to only one of them.
    return b"/".join(raw_segments) if end == len(segments) else quote("/".join(segments)).encode()


# --- the fast path ----------------------------------------------------------------------------------------------------

_USE_REFERENCE: Final = (b"", None)
"""Leave the request to the reference; no token has this length."""

Reader = Callable[[bytes], tuple[bytes, bytes | None] | None]
"""Header value -> the token and the rest of a Cookie header (None for other headers); None without a token; or
_USE_REFERENCE."""


def _fast_extractor(carriers: Carriers, reference: Extract, origins: OriginCheck | None) -> Extract:
    readers = _readers(carriers)
    in_query = _query_test(carriers)
    require_origin: Callable[[Scope], None] = (lambda _: None) if origins is None else origins.require

    # ``find`` is faster than ``in``, which first tries its argument as a number.
    def extract_fast(scope: Scope) -> bytes | None:
        headers = scope["headers"]
        if type(headers) is not list:  # ASGI promises no more than an iterable
            headers = scope["headers"] = list(headers)
        token = source = None
        rest: bytes | None = None
        for pair in headers:
            if pair[0] in readers:
                read = readers[pair[0]]
                # Most browser requests have a Referer, and few are long enough for a token.
                skip = read is _address and len(pair[1]) < TOKEN_LENGTH
                found = None if skip else (pair[1], None) if read is None else read(pair[1])
                if found is not None:
                    if source is not None:
                        return reference(scope)
                    token, rest = found
                    source = pair
        if (token is not None and len(token) != TOKEN_LENGTH) or (
            (query := scope.get("query_string")) and in_query(query)
        ):
            return reference(scope)
        if source is not None:
            # A copy: the server may share the list.
            scope["headers"] = headers = headers.copy()
            if rest is None:
                headers.remove(source)
            else:
                index = headers.index(source)
                headers[index : index + 1] = [(source[0], rest)] if rest else []
                require_origin(scope)
        return token

    return extract_fast


def _query_test(carriers: Carriers) -> Callable[[bytes], bool]:
    if not carriers.queries:
        return may_hold_token
    name = carriers.queries[0].encode()
    if len(carriers.queries) > 1 or quote(name) != name.decode():
        return lambda _: True

    def may_hold(query: bytes) -> bool:
        if query.find(name) >= 0 or may_hold_token(query):
            return True
        # The name of a parameter may be percent-encoded.
        return query.find(b"%") >= 0 and any(part.partition(b"=")[0].find(b"%") >= 0 for part in query.split(b"&"))

    return may_hold


def _readers(carriers: Carriers) -> dict[bytes, Reader | None]:
    readers: dict[bytes, Reader | None] = dict.fromkeys(ADDRESS_HEADERS, _address)
    readers |= {name.lower().encode(): None for name in carriers.headers}
    if b"authorization" in readers:
        schemes = [scheme.lower().encode() for scheme in carriers.schemes]
        readers[b"authorization"] = _authorization(schemes[0]) if len(schemes) == 1 else _undecided
    if carriers.cookies:
        readers[b"cookie"] = _cookie(carriers.cookies[0].encode()) if len(carriers.cookies) == 1 else _undecided
    return readers


def _undecided(_: bytes) -> tuple[bytes, None]:
    return _USE_REFERENCE


def _address(value: bytes) -> tuple[bytes, None] | None:
    return _USE_REFERENCE if may_hold_token(value) else None


def _authorization(scheme: bytes) -> Reader:
    size = len(scheme)

    def read(value: bytes) -> tuple[bytes, bytes | None] | None:
        if value[:size].lower() != scheme:
            return _USE_REFERENCE if value[:1].isspace() else None
        return (value[size + 1 :], None) if value[size : size + 1] == b" " else _USE_REFERENCE

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
            return _USE_REFERENCE
        return after[1:end], (before + rest[2:] if rest else before[:-2]).strip()

    return read
