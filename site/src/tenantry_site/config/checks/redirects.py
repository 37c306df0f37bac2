"""Redirects: no two from one address, and none that lead in a circle. Those that are wrong are taken out."""

from __future__ import annotations

from typing import Any

from tenantry_site.addresses import page_path
from tenantry_site.config.model import Redirect
from tenantry_site.config.quoting import quoted
from tenantry_site.config.tree import Spot
from tenantry_site.config.walk import Walk


def check_redirects(walk: Walk) -> None:
    """Says what is wrong with redirects. Of two from one address the first stays; a circle goes whole."""
    first: dict[str, tuple[dict[str, Any], Spot]] = {}
    dropped: list[dict[str, Any]] = []
    for clean, spot in walk.parts[Redirect]:
        source = _path(clean["source"])
        if source in first:
            message = f"{spot.words()} is a second redirect from {quoted(clean['source'])}: the first one counts"
            walk.notes.say(spot, "CFG073", message, "remove one of the two")
            dropped.append(clean)
        else:
            first[source] = (clean, spot)
    for source in _in_circles({source: _path(clean["destination"]) for source, (clean, _) in first.items()}):
        clean, spot = first[source]
        message = f"the redirect from {quoted(clean['source'])} leads back to itself"
        walk.notes.say(spot, "CFG074", message, "let it lead to a page that exists")
        dropped.append(clean)
    walk.drop("redirects", dropped)


def _path(address: str) -> str:
    """The page that an address of the site means, by which two spellings of it are the same."""
    bare = address.split("#")[0].split("?")[0]
    path = None if "://" in bare else page_path(bare)
    return address if path is None else f"/{path}"


def _in_circles(leads: dict[str, str]) -> list[str]:
    """The addresses from which one comes back to them."""
    done: set[str] = set()
    result: list[str] = []
    for start in leads:
        way: dict[str, int] = {}
        here = start
        while here in leads and here not in done and here not in way:
            way[here] = len(way)
            here = leads[here]
        if here in way:
            result += list(way)[way[here] :]
        done.update(way)
    return result
