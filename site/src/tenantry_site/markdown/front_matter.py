"""Parses front matter: the metadata between two lines of three dashes at the top of a page.

Most front matter is lines of ``key: value``, which a fast path parses. Other front matter is read from the events of a
YAML parser, not with a YAML loader, so that all values stay strings and deep nesting cannot overflow the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.markdown.page_context import PageDiagnostics
from tenantry_site.page import FrontMatter

Fields = dict[str, "str | list[str] | None"]
"""Key -> its string or list of strings; None for a value of another type."""

LONGEST = 64 * 1024
"""Maximum number of characters of front matter that are parsed as YAML."""

_BLOCK = re.compile(r"\A\ufeff?\s*?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_OPENING = re.compile(r"\A\ufeff?\s*?---[ \t]*\r?\n")
_PLAIN = re.compile(
    r"""([A-Za-z][\w:.-]*):[ \t]*
    (?: "([^"\\]*)" | '([^']*)' | ([A-Za-z/] (?: [^:\#\n\r] | :(?=\S) | (?<=\S)\# )*?) )?
    \Z""",
    re.VERBOSE,
)
"""Matches ``key: value`` with a plain, quoted or empty value. Callers remove trailing blanks first, because matching
them here would take quadratic time."""
_LOOSE = re.compile(r"([A-Za-z][\w:.-]*)[ \t]*:[ \t]*(.*)\Z")
"""Matches any ``key: value`` line, for front matter that is not valid YAML. Callers remove trailing blanks first."""
_TEXTS = {
    "title": "title", "sidebarTitle": "sidebar_title", "description": "description", "icon": "icon",
    "iconType": "icon_type", "api": "api", "openapi": "openapi", "authMethod": "auth_method",
    "playground": "playground", "contentType": "content_type", "mode": "mode", "url": "url", "version": "version",
}  # fmt: skip
_LISTS = {"tags": "tags", "keywords": "keywords"}
_FLAGS = {"noindex": "noindex", "hideApiMarker": "hide_api_marker"}
_KNOWN = {**_TEXTS, **_LISTS, **_FLAGS}
_BY_SPELLING = {re.sub(r"[-_]", "", key).lower(): key for key in _KNOWN}
_META = frozenset({"robots", "canonical", "author", "application-name", "theme-color", "google-site-verification"})
_TRUE = frozenset({"true", "yes", "on"})


def front_matter(source: str, text: str) -> tuple[FrontMatter, str, tuple[Diagnostic, ...]]:
    """Split a page into metadata and the text below it, with diagnostics.

    ``source``: the page's file, for the diagnostics. Never raises; front matter that is not YAML is read line by line.
    """
    found = _BLOCK.match(text) if _OPENING.match(text) else None
    if found is None:
        return FrontMatter(), text.removeprefix("\ufeff"), ()
    diagnostics = PageDiagnostics(source)
    fields = _parse_simple(found[1])
    if fields is None:
        fields = _parse_yaml(found[1], diagnostics)
    if not fields and found[1].strip():  # prose between two horizontal rules is not front matter
        return FrontMatter(), text.removeprefix("\ufeff"), ()
    return _to_front_matter(fields, diagnostics), text[found.end() :], diagnostics.all()


def _parse_simple(text: str) -> Fields | None:
    """The fields, if each line is a key with a plain or quoted string; else None."""
    fields: Fields = {}
    for line in text.splitlines():
        if not line or line.isspace():
            continue
        found = _PLAIN.match(line.rstrip(" \t"))
        if found is None:
            return None
        value = found[found.lastindex] if found.lastindex and found.lastindex > 1 else ""
        fields[found[1]] = "" if found[4] == "null" else value
    return fields


def _parse_yaml(text: str, diagnostics: PageDiagnostics) -> Fields:
    import yaml

    loader: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return _YamlEvents().read(yaml.parse(text[:LONGEST], Loader=loader))
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
        diagnostics.add(
            Severity.WARNING,
            "PAGE001",
            f"the front matter is not valid YAML: {reason}",
            "put quotes around a value that contains a colon, a quote or a bracket",
            line=mark.line + 2 if mark else 1,
        )
    fields: Fields = {}
    for line in text[:LONGEST].splitlines():
        if (found := _LOOSE.match(line.rstrip(" \t"))) is not None:
            value = found[2]
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            fields.setdefault(found[1], value[1:-1] if quoted else value)
    return fields


class _YamlEvents:
    def __init__(self) -> None:
        self.fields: Fields = {}
        self.depth = 0
        self.key: str | None = None
        self.items: list[str] = []

    def read(self, events: Iterable[Any]) -> Fields:
        """The fields of the mapping. Raises ``ValueError`` for a document that is not a mapping."""
        for event in events:
            name = type(event).__name__
            if name in ("MappingStartEvent", "SequenceStartEvent"):
                self._start(mapping=name == "MappingStartEvent")
            elif name in ("MappingEndEvent", "SequenceEndEvent"):
                self.depth -= 1
                self.key = None if self.depth == 1 else self.key
            elif name == "ScalarEvent":
                self._scalar(event)
            elif name == "AliasEvent" and self.depth == 1:
                self.key = None
        return self.fields

    def _start(self, *, mapping: bool) -> None:
        self.depth += 1
        if self.depth == 1 and not mapping:
            raise ValueError("it is not a list of keys and values")
        if self.depth == 2:
            self.items = []
            if self.key is not None:
                self.fields[self.key] = None if mapping else self.items

    def _scalar(self, event: Any) -> None:
        if self.depth == 0:
            raise ValueError("it is not a list of keys and values")
        if self.depth == 2:
            self.items.append(event.value)
        elif self.depth == 1 and self.key is None:
            self.key = str(event.value)
        elif self.depth == 1 and self.key is not None:
            empty = event.style is None and event.value in ("", "~", "null")
            self.fields[self.key] = "" if empty else event.value
            self.key = None


def _to_front_matter(fields: Fields, diagnostics: PageDiagnostics) -> FrontMatter:
    values: dict[str, Any] = {}
    meta: dict[str, str] = {}
    for written, value in fields.items():
        key = written if written in _KNOWN else _known_key(written, fields, diagnostics)
        if value is None or (isinstance(value, list) and key not in _LISTS):
            if key in _KNOWN:
                message = f"{written} in the front matter must be a string"
                diagnostics.add(Severity.WARNING, "PAGE003", message, f'write it as {key}: "…"', line=1)
        elif key in _TEXTS:
            values[_TEXTS[key]] = _encodable(value)
        elif key in _LISTS:
            parts = value.split(",") if isinstance(value, str) else value
            values[_LISTS[key]] = tuple(part for each in parts if (part := _encodable(each).strip()))
        elif key in _FLAGS:
            values[_FLAGS[key]] = str(value).strip().lower() in _TRUE
        elif ":" in written or written in _META:
            meta[_encodable(written)] = _encodable(value)
    values["mode"] = "wide" if values.get("mode", "").lower() == "wide" else ""
    return FrontMatter(**values, meta=meta)


def _known_key(written: str, fields: Mapping[str, object], diagnostics: PageDiagnostics) -> str:
    key = _BY_SPELLING.get(re.sub(r"[-_]", "", written).lower())
    if key is None or key in fields:
        return written
    diagnostics.add(
        Severity.WARNING, "PAGE002", f"{written} in the front matter was read as {key}", f"write {key}", line=1
    )
    return key


def _encodable(value: object) -> str:
    """The value as a string without lone surrogates, which YAML escapes can produce and UTF-8 cannot encode."""
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
