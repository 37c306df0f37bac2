"""Files: whether the images and OpenAPI files that the configuration names exist."""

from __future__ import annotations

from collections.abc import Collection
from posixpath import normpath
from urllib.parse import unquote

from tenantry_site.config.checks.listing import Listing
from tenantry_site.config.marks import Mark
from tenantry_site.config.quoting import quoted
from tenantry_site.config.walk import Walk

_KINDS = {Mark.IMAGE: "image", Mark.FAVICON: "favicon", Mark.OPENAPI: "OpenAPI file"}


def check_files(walk: Walk, files: Collection[str] | None) -> None:
    """Says which files are missing. An address of another host is not asked for."""
    if files is None:
        return
    listing = Listing(files)
    for mark, kind in _KINDS.items():
        for text, spot in walk.texts[mark]:
            path = normpath(unquote(text.split("?")[0].split("#")[0])).lstrip("/")
            if text.startswith("//") or path in listing.paths:
                continue
            near = None if walk.notes.full("CFG067") else listing.other_case(path) or listing.near(path)
            fix = f"did you mean {quoted('/' + near)}?" if near else "add the file, or remove the field"
            walk.notes.say(spot, "CFG067", f"there is no {kind} {quoted(path)} in the site's folder", fix)
