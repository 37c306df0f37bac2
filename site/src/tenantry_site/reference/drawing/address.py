"""Address: the line that says the method and where the endpoint is."""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

from tenantry_site.reference.operation import Endpoint, Server

_BAR: Final = Markup('<div class="endpoint">{}<span class="endpoint-address">{}{}</span>{}{}</div>')
_METHOD: Final = Markup('<span class="method method-{}">{}</span>')
_BASE: Final = Markup('<span class="endpoint-base">{}</span>')
_SELECT: Final = Markup('<select class="endpoint-bases" data-bases aria-label="Base URL">{}</select>')
_OPTION: Final = Markup('<option value="{}">{}</option>')
_PATH: Final = Markup('<code class="endpoint-path">{}</code>')
_VARIABLE: Final = Markup('<span class="endpoint-variable">{}</span>')
_NAMES: Final = re.compile(r"(\{[^{}]*\})")


def bar(endpoint: Endpoint, *, base: bool, try_id: str = "") -> Markup:
    """Method, base address if ``base``, path. ``try_id`` is the id of the form, to lead to where the page is narrow."""
    link = Markup('<a class="endpoint-try" href="#{}">Try it</a>').format(try_id) if try_id else Markup()
    old = Markup('<span class="field-deprecated">deprecated</span>') if endpoint.deprecated else Markup()
    return _BAR.format(method(endpoint.method), _base(endpoint) if base else "", _path(endpoint.path), old, link)


def method(name: str) -> Markup:
    """The mark of a method, in the colour of what it does."""
    return _METHOD.format(name.lower(), name if name != "WEBHOOK" else "Webhook")


def label(server: Server) -> str:
    """A server as a reader chooses it."""
    words = server.url or "This site"
    return f"{words} ({' '.join(server.description.split())[:60]})" if server.description else words


def _base(endpoint: Endpoint) -> Markup:
    if len(endpoint.servers) > 1:
        options = (_OPTION.format(index, label(server)) for index, server in enumerate(endpoint.servers))
        return _SELECT.format(Markup().join(options))
    return _BASE.format(endpoint.servers[0].url) if endpoint.servers and endpoint.servers[0].url else Markup()


def _path(path: str) -> Markup:
    parts = (_VARIABLE.format(part) if part[:1] == "{" else escape(part) for part in _NAMES.split(path))
    return _PATH.format(Markup().join(parts))
