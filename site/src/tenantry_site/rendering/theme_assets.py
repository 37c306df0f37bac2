"""Bundles the scripts and styles of a site, names the bundles by content hash, and finds active content in SVG
files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final
from xml.parsers import expat

from tenantry_site.diagnostic import Diagnostic, Severity

FOLDER = "assets"

_STYLES = tuple(
    f"static/{name}.css"
    for name in ("site", "head", "sidebar", "page", "text", "search", "components", "code", "playground")
)
_SCRIPTS = {
    "mode": ("static/mode.js",),
    "site": ("static/site.js", "static/components.js", "static/search.js"),
    "playground": ("static/playground.js",),
}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_LINE_COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_BETWEEN_LINES = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class ThemeAssets:
    """The scripts and styles of a site. ``files``: path -> content. ``styles``: path of the stylesheet. ``scripts``:
    name -> path."""

    files: Mapping[str, bytes]
    styles: str
    scripts: Mapping[str, str]


def theme_assets(colors: str) -> ThemeAssets:
    """The scripts and styles of a site. ``colors``: the CSS made from its configuration."""
    style = (_styles() + colors).encode("utf-8", "replace")
    styles = _named("site", "css", style)
    found = {styles: style}
    scripts = {}
    for name in _SCRIPTS:
        script = _script(name)
        scripts[name] = _named(name, "js", script)
        found[scripts[name]] = script
    return ThemeAssets(found, styles, scripts)


@cache
def _styles() -> str:
    tokens = (files("tenantry_site") / "static" / "bundles" / "tokens.css").read_text(encoding="utf-8")
    return squeeze(tokens) + "".join(squeeze(_text(name)) for name in _STYLES)


@cache
def _script(name: str) -> bytes:
    return "".join(squeeze(_LINE_COMMENT.sub("", _text(file))) for file in _SCRIPTS[name]).encode()


def squeeze(text: str) -> str:
    """Remove comments, blank lines and indentation from a script or stylesheet of ours, whose strings contain no
    ``/*``."""
    return _BETWEEN_LINES.sub("\n", _COMMENT.sub("", text)).strip() + "\n"


def _text(name: str) -> str:
    return (files("tenantry_site") / name).read_text(encoding="utf-8")


def _named(name: str, suffix: str, content: bytes) -> str:
    return f"{FOLDER}/{name}.{sha256(content).hexdigest()[:10]}.{suffix}"


_ACTIVE_ELEMENTS: Final = frozenset(
    {"script", "handler", "iframe", "frame", "object", "embed", "applet", "base", "meta", "link", "form"}
)
"""SVG elements, and HTML elements inside an SVG, that can run code, load documents or navigate without a click."""
_URL_ATTRIBUTES: Final = frozenset({"href", "src", "to", "from", "by", "values", "action", "formaction", "data"})
"""Attributes with an address, or with a value that an animation writes into such an attribute."""
_ADDRESS: Final = re.compile(
    r"(?:^|;)[\x00-\x20]*(?:j\s*a\s*v\s*a\s*s\s*c\s*r\s*i\s*p\s*t\s*:|data:\s*(?:text|application)/)", re.IGNORECASE
)
_ACTIVE_BYTES: Final = re.compile(
    rb"<\s*(?:\w+:)?script|[\s\"'/]on\w+\s*=|javascript\s*:|xml-stylesheet|<!ENTITY|\0", re.IGNORECASE
)
_CHARSET: Final = re.compile(
    rb"\A\s*<\?xml[^>]*encoding\s*=\s*[\"'](?!(?:utf-8|us-ascii|iso-8859-1)[\"'])", re.IGNORECASE
)
"""An XML declaration of an encoding that not all parsers decode alike. A file with it counts as active content."""


class _ActiveContent(Exception):
    """Raised by parser handlers when they find active content."""


def has_active_content(content: bytes) -> bool:
    """Whether an SVG could run code, or navigate without a click, when a browser opens it as a page.

    Malformed XML, which browsers render up to the error, is searched for suspicious bytes.
    """
    if _CHARSET.match(content):
        return True
    try:
        parser = expat.ParserCreate()
        parser.StartElementHandler = _element
        parser.ProcessingInstructionHandler = _instruction
        parser.Parse(content, True)
    except _ActiveContent:
        return True
    except expat.ExpatError:
        return _ACTIVE_BYTES.search(content) is not None
    return False


def active_content_diagnostic(path: str) -> Diagnostic:
    """The diagnostic for an SVG with active content."""
    fix = "Export it without scripts, event handlers and javascript: links, or as a PNG."
    return Diagnostic(Severity.ERROR, "SITE108", "the SVG contains active content and is left out", fix, path=path)


def _element(name: str, attributes: dict[str, str]) -> None:
    if name.rpartition(":")[2].lower() in _ACTIVE_ELEMENTS:
        raise _ActiveContent
    for key, value in attributes.items():
        plain = key.rpartition(":")[2].lower()
        if plain.startswith("on") or (plain in _URL_ATTRIBUTES and _ADDRESS.search(value)):
            raise _ActiveContent


def _instruction(target: str, _data: str) -> None:
    if target.lower().startswith("xml-"):  # an xml-stylesheet may be XSLT, which can produce HTML
        raise _ActiveContent
