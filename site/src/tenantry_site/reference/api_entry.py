"""ApiEntry: the ``api`` of a page's front matter, ``METHOD path-or-address``, as an endpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.page import Page
from tenantry_site.reference import authorization
from tenantry_site.reference.documents import METHODS
from tenantry_site.reference.operation import Endpoint, Parameter, Server
from tenantry_site.reference.param_fields import body, param_fields
from tenantry_site.reference.server_urls import clean, of_addresses

_ENTRY: Final = re.compile(r"(?:(?P<method>[A-Za-z]+)\s+)?(?P<target>\S.*)")
_COLON: Final = re.compile(r"(?<=/):([A-Za-z_][\w-]*)")
_BRACED: Final = re.compile(r"\{([^{}]+)\}")
_KNOWN: Final = frozenset(method.upper() for method in METHODS) - {"X-QUERY"}


@dataclass(frozen=True, slots=True)
class ApiEntry:
    """``method`` in capitals; ``base`` of an absolute address, else None; ``path`` with ``{name}`` for parameters."""

    method: str
    base: str | None
    path: str
    query: tuple[tuple[str, str], ...] = ()
    has_method: bool = True


def parse(text: str) -> ApiEntry | None:
    """The entry; None where it is neither a path nor an http(s) address."""
    match = _ENTRY.fullmatch(" ".join(text.split()))
    if match is None:
        return None
    method, target = match["method"], match["target"]
    if method is None and target.upper() in _KNOWN:
        return None
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    base = None
    if "://" in target or parts.netloc or (parts.scheme and not target.startswith("/")):
        base = clean(f"{parts.scheme}://{parts.netloc}")
        if base is None or "://" not in base:
            return None
    path = _COLON.sub(r"{\1}", parts.path if parts.path.startswith("/") or not parts.path else f"/{parts.path}")
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    return ApiEntry((method or "GET").upper(), base, path, query, method is not None)


def endpoint(entry: ApiEntry, page: Page, config: SiteConfig) -> Endpoint:
    """The endpoint with the parameters that the page lists, and those of its path."""
    listed, fields = param_fields(page.html)
    known = {(one.location, one.name) for one in listed}
    added = [
        Parameter(name, "path", required=True, style="simple", explode=False)
        for name in dict.fromkeys(_BRACED.findall(entry.path))
        if ("path", name) not in known
    ]
    added += [
        Parameter(name, "query", required=True, example=value)
        for name, value in entry.query
        if ("query", name) not in known
    ]
    in_path = set(_BRACED.findall(entry.path))
    kept = tuple(one for one in listed if one.location != "path" or one.name in in_path)
    method = page.front.auth_method.strip().lower()
    chosen = method if method in authorization.METHODS else config.api.auth.method
    servers = (Server(entry.base),) if entry.base is not None else of_addresses(config.api.base_url) or (Server(""),)
    return Endpoint(
        method=entry.method,
        path=entry.path,
        servers=servers,
        parameters=(*kept, *added),
        body=body(fields, page.front.content_type),
        authorization=authorization.configured(chosen, config.api.auth) if chosen else (),
        documented=True,
    )


def problems(
    entry: ApiEntry | None, page: Page, config: SiteConfig, rendered: Endpoint | None
) -> tuple[Diagnostic, ...]:
    """What there is to say about the entry and the parameters of its page."""
    written, source = page.front.api.strip(), page.source
    if entry is None or rendered is None:
        message, fix = f"api: {written!r} is not a path or an http(s) address", 'write "METHOD /path"'
        return (Diagnostic(Severity.WARNING, "API012", message, fix, path=source),)
    found = []
    if not entry.has_method:
        message = f"api: {written!r} has no method, and is shown as GET"
        found.append(Diagnostic(Severity.WARNING, "API011", message, f'write "GET {written}"', path=source))
    elif entry.method not in _KNOWN:
        message = f"api: {entry.method} is not a method of HTTP that is known here"
        found.append(Diagnostic(Severity.WARNING, "API011", message, "write GET, POST, PUT, PATCH…", path=source))
    if entry.base is None and not config.api.base_url:
        message = f"api: {written!r} is a path, and the configuration has no api.baseUrl"
        fix = "set api.baseUrl; until then the host of the docs is called"
        found.append(Diagnostic(Severity.INFO, "API017", message, fix, path=source))
    listed = {one.name for one in param_fields(page.html)[0] if one.location == "path"}
    for name in sorted(listed - set(_BRACED.findall(entry.path))):
        message = f"the path parameter {name!r} is not in {entry.path}"
        fix = f"write {{{name}}} into the path, or say where else it goes: query, header or body"
        found.append(Diagnostic(Severity.WARNING, "API013", message, fix, path=source))
    return tuple(found)
