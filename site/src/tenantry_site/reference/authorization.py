"""Authorization: the ways to sign in to an endpoint, from its page, the configuration and the document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tenantry_site.config.model import ApiAuth
from tenantry_site.reference.json_ref import JsonRef
from tenantry_site.reference.operation import Authorization, Credential, In
from tenantry_site.suggestions import nearest

METHODS: Final = ("bearer", "basic", "key", "none")
"""What a page may say."""

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def configured(method: str, auth: ApiAuth, declared: Iterable[Credential] = ()) -> Authorization:
    """The one way that a page or the configuration says. ``declared``: what the document knows, for a key's place."""
    if method == "none":
        return ()
    prefix = auth.input_prefix or ""
    if method == "basic":
        user, _, password = (auth.name or "").partition(":")
        labels = (user.strip() or "Username", password.strip() or "Password")
        return ((Credential("basic", labels=labels, prefix=prefix),),)
    name = auth.name if auth.name and _HEADER.fullmatch(auth.name) else None
    label = (auth.name or "Token",)
    if method == "bearer":
        return ((Credential("bearer", name=name or "Authorization", labels=label, prefix=prefix),),)
    known = next((one for one in declared if one.kind == "key" and (name is None or one.name == name)), None)
    location: In = known.location if known else "header"
    header = name or (known.name if known else "X-API-Key")
    return ((Credential("key", location, header, (auth.name or header,), prefix),),)


def declared(requirements: JsonRef, schemes: JsonRef) -> Authorization:
    """What a document's ``security`` asks for: a list of alternatives, each with all the schemes that it needs."""
    ways = []
    for item in requirements.items("security"):
        needed = item.as_object()
        if needed:
            found = [_credential(name, needed, schemes) for name in needed.value]
            ways.append(tuple(one for one in found if one is not None))
    return tuple(dict.fromkeys(ways)) if any(ways) else ()


def all_schemes(schemes: JsonRef) -> Iterator[Credential]:
    """Every credential that a document declares."""
    for name in schemes.value if isinstance(schemes.value, dict) else ():
        scheme = schemes.object(name)
        credential = _scheme(scheme) if scheme else None
        if credential is not None:
            yield credential


def _credential(name: str, needed: JsonRef, schemes: JsonRef) -> Credential | None:
    scheme = schemes.object(name)
    if not scheme:
        known = nearest(name, schemes.value if isinstance(schemes.value, dict) else ())
        fix = f"write {known!r}" if known else "add it to components.securitySchemes"
        needed.at(name).report("API014", f"there is no security scheme {name!r}", fix)
        return None
    return _scheme(scheme)


def _scheme(scheme: JsonRef) -> Credential | None:
    kind, about = scheme.text("type").lower(), scheme.text("description")
    if kind == "apikey":
        location = scheme.text("in")
        name = scheme.text("name")
        if location not in ("header", "query", "cookie") or not name:
            scheme.report("API005", "an apiKey needs `in` and `name`", "write in: header and name: the header's name")
            return None
        return Credential("key", location, name, (name,), description=about)  # type: ignore[arg-type]  # one of the three
    if kind == "http" and scheme.text("scheme").lower() == "basic":
        return Credential("basic", labels=("Username", "Password"), description=about)
    if kind in ("http", "oauth2", "openidconnect"):
        return Credential("bearer", description=about or _FLOWS.get(kind, ""))
    if kind != "mutualtls":
        scheme.report("API005", f"{kind[:40]!r} is not a type of a security scheme", "write http, apiKey or oauth2")
    return None


_FLOWS: Final = {
    "oauth2": "An access token of OAuth 2.",
    "openidconnect": "An access token of OpenID Connect.",
}
