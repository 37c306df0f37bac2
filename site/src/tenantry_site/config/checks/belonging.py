"""Belonging: whether pages belong to each anchor and each tab."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tenantry_site.addresses import page_path
from tenantry_site.config.marks import Mark
from tenantry_site.config.model import Redirect
from tenantry_site.config.quoting import quoted
from tenantry_site.config.tree import Spot
from tenantry_site.config.walk import Walk


def check_belonging(walk: Walk, files: Collection[str] | None) -> None:
    """Says which anchors and tabs have no page."""
    pages = [path for path, _ in walk.texts[Mark.PAGE]]
    if pages:
        folders = _folders(pages)
        present = frozenset(files or ())
        led = {page_path(clean["source"]) for clean, _ in walk.parts[Redirect]}
        for text, spot in walk.texts[Mark.PREFIX]:
            path = text.split("#")[0].split("?")[0]
            prefix = page_path(path)
            leads = {path.strip("/"), f"{prefix}.mdx", f"{prefix}.md"} & present or prefix in led
            if prefix not in folders and prefix != "" and not leads and not text.startswith(("#", "//")):
                _tell_empty(prefix, text, spot, folders, walk)


def _tell_empty(prefix: str | None, text: str, spot: Spot, folders: set[str], walk: Walk) -> None:
    near = _begun(prefix, folders) if prefix else None
    fix = f"did you mean {quoted(near)}?" if near else "write the folder of its pages, or an address with https://"
    message = f"{spot.words()} is {quoted(text)}, and no page of the navigation is in that folder"
    walk.notes.say(spot, "CFG072", message, fix)


def _folders(pages: Iterable[str]) -> set[str]:
    """Every beginning of a page's path that ends where a folder's name ends, and the page itself."""
    found: set[str] = set()
    for page in pages:
        here = page
        while here and here not in found:
            found.add(here)
            here = here.rpartition("/")[0]
    return found


def _begun(prefix: str, folders: set[str]) -> str | None:
    """The shortest folder that begins so, where the prefix stops inside a folder's name, or that lies deeper."""
    return min(
        (folder for folder in folders if folder.startswith(prefix) or folder.endswith(f"/{prefix}")),
        key=lambda one: (len(one), one),
        default=None,
    )
