"""Pages: whether those of the navigation exist, stand in it once, and which are not in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from posixpath import basename

from tenantry_site.config.checks.listing import Listing
from tenantry_site.config.marks import Mark
from tenantry_site.config.quoting import clip, quoted
from tenantry_site.config.tree import Spot
from tenantry_site.config.walk import Walk

_SUFFIXES = (".mdx", ".md")
_NEAR = 50
"""Missing pages for which the nearest is looked for."""
_SHOWN = 10
_FEW = 3
_ASIDE = frozenset({"readme", "license", "licence", "changelog", "contributing", "code_of_conduct", "security"})


def check_pages(walk: Walk, files: Collection[str] | None) -> None:
    """Says what is wrong with the pages that the navigation names."""
    named = walk.texts[Mark.PAGE]
    first: dict[str, Spot] = {}
    for path, spot in named:
        if path not in first:
            first[path] = spot
        elif walk.notes.full("CFG063"):  # only counted: the words would be made for nothing
            walk.notes.say(spot, "CFG063", "")
        else:
            message = f"the page {quoted(path)} stands in the navigation already, at {first[path].words()}"
            walk.notes.say(spot, "CFG063", message, "name it once: previous and next follow the first place")
    if files is not None:
        _check_files(walk, first, {_bare(path) for path in files if path.endswith(_SUFFIXES)})


def _bare(path: str) -> str:
    return path.removesuffix(".mdx").removesuffix(".md")


def _check_files(walk: Walk, named: dict[str, Spot], present: set[str]) -> None:
    missing = [path for path in named if path not in present]
    if len(missing) == len(named) > _FEW:
        message = f"none of the {len(named)} pages of the navigation exists in the folder of this file"
        fix = "put the file into the folder of the pages; their paths start there"
        walk.notes.say(named[missing[0]], "CFG068", message, fix)
        return
    listing = Listing(present)
    for index, path in enumerate(missing):
        _tell_missing(walk, path, named[path], listing, look=index < _NEAR)
    folded = {path.lower() for path in named}
    _tell_unlisted(walk, sorted(path for path in present if path.lower() not in folded and not _is_aside(path)))


def _tell_missing(walk: Walk, path: str, spot: Spot, listing: Listing, *, look: bool) -> None:
    other = listing.other_case(path) if look else None
    if other is not None:
        message = f"there is no page {quoted(path)}: its file is spelled {quoted(other)}"
        walk.notes.say(spot, "CFG062", message, f"write {quoted(other)}; most servers tell capitals apart")
        return
    near = listing.near(path) if look else None
    fix = f"did you mean {quoted(near)}? Or " if near else ""
    walk.notes.say(spot, "CFG061", f"there is no page {quoted(path)}", f"{fix}write {clip(path)}.mdx, or remove it")


def _is_aside(path: str) -> bool:
    """Whether a Markdown file is no page that a reader should come to by the navigation."""
    folders = path.lower().split("/")
    return (
        any(part.startswith(("_", ".")) or part == "snippets" for part in folders) or basename(path).lower() in _ASIDE
    )


def _tell_unlisted(walk: Walk, paths: Iterable[str]) -> None:
    unlisted = list(paths)
    if unlisted:
        shown = ", ".join(clip(path, 40) for path in unlisted[:_SHOWN])
        more = f" and {len(unlisted) - _SHOWN} more" if len(unlisted) > _SHOWN else ""
        message = f"pages that are not in the navigation: {shown}{more}; they can be reached and searched"
        root = Spot()
        walk.notes.at(
            root.offset(), "CFG065", message, "name them in a group, if readers should find them", "/navigation"
        )
