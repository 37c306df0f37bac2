"""SourcePages: the pages as their files have them, each read when it changed, with its front matter."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from posixpath import basename

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.markdown import front_matter
from tenantry_site.page import FrontMatter
from tenantry_site.rendering.source_files import imports

Files = Mapping[str, str | bytes]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TITLE = re.compile(r"#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*\Z")
_MARKUP = re.compile(r"[*_`]|!?\[([^\]]*)\]\([^)]*\)|<[^>]*>")
_LONGEST_TITLE = 1_000
"""Characters of a heading that are looked at as a title: the work for these patterns grows with their square."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    """``text`` is the whole file, None where it is not remembered; ``front`` has a title in any case, ``has_title``:
    the author gave it one; ``imports`` are the files it imports."""

    source: str
    text: str | None
    front: FrontMatter
    has_title: bool
    imports: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


class SourcePages:
    """All pages and parts of pages by their files. What did not change stays the same object.

    ``incremental``: texts are stored, to see what changed; without, each is read again when its page is rendered, so
    that never more than one of them is in memory.
    """

    def __init__(self, *, incremental: bool = True) -> None:
        self._incremental = incremental
        self._known: dict[str, SourcePage] = {}
        self._files: Files = {}

    def read(self, files: Files, paths: Iterable[str], changed: Collection[str] | None) -> dict[str, SourcePage]:
        """Those of ``paths``. ``changed`` names the files that may have changed; None: any may have."""
        self._files = files
        if not self._incremental:
            return {path: replace(source_page(path, *_text(path, files[path])), text=None) for path in paths}
        found = {}
        for path in paths:
            before = self._known.get(path)
            if before is not None and changed is not None and path not in changed:
                found[path] = before
                continue
            text, diagnostics = _text(path, files[path])
            found[path] = before if before is not None and before.text == text else source_page(path, text, diagnostics)
        self._known = found
        return found

    def text(self, source_page: SourcePage) -> str:
        """The whole file."""
        if source_page.text is not None:
            return source_page.text
        return _text(source_page.source, self._files[source_page.source])[0]


def source_page(source: str, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> SourcePage:
    """Reads the front matter of one page."""
    front, body, found = front_matter(source, text)
    given = front.title or _title(body)
    front = replace(front, title=given or title_of_path(source))
    return SourcePage(source, text, front, bool(given), tuple(imports(source, text)), (*diagnostics, *found))


def title_of_path(source: str) -> str:
    """``guides/getting-started.mdx`` -> ``Getting started``."""
    words = basename(source).rpartition(".")[0].replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _title(body: str) -> str:
    """The first heading of level 1, without its markup."""
    if "#" not in body:
        return ""
    fence = ""
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if mark:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and line.startswith("#") and (found := _TITLE.match(line[:_LONGEST_TITLE])):
            return _MARKUP.sub(lambda markup: markup[1] or "", found[1]).strip()
    return ""


def _text(path: str, content: str | bytes) -> tuple[str, tuple[Diagnostic, ...]]:
    return (_encodable(content), ()) if isinstance(content, str) else _decoded(path, content)


def _encodable(text: str) -> str:
    """The text without halves of characters, which no encoding takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _decoded(path: str, content: bytes) -> tuple[str, tuple[Diagnostic, ...]]:
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"line {line} is not UTF-8"
        diagnostic = Diagnostic(Severity.WARNING, "SITE104", message, "Save the file as UTF-8.", line=line, path=path)
        return content.decode("utf-8", "replace"), (diagnostic,)
