"""ThemeAssets: the scripts and styles of a site, out of the package, put together and named for their content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

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
    """``files`` by their paths; ``styles`` is the path of the stylesheet, ``scripts`` those of the scripts by name."""

    files: Mapping[str, bytes]
    styles: str
    scripts: Mapping[str, str]


def theme_assets(colors: str) -> ThemeAssets:
    """The files of a site; ``colors`` is what its configuration adds to the stylesheet."""
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
    """The text without ``/* */`` and without the blanks at the ends of lines. Ours have neither within a string."""
    return _BETWEEN_LINES.sub("\n", _COMMENT.sub("", text)).strip() + "\n"


def _text(name: str) -> str:
    return (files("tenantry_site") / name).read_text(encoding="utf-8")


def _named(name: str, suffix: str, content: bytes) -> str:
    return f"{FOLDER}/{name}.{sha256(content).hexdigest()[:10]}.{suffix}"
