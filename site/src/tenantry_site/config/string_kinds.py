"""The meanings of strings in the configuration file, and the patterns that the reader and the JSON Schemas share.

Each pattern means the same in Python (``re.search``) and in ECMA-262 (JSON Schema). The end of the string is written as
``(?![\\s\\S])``, because Python's ``$`` also matches before a final line break.
"""

from __future__ import annotations

from enum import Enum

_END = r"(?![\s\S])"


def _hidden(scheme: str) -> str:
    """A pattern for a scheme in any case, with control characters between its letters, which browsers ignore."""
    return r"[\u0000-\u001f]*".join(f"[{letter}{letter.upper()}]" for letter in scheme) + r"[\u0000-\u001f]*:"


class StringKind(Enum):
    """The meaning of a string, which selects the checks. The enum value is the kind's name in messages."""

    __hash__ = object.__hash__  # for speed: each string needs a lookup, and Enum's hash is a Python function

    PLAIN = "any text"
    LABEL = "the text to show"
    TITLE = "the text to show, which may be empty"
    LINK = "an address to link to: a path of the site, http, https, mailto or tel"
    PREFIX = "the beginning of pages' paths, or an address to link to"
    ACCOUNT = "the address of an account"
    BASE = "the absolute address of an API"
    IMAGE = "the path of an image, or its http address"
    FAVICON = "the path of the favicon"
    OPENAPI = "the path of an OpenAPI file, or its http address"
    SOURCE = "an old path of the site"
    COLOR = "a hexadecimal colour"
    ICON = "the name of an icon"
    PAGE = "the path of a page"
    VERSION = "the name of a version"
    NEW_VERSION = "a name for the version"
    PAIR = "a parameter's name, or the names for user and password, joined by a colon"


FILLED = r"[^\s]"
CONTROL = r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]"
UNSAFE = (
    r"^[\u0000-\u0020\s]*(?:" + "|".join(_hidden(s) for s in ("javascript", "vbscript", "data", "livescript")) + ")"
)
UNSAFE_IMAGE = r"^[\u0000-\u0020\s]*(?:" + "|".join(_hidden(s) for s in ("javascript", "vbscript", "livescript")) + ")"
BARE_HOST = (
    r"^\s*(?:localhost|www\.[A-Za-z0-9_.-]+|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?:[A-Za-z0-9_-]+\.)+(?:com|org|net|io|dev|app|ai|co|gg|xyz|edu"
    r"|gov|cloud|tech))(?::[0-9]+)?(?:[/?#][^\s]*)?\s*" + _END
)
"""A host name, with or without a path, that lacks its ``https://``."""
MAIL = r"^\s*[^\s@/:?#\\]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\s*" + _END
"""An email address that lacks its ``mailto:``."""
SCHEME = r"^\s*[a-zA-Z][a-zA-Z0-9+.-]*:"
FOLLOWED = r"^\s*(?:[hH][tT][tT][pP][sS]?://[^\s/]|[mM][aA][iI][lL][tT][oO]:|[tT][eE][lL]:)"
WEB = r"^\s*[hH][tT][tT][pP][sS]?://[^\s/]"
HEX = r"^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})" + _END
STYLED_ICON = r"^\s*(?:fa[a-z]?|fa-[a-z]+)[ -]+fa-|^\s*fa-"

Patterns = tuple[tuple[str, bool, bool], ...]
"""Rules of three parts: a pattern; True if a string must match it, False if it must not; True if breaking the rule is
an error, False if it is a warning."""

_TEXT: Patterns = ((CONTROL, False, False),)
_SHOWN: Patterns = (*_TEXT, (FILLED, True, False))
_LINK: Patterns = (
    *_SHOWN,
    (UNSAFE, False, True),
    (BARE_HOST, False, False),
    (MAIL, False, False),
    (f"{FOLLOWED}|^(?!{SCHEME[1:]})", True, False),
)
_IMAGE: Patterns = (*_SHOWN, (UNSAFE_IMAGE, False, True), (f"{WEB}|^(?!{SCHEME[1:]})", True, False))

PATTERNS: dict[StringKind, Patterns] = {
    StringKind.PLAIN: _TEXT,
    StringKind.TITLE: _TEXT,
    StringKind.PAIR: _TEXT,
    StringKind.LABEL: _SHOWN,
    StringKind.VERSION: _SHOWN,
    StringKind.NEW_VERSION: _SHOWN,
    StringKind.LINK: _LINK,
    StringKind.PREFIX: _LINK,
    StringKind.ACCOUNT: (*_SHOWN, (UNSAFE, False, True), (FOLLOWED, True, False)),
    StringKind.BASE: (*_SHOWN, (UNSAFE, False, True), (WEB, True, False)),
    StringKind.IMAGE: _IMAGE,
    StringKind.FAVICON: _IMAGE,
    StringKind.OPENAPI: (*_SHOWN, (UNSAFE, False, True), (f"{WEB}|^(?!{SCHEME[1:]})", True, False)),
    StringKind.SOURCE: (*_SHOWN, (UNSAFE, False, True)),
    StringKind.COLOR: (*_TEXT, (HEX, True, False)),
    StringKind.ICON: (*_SHOWN, (STYLED_ICON, False, False)),
    StringKind.PAGE: (*_SHOWN, (SCHEME, False, False), (r"\\", False, False)),
}
"""The rules for each kind of string. The lenient JSON Schema has only the rules for errors, the strict one has all."""
