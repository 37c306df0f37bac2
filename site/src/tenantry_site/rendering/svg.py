"""SVG: whether a picture only shows something. One with a script is a page of its own to who opens its address."""

from __future__ import annotations

import re
from typing import Final
from xml.parsers import expat

from tenantry_site.diagnostic import Diagnostic, Severity

_ACTIVE_ELEMENTS: Final = frozenset(
    {"script", "handler", "iframe", "frame", "object", "embed", "applet", "base", "meta", "link", "form"}
)
"""Elements of SVG, and of the HTML that an SVG may hold, that run something or lead elsewhere by themselves."""
_URL_ATTRIBUTES: Final = frozenset({"href", "src", "to", "from", "by", "values", "action", "formaction", "data"})
"""Attributes with an address, or with one that an animation writes into another attribute."""
_ADDRESS: Final = re.compile(
    r"(?:^|;)[\x00-\x20]*(?:j\s*a\s*v\s*a\s*s\s*c\s*r\s*i\s*p\s*t\s*:|data:\s*(?:text|application)/)", re.IGNORECASE
)
_ACTIVE_BYTES: Final = re.compile(
    rb"<\s*(?:\w+:)?script|[\s\"'/]on\w+\s*=|javascript\s*:|xml-stylesheet|<!ENTITY|\0", re.IGNORECASE
)
_CHARSET: Final = re.compile(
    rb"\A\s*<\?xml[^>]*encoding\s*=\s*[\"'](?!(?:utf-8|us-ascii|iso-8859-1)[\"'])", re.IGNORECASE
)
"""Whatever two parsers could read differently is not read."""


class _ActiveContent(Exception):
    """Something in the picture would run."""


def has_active_content(content: bytes) -> bool:
    """Whether an SVG holds what a browser would run, or follow by itself, when the picture is opened as a page.

    What is no well-formed XML is checked by its bytes: a browser reads it up to the mistake.
    """
    if _CHARSET.match(content):
        return True
    try:
        _parser().Parse(content, True)
    except _ActiveContent:
        return True
    except expat.ExpatError:
        return _ACTIVE_BYTES.search(content) is not None
    return False


def active_content_diagnostic(path: str) -> Diagnostic:
    """The diagnostic about such a picture."""
    fix = "Export it without scripts, event handlers and links that run, or as a PNG."
    return Diagnostic(Severity.ERROR, "SITE108", "the picture holds a script, and is left out", fix, path=path)


def _parser() -> expat.XMLParserType:
    parser = expat.ParserCreate()
    parser.StartElementHandler = _element
    parser.ProcessingInstructionHandler = _instruction
    return parser


def _element(name: str, attributes: dict[str, str]) -> None:
    if name.rpartition(":")[2].lower() in _ACTIVE_ELEMENTS:
        raise _ActiveContent
    for key, value in attributes.items():
        plain = key.rpartition(":")[2].lower()
        if plain.startswith("on") or (plain in _URL_ATTRIBUTES and _ADDRESS.search(value)):
            raise _ActiveContent


def _instruction(target: str, _data: str) -> None:
    if target.lower().startswith("xml-"):  # a stylesheet: XSLT makes pages
        raise _ActiveContent
