"""Request headers: which of them the relay sends. A list of what may pass, and never what names a client or a user.

Many servers believe a header that says who the client or the user is, because their own proxy sets it. Nobody knows all
of these names, so only what an API's documents name is sent. A document may name such a header, too: those are refused
all the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

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
    r"|(?:x-)?(?:user-?)?(?:roles?|groups?)|(?:x-)?principal(?:-.*)?|(?:x-)?authenticated-.*|x-hasura-(?:user-.*|role)"
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
    r"|tailscale-.*|impersonate-.*|x-consumer-.*|x-credential-.*|x-anonymous-consumer"
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
