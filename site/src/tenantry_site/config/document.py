"""Reads the text of a configuration file into the model."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tenantry_site.config.cross_checks import (
    check_duplicates,
    check_files,
    check_pages,
    check_prefixes,
    check_redirects,
    check_strictness,
    check_versions,
)
from tenantry_site.config.defaults import FILL_DEFAULTS
from tenantry_site.config.diagnostics import ConfigDiagnostics, ReadContext
from tenantry_site.config.json_reader import read_json
from tenantry_site.config.model import SiteConfig
from tenantry_site.config.object_validator import validator_for
from tenantry_site.config.source import JsonObject, JsonPath, SourceText, describe, quoted
from tenantry_site.config.unknown_keys import FOREIGN_KEYS, NEWER_KEYS, NEWER_NAVIGATION_KEYS, report_collected_keys
from tenantry_site.diagnostic import Diagnostic

_COMMON = frozenset({
    "name", "$schema", "api", "background", "banner", "colors", "description", "errors", "icons", "metadata", "openapi",
    "redirects", "variables", "versions",
})  # fmt: skip
"""Keys that do not show whether a file is a site's configuration, because other tools' files have them too."""


def loads(
    text: str | bytes, *, files: Collection[str] | None = None
) -> tuple[SiteConfig | None, tuple[Diagnostic, ...]]:
    """Read the text of a configuration file into the model, with diagnostics.

    Never raises. The model is None if the text is not JSON, not an object, or another tool's file; otherwise invalid
    values are replaced by defaults. ``files``: the relative paths, with ``/``, of all files in the site's folder. If
    given, missing pages, images and OpenAPI files are reported.
    """
    diagnostics = ConfigDiagnostics(SourceText(text))
    tree = read_json(diagnostics)
    if diagnostics.has_error():
        return None, diagnostics.finish()
    if not isinstance(tree, JsonObject):
        fix = 'write an object: { "name": "…", "navigation": [ … ] }'
        diagnostics.add(JsonPath(), "CFG020", f"the file holds {describe(tree)}, not an object", fix)
        return None, diagnostics.finish()
    config = None if _of_another_tool(tree, diagnostics) else _model(tree, diagnostics, files)
    return config, diagnostics.finish()


def _of_another_tool(tree: JsonObject, diagnostics: ConfigDiagnostics) -> bool:
    """Whether the file's keys show that it belongs to another tool. If so, report this."""
    fields = validator_for(SiteConfig).fields
    foreign = [
        key for key in tree if key not in fields and key not in FOREIGN_KEYS[SiteConfig] and key not in NEWER_KEYS
    ]
    ours = [key for key in tree if (key in fields or key in NEWER_KEYS) and key not in _COMMON]
    if ours or not foreign:
        return False
    listed = ", ".join(quoted(key) for key in foreign[:3])
    message = f"this is another tool's file, not the configuration of a docs site: it has {listed} and no navigation"
    diagnostics.add(JsonPath(), "CFG021", message, "give the path of the site's file, or add name and navigation")
    FILL_DEFAULTS[SiteConfig]({}, tree, JsonPath(), ReadContext(diagnostics))
    return True


def _model(tree: JsonObject, diagnostics: ConfigDiagnostics, files: Collection[str] | None) -> SiteConfig:
    context = ReadContext(diagnostics)
    newer = _is_newer(tree, context)
    clean: dict[str, Any] = validator_for(SiteConfig).read(tree, JsonPath(), context)
    report_collected_keys(context, newer_reported=newer)
    check_pages(context, files)
    check_files(context, files)
    check_versions(context)
    check_prefixes(context, files)
    check_redirects(context)
    check_duplicates(context)
    check_strictness(context)
    return SiteConfig.model_validate(clean)


def _is_newer(tree: JsonObject, context: ReadContext) -> bool:
    """Whether the navigation is in the newer format, which is not supported. If so, report this."""
    navigation = tree.get("navigation")
    if not isinstance(navigation, JsonObject) or "group" in navigation or not NEWER_NAVIGATION_KEYS & navigation.keys():
        return False
    message = f"navigation is {describe(navigation)}: this file is in the newer format, which is not supported"
    fix = 'write a list of groups: "navigation": [ { "group": "…", "pages": [ "…" ] } ]'
    context.diagnostics.add(JsonPath().child(tree, "navigation"), "CFG032", message, fix)
    context.already_reported = navigation
    return True
