"""Checks and defaults that need all fields of an object, by model class."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tenantry_site.config.diagnostics import ReadContext
from tenantry_site.config.model import (
    ApiAuth,
    Background,
    CallToAction,
    Colors,
    Group,
    Logo,
    SiteConfig,
    TopAnchor,
    TopbarLink,
)
from tenantry_site.config.source import JsonObject, JsonPath, clip, quoted
from tenantry_site.config.string_kinds import WEB

NAME = "Documentation"
"""The name of a site without ``name``."""

EXPECTED: dict[type, tuple[str, ...]] = {
    SiteConfig: ("favicon", "colors"),
    Colors: ("primary",),
    Background: ("light", "dark"),
    Logo: ("light", "dark"),
}
"""Model class -> its optional fields that should be present: without them there is a warning."""

FillDefaults = Callable[[dict[str, Any], JsonObject, JsonPath, ReadContext], None]


_REQUIRED = {
    "name": 'add "name": "…", the name of the project',
    "navigation": 'add the groups of pages: "navigation": [ { "group": "…", "pages": [ "…" ] } ]',
}
_WANTED = {
    "favicon": 'add "favicon": "/favicon.svg"',
    "colors": 'add "colors": { "primary": "#2f5bd8" }',
}


def _site(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    for key, fix in _REQUIRED.items():
        if key not in value:
            context.diagnostics.add(location.child(value, key), "CFG040", f"there is no {key}, which is required", fix)
    for key, fix in _WANTED.items():
        if key not in value:
            context.diagnostics.add(location.child(value, key), "CFG042", f"there is no {key}", fix)
    if value.get("versions") == []:
        message = "versions is an empty list, which other programs refuse; no menu of versions is shown"
        context.diagnostics.add(
            location.child(value, "versions"), "CFG059", message, "list the versions, or remove this key"
        )
    clean.setdefault("name", NAME)
    clean.setdefault("navigation", [])


def _colors(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    if "primary" not in value:
        fix = 'add "primary": "#2f5bd8", the main colour'
        context.diagnostics.add(location.child(value, "primary"), "CFG043", "colors has no primary", fix)


def _sides(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    missing = [side for side in ("light", "dark") if side not in value]
    if missing:
        at = location if len(missing) == 2 or location.key == "logo" else location.child(value, missing[0])
        message = f"{location.display()} has no {' and no '.join(missing)}"
        fix = "add " + " and ".join(f'"{side}": …' for side in missing)
        context.diagnostics.add(at, "CFG052", message, fix)


def _group(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    for key, default, fix in (("group", "", 'add "group": "…", its heading'), ("pages", (), 'add "pages": [ "…" ]')):
        if key not in value:
            context.diagnostics.add(location.child(value, key), "CFG043", f"{location.display()} has no {key}", fix)
        clean.setdefault(key, default)


def _top_anchor(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    if "name" not in value:
        message = f'{location.display()} has no name, which other programs require; "Documentation" is shown'
        context.diagnostics.add(location.child(value, "name"), "CFG059", message, 'add "name": "…"')


def _link_name(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    if "name" in clean or "url" not in clean or clean.get("type") == "github":
        return
    shown = re.sub(r"^(?:https?://|mailto:|tel:)(?:www\.)?|/$", "", clean["url"])
    clean["name"] = clip(shown) or NAME
    if "name" not in value:
        message = f"{location.display()} has no name; {quoted(clean['name'])} is shown"
        context.diagnostics.add(location.child(value, "name"), "CFG043", message, 'add "name": "…", its text')


def _topbar_link(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    """Collect the fields that other programs reject: an unknown ``type``, and ``name`` with the type ``github``."""
    kind = value.get("type", "link")
    if kind not in ("link", "github"):
        context.refused_elsewhere.append(location.child(value, "type"))
    elif kind == "github" and "name" in value:
        context.refused_elsewhere.append(location.child(value, "name"))
    _link_name(clean, value, location, context)


def _call(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    """Check the ``url`` of a call to action: for the type ``github`` it must be a web address, else it may be a
    path."""
    if clean.get("type") == "github" and "name" in value:
        context.refused_elsewhere.append(location.child(value, "name"))
    url = clean.get("url")
    if clean.get("type") == "github" and url is not None and re.search(WEB, url) is None:
        message = f"{location.display()}.url is {quoted(url)}, not the address of a repository"
        context.diagnostics.add(
            location.child(value, "url"), "CFG048", message, 'write "https://github.com/owner/name"'
        )
        del clean["url"]
    _link_name(clean, value, location, context)


def _auth(clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> None:
    name = clean.get("name")
    if clean.get("method") == "basic" and name is not None and not re.fullmatch(r"[^:]+:[^:]+", name):
        message = f'{location.display()}.name is {quoted(name)}; the method "basic" needs two names, joined by a colon'
        context.diagnostics.add(
            location.child(value, "name"), "CFG058", message, 'write "username:password", for example'
        )
        del clean["name"]


FILL_DEFAULTS: dict[type, FillDefaults] = {
    SiteConfig: _site,
    Colors: _colors,
    Background: _sides,
    Logo: _sides,
    Group: _group,
    TopAnchor: _top_anchor,
    TopbarLink: _topbar_link,
    CallToAction: _call,
    ApiAuth: _auth,
}
