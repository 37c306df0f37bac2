"""Document: a configuration file as a whole, from its text to the model."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tenantry_site.config.checks import check_all
from tenantry_site.config.finishing import FINISH
from tenantry_site.config.keys import tell_together
from tenantry_site.config.model import SiteConfig
from tenantry_site.config.notes import Notes
from tenantry_site.config.quoting import found, quoted
from tenantry_site.config.reading import read
from tenantry_site.config.record import record
from tenantry_site.config.source import Source
from tenantry_site.config.tables import EXTENSIONS, NEWER, NEWER_NAVIGATION
from tenantry_site.config.tree import Object, Spot
from tenantry_site.config.walk import Walk
from tenantry_site.diagnostic import Diagnostic

_COMMON = frozenset({
    "name", "$schema", "api", "background", "banner", "colors", "description", "errors", "icons", "metadata", "openapi",
    "redirects", "variables", "versions",
})  # fmt: skip
"""Keys of the file that other tools' files have as well."""


def loads(
    text: str | bytes, *, files: Collection[str] | None = None
) -> tuple[SiteConfig | None, tuple[Diagnostic, ...]]:
    """The model of a configuration file, and what is to be said about it. Never raises.

    The model is None if nothing could be read: no JSON, no object, another tool's file. Else it is there even when
    there are errors, with defaults where the file was wrong. ``files`` are the paths of all files of the site's folder,
    relative to it and with ``/``; then pages, images and OpenAPI files that do not exist are told.
    """
    notes = Notes(Source(text))
    tree = read(notes)
    if notes.failed():
        return None, notes.done()
    if not isinstance(tree, Object):
        fix = 'write an object: { "name": "…", "navigation": [ … ] }'
        notes.say(Spot(), "CFG020", f"the file holds {found(tree)}, not an object", fix)
        return None, notes.done()
    config = None if _of_another_tool(tree, notes) else _model(tree, notes, files)
    return config, notes.done()


def _of_another_tool(tree: Object, notes: Notes) -> bool:
    """Whether the file has keys, and none that only a docs site's configuration has; then it is said."""
    fields = record(SiteConfig).fields
    foreign = [key for key in tree if key not in fields and key not in EXTENSIONS[SiteConfig] and key not in NEWER]
    ours = [key for key in tree if (key in fields or key in NEWER) and key not in _COMMON]
    if ours or not foreign:
        return False
    listed = ", ".join(quoted(key) for key in foreign[:3])
    message = f"this is no configuration of a docs site, but a file of another tool: it has {listed} and no navigation"
    notes.say(Spot(), "CFG021", message, "name the right file, or write its name and navigation")
    FINISH[SiteConfig]({}, tree, Spot(), Walk(notes))
    return True


def _model(tree: Object, notes: Notes, files: Collection[str] | None) -> SiteConfig:
    walk = Walk(notes)
    newer = _is_newer(tree, walk)
    clean: dict[str, Any] = record(SiteConfig).read(tree, Spot(), walk)
    tell_together(walk, newer_told=newer)
    check_all(walk, files)
    return SiteConfig.model_validate(clean)


def _is_newer(tree: Object, walk: Walk) -> bool:
    """Whether the navigation is of the newer format; then it is said, once, and the navigation is not read."""
    navigation = tree.get("navigation")
    if not isinstance(navigation, Object) or "group" in navigation or not NEWER_NAVIGATION & navigation.keys():
        return False
    message = f"navigation is {found(navigation)}: this file is of the newer format, which is not read here"
    fix = 'write a list of groups: "navigation": [ { "group": "…", "pages": [ "…" ] } ]'
    walk.notes.say(Spot().below(tree, "navigation"), "CFG032", message, fix)
    walk.told = navigation
    return True
