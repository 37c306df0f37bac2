"""Checks of a whole configuration file, after its fields were read one by one.

The checks compare fields with each other (versions, prefixes of anchors and tabs, redirects, duplicates) and with the
files in the site's folder. They also report objects that stricter programs reject as a whole, where this reader skips
only the wrong field.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from posixpath import basename, normpath
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel

from tenantry_site.addresses import page_path
from tenantry_site.config.diagnostics import ReadContext
from tenantry_site.config.model import Anchor, Redirect, Tab, Version
from tenantry_site.config.source import JsonObject, JsonPath, clip, quoted
from tenantry_site.config.string_kinds import StringKind
from tenantry_site.suggestions import PathSuggestions, nearest

_SUFFIXES = (".mdx", ".md")
_MAX_SUGGESTIONS = 50
"""Maximum number of missing pages for which a similar path is searched."""
_SHOWN = 10
_FEW_PAGES = 3
_NOT_NAVIGATED = frozenset(
    {"agents", "changelog", "claude", "code_of_conduct", "contributing", "licence", "license", "readme", "security"}
)


def check_pages(context: ReadContext, files: Collection[str] | None) -> None:
    """Report pages that are in the navigation twice, are missing from ``files``, or are in ``files`` but not in the
    navigation. Without ``files``, report only repeated pages."""
    named = context.strings[StringKind.PAGE]
    first: dict[str, JsonPath] = {}
    for path, location in named:
        if path not in first:
            first[path] = location
        elif context.diagnostics.is_full("CFG063"):  # the finding is only counted, so do not make a message
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


def check_versions(context: ReadContext) -> None:
    """Report versions that are missing from ``versions``, and groups inside a group of another version."""
    listed = dict.fromkeys(name for name, _ in context.strings[StringKind.NEW_VERSION])
    some = list(listed)[:100]
    for name, location in context.strings[StringKind.VERSION]:
        if name not in listed:
            near = nearest(name, some)
            fix = f'did you mean "{near}"?' if near else f'add {quoted(name)} to "versions"'
            message = f"{location.display()} is {quoted(name)}, which is not in `versions`: the entry is never shown"
            context.diagnostics.add(location, "CFG070", message, fix)
        outer = _version_around(location)
        if outer is not None and outer != name:
            message = (
                f"{location.display()} is {quoted(name)} in a group of {quoted(outer)}: the inner group is never shown"
            )
            context.diagnostics.add(location, "CFG071", message, "move the group out, or give both the same version")


def _version_around(location: JsonPath) -> str | None:
    """The version of the nearest enclosing group that has one."""
    above = location.parent
    while above is not None and above.container is not None:
        container = above.container
        if (
            isinstance(container, JsonObject)
            and "pages" in container
            and isinstance(version := container.get("version"), str)
        ):
            return version
        above = above.parent
    return None


def check_prefixes(context: ReadContext, files: Collection[str] | None) -> None:
    """Report anchors and tabs whose ``url`` is a path that matches no page, file or redirect, unless ``openapi``
    generates pages there."""
    pages = [path for path, _ in context.strings[StringKind.PAGE]]
    if pages:
        folders = _folders(pages)
        present = frozenset(files or ())
        redirected = {page_path(clean["source"]) for clean, _ in context.objects[Redirect]}
        parts = (*context.objects[Tab], *context.objects[Anchor])
        generating = {clean.get("url") for clean, _ in parts if clean.get("openapi")}
        for text, location in context.strings[StringKind.PREFIX]:
            if text in generating:
                continue
            path = text.split("#")[0].split("?")[0]
            prefix = page_path(path)
            resolved = {path.strip("/"), f"{prefix}.mdx", f"{prefix}.md"} & present or prefix in redirected
            if prefix not in folders and prefix != "" and not resolved and not text.startswith(("#", "//")):
                _report_empty(prefix, text, location, folders, context)


def _report_empty(prefix: str | None, text: str, location: JsonPath, folders: set[str], context: ReadContext) -> None:
    near = _nearest_folder(prefix, folders) if prefix else None
    fix = f"did you mean {quoted(near)}?" if near else "write the folder of the pages, or an address with https://"
    message = f"{location.display()} is {quoted(text)}, and no page of the navigation is in that folder"
    context.diagnostics.add(location, "CFG072", message, fix)


def _folders(pages: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for page in pages:
        here = page
        while here and here not in found:
            found.add(here)
            here = here.rpartition("/")[0]
    return found


def _nearest_folder(prefix: str, folders: set[str]) -> str | None:
    """The shortest folder path that starts with the prefix, or ends with ``/`` and the prefix."""
    return min(
        (folder for folder in folders if folder.startswith(prefix) or folder.endswith(f"/{prefix}")),
        key=lambda one: (len(one), one),
        default=None,
    )


def check_redirects(context: ReadContext) -> None:
    """Report and drop redirects in a cycle, and redirects whose source an earlier redirect has."""
    first: dict[str, tuple[dict[str, Any], JsonPath]] = {}
    dropped: list[dict[str, Any]] = []
    for clean, location in context.objects[Redirect]:
        source = _path(clean["source"])
        if source in first:
            message = (
                f"{location.display()} is a second redirect from {quoted(clean['source'])}; only the first is used"
            )
            context.diagnostics.add(location, "CFG073", message, "remove one of the two")
            dropped.append(clean)
        else:
            first[source] = (clean, location)
    for source in _in_cycles({source: _path(clean["destination"]) for source, (clean, _) in first.items()}):
        clean, location = first[source]
        message = f"the redirect from {quoted(clean['source'])} leads back to itself"
        context.diagnostics.add(location, "CFG074", message, "redirect to a page that exists")
        dropped.append(clean)
    context.drop("redirects", dropped)


def _path(address: str) -> str:
    """An address within the site, as ``/`` and a normalized path; any other address, unchanged."""
    bare = address.split("#")[0].split("?")[0]
    path = None if "://" in bare else page_path(bare)
    return address if path is None else f"/{path}"


def _in_cycles(leads: dict[str, str]) -> list[str]:
    """The sources of all redirects that are part of a cycle. ``leads``: source -> destination."""
    done: set[str] = set()
    result: list[str] = []
    for start in leads:
        visited: dict[str, int] = {}
        here = start
        while here in leads and here not in done and here not in visited:
            visited[here] = len(visited)
            here = leads[here]
        if here in visited:
            result += list(visited)[visited[here] :]
        done.update(visited)
    return result


_LISTS: dict[str, tuple[type[BaseModel], tuple[str, ...]]] = {
    "versions": (Version, ("name",)),
    "anchors": (Anchor, ("name", "url", "version")),
    "tabs": (Tab, ("name", "url")),
}
"""Field -> the class of its items, and the attributes to compare. Two items are duplicates if all of these are
equal."""


def check_duplicates(context: ReadContext) -> None:
    """Report and drop versions, anchors and tabs that are listed twice."""
    for field, (model, attributes) in _LISTS.items():
        seen: set[tuple[Any, ...]] = set()
        dropped: list[dict[str, Any]] = []
        for clean, location in context.objects[model]:
            same = tuple(clean.get(attribute) for attribute in attributes)
            if same in seen:
                message = f"{location.display()}, {quoted(clean['name'])}, is in the list already, and is left out"
                context.diagnostics.add(location, "CFG075", message, "remove one of the two")
                dropped.append(clean)
            seen.add(same)
        context.drop(field, dropped)


_GROUP = r"/navigation/[0-9]+(?:/pages/[0-9]+)*"
_CLOSED = re.compile(
    rf"(/colors|/colors/anchors|/anchors/[0-9]+/color|/topbarLinks/[0-9]+|/topbarCtaButton|/versions/[0-9]+|/topAnchor"
    rf"|/primaryTab|/api|/api/auth|/footerSocials|{_GROUP})/[^/]+"
)
"""Matches the JSON pointer of a field in an object that other programs reject if any of its keys is unknown. Group 1 of
the match is the object's pointer."""
_EITHER = re.compile(
    "(/logo|/colors/anchors|/anchors/[0-9]+/color|/topbarLinks/[0-9]+|/topbarCtaButton|/versions/[0-9]+|/footerSocials"
    "|/api/baseUrl|/openapi|/navigation/[0-9]+/pages/[0-9]+)/.+"
)
"""Matches a JSON pointer into a field with two allowed types, such as a string or an object. After an error inside the
object, other programs report that the field has neither type. Group 1 of the match is the field's pointer."""

_UNKNOWN = frozenset({"CFG034", "CFG035", "CFG036", "CFG056"})
_UNFIT = frozenset({"CFG041", "CFG043", "CFG045", "CFG046", "CFG066"})
_REASONS_SHOWN = 3


def check_strictness(context: ReadContext) -> None:
    """Report each object that other programs reject as a whole, once, with the errors that cause the rejection."""
    objects: dict[str, tuple[JsonPath, list[str]]] = {}
    reported = {location.pointer() for _, location in context.diagnostics.located}
    for code, location in [*context.diagnostics.located, *(("", location) for location in context.refused_elsewhere)]:
        if (
            code == "CFG043"
            and isinstance(location.container, JsonObject)
            and location.container.get("type") == "github"
        ):
            continue  # if the type is github, other programs do not need this field
        pointer = location.pointer()
        for ancestor in _refused_objects(code, pointer) - reported:
            refused, reasons = objects.setdefault(ancestor, (_ancestor(location, ancestor), []))
            reasons.append(location.display())
    for refused, reasons in objects.values():
        listed = ", ".join(list(dict.fromkeys(reasons))[:_REASONS_SHOWN]) + (
            ", …" if len(set(reasons)) > _REASONS_SHOWN else ""
        )
        message = f"other programs refuse {refused.display()} as a whole because of {listed}"
        context.diagnostics.add(refused, "CFG037", message)


def _refused_objects(code: str, pointer: str) -> set[str]:
    """Pointers of the objects that other programs reject because of the diagnostic ``code`` at ``pointer``. An empty
    ``code`` means a key that only other programs reject."""
    closed = _CLOSED.fullmatch(pointer) if code in _UNKNOWN or not code else None
    either = _EITHER.match(pointer) if code in _UNFIT else None
    return {match[1] for match in (closed, either) if match is not None}


def _ancestor(location: JsonPath, pointer: str) -> JsonPath:
    for _ in range(len(location.keys()) - pointer.count("/")):
        location = location.parent or location
    return location
