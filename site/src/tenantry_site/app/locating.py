"""Locating: which file of the finished site an address means.

All of it is looked up in the set of files that there are, so that no spelling of an address reaches anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Found:
    """``path`` is the file."""

    path: str


@dataclass(frozen=True, slots=True)
class Moved:
    """``location`` is where to go instead: relative to the address, so that it holds under any mount and any proxy."""

    location: str


def locate(address: str, has: Callable[[str], bool]) -> Found | Moved | None:
    """``address`` is what follows the site's root, without percent signs: ``guides/start``; ``has`` knows the files.

    ``guides/start`` is the page, ``guides/start.html`` too. ``guides/start/`` leads to it, and a folder's ``index`` is
    at the folder's address with the slash, where its relative links hold.
    """
    if "//" in address:
        return None
    if not address or address.endswith("/"):
        bare = address.rstrip("/")
        if has(f"{address}index.html"):
            return Found(f"{address}index.html")
        return Moved(relative(address, bare)) if bare and has(f"{bare}.html") else None
    if has(address):
        return Found(address)
    if has(f"{address}.html"):
        return Found(f"{address}.html")
    if has(f"{address}/index.html"):
        return Moved(relative(address, f"{address}/"))
    return None


def relative(address: str, target: str) -> str:
    """The address of ``target`` (both from the site's root) as seen from ``address``; never one of another host."""
    return (to_root(address) or "./") + quote(target)


def to_root(address: str) -> str:
    """What leads from an address to the site's root: ``../`` for each folder, or nothing."""
    return "../" * address.count("/")


def as_location(text: str) -> str:
    """An address that an author wrote, fit for a header: printable ASCII."""
    return quote(text, safe="/@:+,;=!$&'()*~?#%[]")
