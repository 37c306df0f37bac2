"""Checks that the pages, images and OpenAPI documents in a configuration file exist in the site's folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from posixpath import basename, normpath
from urllib.parse import unquote

from tenantry_site.config.diagnostics import ReadContext
from tenantry_site.config.source import JsonPath, clip, quoted
from tenantry_site.config.string_kinds import StringKind
from tenantry_site.suggestions import PathSuggestions

_SUFFIXES = (".mdx", ".md")
_MAX_SUGGESTIONS = 50
"""Maximum number of missing pages for which a similar path is searched."""
_SHOWN = 10
_FEW_PAGES = 3
_NOT_NAVIGATED = frozenset({"readme", "license", "licence", "changelog", "contributing", "code_of_conduct", "security"})


def check_pages(context: ReadContext, files: Collection[str] | None) -> None:
    """Report pages that are in the navigation twice, are missing from ``files``, or are in ``files`` but not in the
    navigation. ``files`` None: only repeated pages."""
    named = context.strings[StringKind.PAGE]
    first: dict[str, JsonPath] = {}
    for path, location in named:
        if path not in first:
            first[path] = location
        elif context.diagnostics.is_full("CFG063"):  # only counted, so skip making the message
            context.diagnostics.add(location, "CFG063", "")
        else:
            message = f"the page {quoted(path)} is already in the navigation, at {first[path].display()}"
            context.diagnostics.add(
                location, "CFG063", message, "list it once: its previous and next links follow the first position"
            )
    if files is not None:
        _check_page_files(context, first, {_without_suffix(path) for path in files if path.endswith(_SUFFIXES)})


def _without_suffix(path: str) -> str:
    return path.removesuffix(".mdx").removesuffix(".md")


def _check_page_files(context: ReadContext, named: dict[str, JsonPath], present: set[str]) -> None:
    missing = [path for path in named if path not in present]
    if len(missing) == len(named) > _FEW_PAGES:
        message = f"none of the {len(named)} pages of the navigation exists in the folder of this file"
        fix = "put the file into the folder of the pages; their paths start there"
        context.diagnostics.add(named[missing[0]], "CFG068", message, fix)
        return
    suggestions = PathSuggestions(present)
    for index, path in enumerate(missing):
        _report_missing(context, path, named[path], suggestions, suggest=index < _MAX_SUGGESTIONS)
    folded = {path.lower() for path in named}
    _report_unlisted(
        context, sorted(path for path in present if path.lower() not in folded and not _is_not_navigated(path))
    )


def _report_missing(
    context: ReadContext, path: str, location: JsonPath, suggestions: PathSuggestions, *, suggest: bool
) -> None:
    other = suggestions.other_case(path) if suggest else None
    if other is not None:
        message = f"there is no page {quoted(path)}: its file is spelled {quoted(other)}"
        context.diagnostics.add(location, "CFG062", message, f"write {quoted(other)}; most servers are case-sensitive")
        return
    near = suggestions.find(path) if suggest else None
    fix = f"did you mean {quoted(near)}? Or " if near else ""
    context.diagnostics.add(
        location,
        "CFG061",
        f"there is no page {quoted(path)}",
        f"{fix}create {clip(path)}.mdx, or remove the page from the navigation",
    )


def _is_not_navigated(path: str) -> bool:
    """Whether a Markdown file is normally not in the navigation, like a snippet or a README."""
    folders = path.lower().split("/")
    return (
        any(part.startswith(("_", ".")) or part == "snippets" for part in folders)
        or basename(path).lower() in _NOT_NAVIGATED
    )


def _report_unlisted(context: ReadContext, paths: Iterable[str]) -> None:
    unlisted = list(paths)
    if unlisted:
        shown = ", ".join(clip(path, 40) for path in unlisted[:_SHOWN])
        more = f" and {len(unlisted) - _SHOWN} more" if len(unlisted) > _SHOWN else ""
        message = (
            f"pages that are not in the navigation: {shown}{more}; readers can still reach them by search and by links"
        )
        root = JsonPath()
        context.diagnostics.add_at(
            root.offset(), "CFG065", message, "add them to a group to show them in the sidebar", "/navigation"
        )


_FILE_KINDS = {StringKind.IMAGE: "image", StringKind.FAVICON: "favicon", StringKind.OPENAPI: "OpenAPI file"}


def check_files(context: ReadContext, files: Collection[str] | None) -> None:
    """Report images, favicons and OpenAPI files that are missing from ``files``. Web addresses are not checked."""
    if files is None:
        return
    suggestions = PathSuggestions(files)
    for kind, name in _FILE_KINDS.items():
        for text, location in context.strings[kind]:
            path = normpath(unquote(text.split("?")[0].split("#")[0])).lstrip("/")
            if text.startswith("//") or path in suggestions.paths:
                continue
            near = (
                None
                if context.diagnostics.is_full("CFG067")
                else suggestions.other_case(path) or suggestions.find(path)
            )
            fix = f"did you mean {quoted('/' + near)}?" if near else "add the file, or remove the field"
            context.diagnostics.add(location, "CFG067", f"there is no {name} {quoted(path)} in the site's folder", fix)
