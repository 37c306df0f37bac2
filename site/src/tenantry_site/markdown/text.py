"""Text on its way into HTML: escaped, as an id, and the web addresses within it."""

from __future__ import annotations

import re
import unicodedata

_BARE = re.compile(r"https?://[^\s<>\"'`|\\^{}]{4,2000}")
_PUNCTUATION = re.compile(r"[^\w\- ]")
_MAX_SLUG = 200
_TRAILING = ".,:;!?*_~'"


def escape(text: str) -> str:
    """Text for an element or a quoted attribute."""
    if "&" in text:
        text = text.replace("&", "&amp;")
    return text.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("'", "&#39;")


def addresses(text: str) -> list[tuple[int, int]]:
    """The spans of bare web addresses in a text, without the punctuation that ends the sentence around them."""
    found = []
    for each in _BARE.finditer(text):
        start = each.start()
        if start and (text[start - 1].isalnum() or text[start - 1] in "/=@"):
            continue
        address = each[0].rstrip(_TRAILING)
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(_TRAILING)
        if len(address) > len("https://"):
            found.append((start, start + len(address)))
    return found


def slug(text: str) -> str:
    """Lower case, spaces as hyphens, punctuation left out; letters of all scripts stay."""
    lower = text.strip().lower()[:_MAX_SLUG]
    if lower.isascii():
        letters = _PUNCTUATION.sub("", lower)
    else:
        letters = "".join(each for each in lower if each in "-_ " or unicodedata.category(each)[0] in "LNM")
    return "-".join(letters.split(" ")) or "section"
