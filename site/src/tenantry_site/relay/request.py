"""Parses the JSON request of the playground strictly, and decides which headers the relay may send.

Many servers trust headers that say who the client or user is, because their own proxy sets them. There is no complete
list of such headers, so only headers that the docs declare are sent. Even a declared header is refused if it is known
to identify a client or user.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from tenantry_site.relay.errors import RelayError
from tenantry_site.relay.url import Url, parse_url

SCOPE_KEY: Final = "tenantry_site.request_headers"
"""Key in the ASGI scope for the names of the headers that the docs' pages declare."""

NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
"""A header name (RFC 9110, section 5.1) of at most 128 characters."""

ALWAYS: Final = frozenset({"accept", "content-type", "authorization"})
"""Headers that may be sent even if the docs do not declare them."""

DROPPED: Final = frozenset({"cookie", "cookie2", "accept-encoding", "origin", "referer", "date"})
"""Headers that are dropped without an error, because a playground may send one that a document lists as a parameter."""

_CONNECTION: Final = (
    "host|content-length|transfer-encoding|connection|keep-alive|te|trailers?|upgrade|expect|via|http2-settings"
    r"|proxy(?:-.*)?|sec-.*|x-http-(?:method|verb|host).*|x-method-override|x-override-.*"
)
"""Headers that control the connection or the framing of a message (RFC 9110, section 7.6.1), or override its method."""

_CLIENT: Final = (
    r"(?:.*-)?forwarded(?:-.*)?|(?:x-)?original-.*|x-rewrite-.*|x-(?:backend-)?host|x-forward-.*"
    r"|base-url|request-uri|path-info|script-name"
    r"|(?:.*-)?(?:true)?(?:client|real|remote|connecting|connection|source|src|user|peer|caller|viewer|origin|originating|cluster"
    r"|true|visitor)-?(?:ip|ips|addr|address|host|hostname|port)(?:-.*)?"
    r"|(?:x-)?(?:ip|ip-address|remote|remote-.*|proxyuser-ip|proxy-.*|envoy-.*|arr-.*|azure-.*|appengine-.*)"
    r"|server-.*|request-scheme|cf-.*|cloudfront-.*|cdn-.*|fly-.*|fastly-.*|akamai-.*|x-akamai-.*|incap-.*|x-vercel-.*|wl-proxy-.*"
)
"""Headers in which proxies say where a request came from, and the original host and path."""

_USER: Final = (
    r"(?:.*-)?(?<!api-)user|(?:.*-)?user-?(?:id|uid|info|dn)|(?:x-)?(?:uid|email|mail|from)|(?:x-)?(?:rh-)?identity"
    r"|(?:x-)?(?:user-?)?(?:roles?|groups?)|(?:.*-)?principal(?:-.*)?|(?:x-)?authenticated?-.*|x-hasura-(?:user-.*|role)"
    r"|(?:x-)?(?:impersonate|(?:on-)?behalf-of|(?:act|run)-?as)(?:-.*)?|(?:.*-)?(?:jwt|token)-(?:claims?|payload)(?:-.*)?"
    r"|sm-?(?:user|universalid|serversession).*|iv-(?:user|groups|creds).*|(?:osso|oam)-.*|(?:x-)?gap-auth"
    r"|x-amzn-request-?context|x-amzn-lambda-.*|x-apigateway-.*|l5d-.*|dapr-caller-.*|(?:x-)?spiffe-id"
    r"|(?:.*-)?(?:client|subject|issuer|s|i)-(?:cn|dn|s-dn|i-dn)(?:-.*)?|(?:x-)?(?:dn|certificate)"
    r"|(?:x-)?cert(?:ificate)?-(?:subject|issuer|dn|cn|serial|fingerprint|chain|info)(?:-.*)?"
    r"|(?:.*-)?(?:ssl|tls|mtls|tlsclient|client|peer)-(?:client-.*|cert|certificate|dn|subject|issuer|verify|verified|serial"
    r"|fingerprint|san|cipher|protocol|chain)(?:-.*)?"
    r"|(?:.*-)?(?:clientcert|client-cert|sslclient|client-certificate)(?:-.*)?|x-ssl(?:-.*)?|ssl-.*|x-tls(?:-.*)?|x-ms-token-.*"
    r"|(?:x-)?(?:user|username|user-(?:name|id|email|mail|login|groups?|roles?|dn|principal)|logon-user|login|auth-type)"
    r"|(?:x-)?(?:auth|authenticated|webauth|auth-request|logged-in|impersonate|impersonated|effective|trusted|sso|oidc|saml"
    r"|shib|iap)-(?:user|username|userid|uid|email|mail|name|login|sub|subject|groups?|roles?|preferred-.*|user-.*|extra-.*)"
    r"|(?:.*-)?(?:authenticated-user|client-principal|remote-user)(?:-.*)?"
    r"|x-goog-iap-.*|x-amzn-(?:oidc|mtls)-.*|oidc-.*|shib-.*|x-authentik-.*|x-pomerium-.*|x-vouch-.*|x-authelia-.*"
    r"|tailscale-.*|impersonate-.*|x-(?:kong-|anonymous-)?consumer(?:-.*)?|x-credential-.*|(?:x-)?ms-aspnetcore-.*"
    r"|(?:.*-)?(?:sub|subject|actor(?:-id)?|(?:jwt|token)-assertion|id-token|preferred-username)|(?:x-)?openid-.*"
    r"|(?:.*-)?(?:employee|person|member|staff)(?:-?(?:id|number|name|email))?"
)
"""Headers in which authenticating proxies name the user, or describe a client certificate."""

_INTERNAL: Final = r"x-tenantry-.*|metadata|metadata-flavor|x-google-metadata-request|x-aws-ec2-metadata-.*"
"""Headers that give access to a relay or to a cloud's metadata service."""

_NEVER: Final = re.compile(f"{_CONNECTION}|{_CLIENT}|{_USER}|{_INTERNAL}")


def is_never_sent(name: str) -> bool:
    """Whether the relay never sends a header, even a declared one, because it controls the connection, or identifies a
    client or user.

    All characters other than letters and digits are read as hyphens: CGI and WSGI (RFC 3875, section 4.1.18) do not
    distinguish ``Remote-User`` from ``REMOTE_USER``, and some servers treat other characters in the same way.
    """
    plain = re.sub(r"[^0-9a-z]+", "-", name.lower()).strip("-")
    return _NEVER.fullmatch(plain.removeprefix("http-")) is not None or _NEVER.fullmatch(plain) is not None


def sendable(declared: Iterable[str]) -> frozenset[str]:
    """The names of the headers that may be sent, in lower case: ``ALWAYS``, and those in ``declared`` that are valid
    and not forbidden."""
    names = {name.lower() for name in declared if NAME.fullmatch(name) and not is_never_sent(name)}
    return ALWAYS | names


def check_names(names: Collection[str]) -> None:
    """Raise ValueError if an operator's list of headers has a name that the relay never sends."""
    for name in names:
        if not NAME.fullmatch(name) or is_never_sent(name) or name.lower() in DROPPED:
            raise ValueError(f"{name!r} is a header that the relay never sends: remove it from the relay's headers")


METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY")
"""The methods that may be sent, with or without a body. Not TRACE, which echoes headers, nor CONNECT, which opens a
tunnel."""

MAX_BODY: Final = 64 * 1024
"""Maximum size of a request body in bytes."""

MAX_HEADERS: Final = 64
MAX_HEADER_BYTES: Final = 16 * 1024
"""Maximum total size of header names and values."""

_KEYS = frozenset({"method", "url", "headers", "body"})
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
"""A header value (RFC 9110, section 5.5): no carriage return, line feed or NUL."""


@dataclass(frozen=True, slots=True)
class RelayRequest:
    """A validated request. ``headers``: without ``Host`` and headers that control the connection."""

    method: str
    url: Url
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


def parse_request(raw: bytes, sendable: frozenset[str] = ALWAYS) -> RelayRequest:
    """Parse the JSON that the playground posts. ``sendable``: names of the headers that may be sent, in lower case.

    Raises RelayError: ``bad_request``, ``bad_address``, ``method_refused``, ``header_refused``, ``too_large``.
    """
    try:
        fields = json.loads(raw, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError):
        raise RelayError("bad_request", "The body is not JSON, or names a field twice.") from None
    if not isinstance(fields, dict) or not fields.keys() <= _KEYS:
        raise RelayError("bad_request", "The body is not an object with only method, url, headers and body.")
    method = _text(fields, "method", "GET").upper()
    if method not in METHODS:
        raise RelayError("method_refused", f"The relay sends {', '.join(METHODS)}, and no other method.")
    url = parse_url(_text(fields, "url"))
    return RelayRequest(method, url, _headers(fields.get("headers"), sendable), _body(fields.get("body")))


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _text(fields: dict[str, Any], name: str, default: str | None = None) -> str:
    value = fields.get(name, default)
    if not isinstance(value, str):
        raise RelayError("bad_request", f"{name} is missing or is not a string.")
    return value


def _body(value: object) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise RelayError("bad_request", "body is neither a string nor null.")
    try:
        body = value.encode()
    except UnicodeEncodeError:
        raise RelayError("bad_request", "body contains half of a surrogate pair.") from None
    if len(body) > MAX_BODY:
        raise RelayError("too_large", f"The body is larger than {MAX_BODY // 1024} KiB.")
    return body


def _headers(value: object, sendable: frozenset[str]) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise RelayError("bad_request", "headers is not an object of names and strings.")
    if not all(isinstance(text, str) for text in value.values()):
        raise RelayError("bad_request", "The value of a header is not a string.")
    if len(value) > MAX_HEADERS or sum(len(name) + len(text) for name, text in value.items()) > MAX_HEADER_BYTES:
        raise RelayError("too_large", f"There are more than {MAX_HEADERS} headers, or more than 16 KiB of them.")
    kept = [header for name, text in value.items() if (header := _header(name, text, sendable)) is not None]
    if len({name.lower() for name, _ in kept}) != len(kept):
        raise RelayError("header_refused", "A header is given twice, in different spellings.")
    return tuple(kept)


def _header(name: str, text: str, sendable: frozenset[str]) -> tuple[str, str] | None:
    if not NAME.fullmatch(name) or not _VALUE.fullmatch(text):
        raise RelayError("header_refused", "The name or value of a header contains an invalid character.")
    plain = name.lower()
    if plain.replace("_", "-") in DROPPED:  # some servers do not distinguish "_" from "-"
        return None
    if is_never_sent(name):
        raise RelayError(
            "header_refused", f"The relay does not send the header {name}: readers are not allowed to set it."
        )
    if plain not in sendable:
        message = (
            f"The relay does not send the header {name}: no page or OpenAPI document of the docs declares it. "
            "The docs' operator can add it to the relay's headers."
        )
        raise RelayError("header_refused", message)
    return name, text.strip(" \t")
