"""What a reader asks the relay to send, read strictly from the JSON of the playground, and which headers may be sent.

Many servers believe a header that says who the client or the user is, because their own proxy sets it. Nobody knows all
of these names, so only what an API's documents name is sent. A document may name such a header, too: those are refused
all the same.
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
"""The key of the ASGI scope by which a docs app gives the relay the names of headers that its pages declare."""

NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
"""RFC 9110 section 5.1, with a limit."""

ALWAYS: Final = frozenset({"accept", "content-type", "authorization"})
"""What is sent though no document names it."""

DROPPED: Final = frozenset({"cookie", "cookie2", "accept-encoding", "origin", "referer", "date"})
"""Not sent, and not worth an error: a playground may take them from a list of parameters."""

_CONNECTION: Final = (
    "host|content-length|transfer-encoding|connection|keep-alive|te|trailers?|upgrade|expect|via|http2-settings"
    r"|proxy(?:-.*)?|sec-.*|x-http-(?:method|verb|host).*|x-method-override|x-override-.*"
)
"""What frames a message (RFC 9110 section 7.6.1), or makes another request of it."""

_CLIENT: Final = (
    r"(?:.*-)?forwarded(?:-.*)?|(?:x-)?original-.*|x-rewrite-.*|x-(?:backend-)?host|x-forward-.*"
    r"|base-url|request-uri|path-info|script-name"
    r"|(?:.*-)?(?:true)?(?:client|real|remote|connecting|connection|source|src|user|peer|caller|viewer|origin|originating|cluster"
    r"|true|visitor)-?(?:ip|ips|addr|address|host|hostname|port)(?:-.*)?"
    r"|(?:x-)?(?:ip|ip-address|remote|remote-.*|proxyuser-ip|proxy-.*|envoy-.*|arr-.*|azure-.*|appengine-.*)"
    r"|server-.*|request-scheme|cf-.*|cloudfront-.*|cdn-.*|fly-.*|fastly-.*|akamai-.*|x-akamai-.*|incap-.*|x-vercel-.*|wl-proxy-.*"
)
"""Where a request came from, and what it was before a proxy changed it."""

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
"""Who the user is, in the words of the proxies that sign users in and of those that look at client certificates."""

_INTERNAL: Final = r"x-tenantry-.*|metadata|metadata-flavor|x-google-metadata-request|x-aws-ec2-metadata-.*"
"""What opens a relay, or the metadata service of a cloud."""

_NEVER: Final = re.compile(f"{_CONNECTION}|{_CLIENT}|{_USER}|{_INTERNAL}")


def is_never_sent(name: str) -> bool:
    """Whether a header frames the message, or names a client or a user: no document can allow it.

    CGI and WSGI (RFC 3875 section 4.1.18) make one name of ``Remote-User``, ``REMOTE_USER`` and ``remote_user``, and
    some servers take any other sign for a hyphen too.
    """
    plain = re.sub(r"[^0-9a-z]+", "-", name.lower()).strip("-")
    return _NEVER.fullmatch(plain.removeprefix("http-")) is not None or _NEVER.fullmatch(plain) is not None


def sendable(declared: Iterable[str]) -> frozenset[str]:
    """The names in lower case that may be sent: those of ``declared`` that can be, and the few that always may."""
    names = {name.lower() for name in declared if NAME.fullmatch(name) and not is_never_sent(name)}
    return ALWAYS | names


def check_names(names: Collection[str]) -> None:
    """Raises ValueError for a name that an operator lists and the relay never sends."""
    for name in names:
        if not NAME.fullmatch(name) or is_never_sent(name) or name.lower() in DROPPED:
            raise ValueError(f"{name!r} is a header that the relay never sends")


METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY")
"""The methods that are sent, each with a body or without. TRACE echoes headers and CONNECT opens a tunnel."""

MAX_BODY: Final = 64 * 1024
"""Bytes of a body that is sent."""

MAX_HEADERS: Final = 64
MAX_HEADER_BYTES: Final = 16 * 1024
"""All names and values together."""

_KEYS = frozenset({"method", "url", "headers", "body"})
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
"""RFC 9110 section 5.5: no carriage return, no line feed, no NUL."""


@dataclass(frozen=True, slots=True)
class RelayRequest:
    """One request as it will be sent. ``headers`` hold neither Host nor anything of the connection's own."""

    method: str
    url: Url
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


def parse_request(raw: bytes, sendable: frozenset[str] = ALWAYS) -> RelayRequest:
    """``sendable``: the names of the headers that may be sent, in lower case (``sendable``).

    Raises RelayError: ``bad_request``, ``bad_address``, ``method_refused``, ``header_refused``, ``too_large``.
    """
    try:
        fields = json.loads(raw, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError):
        raise RelayError("bad_request", "The body is not JSON, or names a field twice.") from None
    if not isinstance(fields, dict) or not fields.keys() <= _KEYS:
        raise RelayError("bad_request", "The body is not an object of method, url, headers and body alone.")
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
        raise RelayError("bad_request", f"{name} is missing or is not text.")
    return value


def _body(value: object) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise RelayError("bad_request", "body is neither text nor null.")
    try:
        body = value.encode()
    except UnicodeEncodeError:
        raise RelayError("bad_request", "body contains half of a character (a lone surrogate).") from None
    if len(body) > MAX_BODY:
        raise RelayError("too_large", f"The body is larger than {MAX_BODY // 1024} KiB.")
    return body


def _headers(value: object, sendable: frozenset[str]) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise RelayError("bad_request", "headers is not an object of names and texts.")
    if not all(isinstance(text, str) for text in value.values()):
        raise RelayError("bad_request", "The value of a header is not text.")
    if len(value) > MAX_HEADERS or sum(len(name) + len(text) for name, text in value.items()) > MAX_HEADER_BYTES:
        raise RelayError("too_large", f"There are more than {MAX_HEADERS} headers, or more than 16 KiB of them.")
    kept = [header for name, text in value.items() if (header := _header(name, text, sendable)) is not None]
    if len({name.lower() for name, _ in kept}) != len(kept):
        raise RelayError("header_refused", "A header is given twice, in different spellings.")
    return tuple(kept)


def _header(name: str, text: str, sendable: frozenset[str]) -> tuple[str, str] | None:
    if not NAME.fullmatch(name) or not _VALUE.fullmatch(text):
        raise RelayError("header_refused", "The name or the value of a header has a character that no header can hold.")
    plain = name.lower()
    if plain.replace("_", "-") in DROPPED:  # some servers read both as one
        return None
    if is_never_sent(name):
        raise RelayError("header_refused", f"The relay does not send the header {name}: it is not the reader's to set.")
    if plain not in sendable:
        message = (
            f"The relay does not send the header {name}: no OpenAPI document of the docs, and no page, declares it. "
            "Who serves the docs can list it among the relay's headers."
        )
        raise RelayError("header_refused", message)
    return name, text.strip(" \t")
