"""Sorts the files of a site's folder into configuration, pages, snippets and assets, and reads pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import dirname, normpath

from tenantry_site.addresses import page_path
from tenantry_site.config.model import Group, SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.markdown import SUFFIXES_OF_CODE, front_matter, title_text
from tenantry_site.page import FrontMatter, title_of_path

PAGES = (".mdx", ".md")
_PUBLISHED = frozenset({
    "avif", "bmp", "gif", "ico", "jpeg", "jpg", "png", "svg", "webp", "eot", "otf", "ttf", "woff", "woff2", "m4a",
    "mov", "mp3", "mp4", "ogg", "wav", "webm", "csv", "docx", "gz", "pdf", "pptx", "tar", "tsv", "txt", "xlsx", "zip",
})  # fmt: skip
"""Suffixes of files that are published. HTML, scripts and styles are not published, because they would run as part of
the site."""
_DOCUMENTS = frozenset({"json", "yaml", "yml", "toml"})
"""Suffixes of files that usually belong to tools if they are at the root. Such a file is published only from a
subfolder, or if the configuration names it."""
_SECRET = re.compile(
    r"(?:^|[^a-z0-9])(?:secrets?|credentials?|passwords?|passwd|htpasswd|keystore|kubeconfig|tfstate|tfvars"
    r"|service[-_]?accounts?|private[-_]?keys?|api[-_]?keys|id_(?:rsa|dsa|ecdsa|ed25519))(?![a-z0-9])"
    r"|\.(?:sql|db|sqlite3?|dump|bak|env|keys?|pem|p12|pfx|jks)\."
)
"""Names of files that are probably in the folder by mistake: keys, passwords, and copies of databases."""
_SECRET_SUFFIXES = _DOCUMENTS | {"csv", "gz", "tar", "tsv", "txt", "xlsx", "zip"}
"""Suffixes of files that are not published if ``_SECRET`` matches their names. (Images and PDF files with such names
are published.)"""
_HARMLESS = re.compile(r"example|sample|template|schema")
_FOR_CONTRIBUTORS = frozenset({"AGENTS", "CLAUDE", "CONTRIBUTING"})
"""Markdown files for people and programs that work on the folder. They are pages only if the navigation names them."""
_IMPORT = re.compile(r"^[ \t]*import[ \t][^\n'\"]*?from[ \t]*['\"]([^'\"\n]+\.mdx?)['\"]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The files of a site by use. ``pages``: page -> its file. ``parts``: Markdown files that are only included in
    pages, and files of components. ``assets``: files that are published unchanged."""

    pages: Mapping[str, str]
    parts: tuple[str, ...]
    assets: frozenset[str]
    diagnostics: tuple[Diagnostic, ...]


def classify(
    paths: Iterable[str], configuration: str | None, config: SiteConfig, imported: Collection[str]
) -> SourceFiles:
    """Sort the files of a site's folder by use. ``configuration``: path of the configuration file. ``imported``:
    Markdown files that other files import."""
    diagnostics: list[Diagnostic] = []
    named = set(_named(config))
    documents = {normpath(f"/{written}").lstrip("/") for written, *_ in config.documents}
    pages: dict[str, str] = {}
    parts: list[str] = []
    assets: set[str] = set()
    for path in sorted(paths):
        if any(segment.startswith(".") and segment not in {".", ".."} for segment in path.split("/")):
            continue
        # A path must be usable as an output path and as an address; a page's path must also be in normal form
        whole = path.isprintable() and "\\" not in path and {"", ".", ".."}.isdisjoint(path.split("/"))
        if not (whole and (not path.endswith(PAGES) or page_path(path) == path[: -len(_suffix(path))])):
            diagnostics.append(_unaddressable(path))
            continue
        if path.endswith(PAGES):
            page = path[: -len(_suffix(path))]
            if _is_part(path, page, named, imported):
                parts.append(path)
            else:
                _add_page(pages, page, path, diagnostics)
        elif path.endswith(SUFFIXES_OF_CODE):
            parts.append(path)
        elif path != configuration and _is_published(path, documents):
            if path not in documents and _is_secret(path):
                diagnostics.append(_secret(path))
            else:
                assets.add(path)
    _check_capitals(pages, diagnostics)
    return SourceFiles(pages, tuple(parts), frozenset(assets), tuple(diagnostics))


def imports(source: str, text: str) -> Iterator[str]:
    if "import" in text:
        for target in _IMPORT.findall(text):
            start = "" if target.startswith("/") else dirname(source)
            yield normpath(f"{start}/{target}").lstrip("/")


def _named(config: SiteConfig) -> Iterator[str]:
    waiting = list(config.navigation)
    while waiting:
        for page in waiting.pop().pages:
            if isinstance(page, Group):
                waiting.append(page)
            elif (path := page_path(page)) is not None:
                yield path


def _is_secret(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return (
        name.rpartition(".")[2] in _SECRET_SUFFIXES and _SECRET.search(name) is not None and not _HARMLESS.search(name)
    )


def _secret(path: str) -> Diagnostic:
    fix = "Move it out of the site's folder, or rename it if it is meant to be public."
    found = "its name suggests that it contains a secret, so it is not published"
    return Diagnostic(Severity.WARNING, "SITE107", found, fix, path=path)


def _suffix(path: str) -> str:
    return next(suffix for suffix in PAGES if path.endswith(suffix))


def _unaddressable(path: str) -> Diagnostic:
    shown = path.encode("unicode_escape").decode("ascii")[:200]
    fix = "Rename it: no control characters or backslashes, no spaces at its ends, no path out of the folder."
    return Diagnostic(Severity.WARNING, "SITE103", "its path cannot be part of an address", fix, path=shown)


def _is_part(path: str, page: str, named: Collection[str], imported: Collection[str]) -> bool:
    if page in named:
        return False
    *folders, name = page.split("/")
    readme = not folders and name.lower() == "readme"
    return (
        readme or name in _FOR_CONTRIBUTORS or folders[:1] == ["snippets"] or "_snippets" in folders or path in imported
    )


def _add_page(pages: dict[str, str], page: str, path: str, diagnostics: list[Diagnostic]) -> None:
    if page in pages:  # x.md is sorted before x.mdx, so x.mdx, which may have components, is used
        message = f"{pages[page]} and {path} would be the same page; only {path} is used"
        diagnostics.append(
            Diagnostic(Severity.WARNING, "SITE101", message, "Rename or remove one of them.", path=pages[page])
        )
    pages[page] = path


def _check_capitals(pages: Mapping[str, str], diagnostics: list[Diagnostic]) -> None:
    seen: dict[str, str] = {}
    for page, source in pages.items():
        other = seen.setdefault(page.casefold(), page)
        if other != page:
            message = f"this page and {pages[other]} differ only in case; many disks and hosts cannot store both"
            diagnostics.append(Diagnostic(Severity.WARNING, "SITE102", message, "Rename one of them.", path=source))


def _is_published(path: str, documents: Collection[str]) -> bool:
    suffix = path.rpartition(".")[2].lower()
    return suffix in _PUBLISHED or path in documents or (suffix in _DOCUMENTS and "/" in path)


USUAL = "site.json"

_FIELDS = tuple(re.compile(rf'"{field}"\s*:') for field in ("name", "navigation"))
_LIST = re.compile(r'"navigation"\s*:\s*\[')
_OPENAPI = re.compile(r'"(?:openapi|swagger)"\s*:\s*(?:"\s*)?[0-9]+(?:\.[0-9]+){0,2}(?:-[\w.]+)?\s*["},]')
"""The version field of an OpenAPI document. In a configuration file, ``openapi`` is a path and does not match."""


def configuration_file(files: Mapping[str, str | bytes]) -> str | None:
    """The path of the configuration file: ``site.json``, else a JSON file at the root that has ``name`` and
    ``navigation``; None without either.

    Files are searched with patterns, not parsed, so that a configuration file with a syntax error is found too.
    """
    if USUAL in files:
        return USUAL
    likely = []
    for path in sorted(path for path in files if "/" not in path and path.endswith(".json")):
        content = files[path]
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        if not _OPENAPI.search(text) and all(field.search(text) for field in _FIELDS):
            likely.append((_LIST.search(text) is None, path))
    return min(likely)[1] if likely else None


Files = Mapping[str, str | bytes]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TITLE = re.compile(r"#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page or snippet before rendering."""

    source: str
    """The file; empty for a generated page."""
    text: str | None
    """The whole text; None if it is read again when needed."""
    front: FrontMatter
    """The front matter, always with a title."""
    has_title: bool
    """Whether the title is the author's, not made from the path."""
    imports: tuple[str, ...]
    """The Markdown files that this one imports."""
    diagnostics: tuple[Diagnostic, ...]


class SourcePages:
    """Reads the pages and snippets of a site.

    ``incremental``: keep all texts in memory; an unchanged file then gives the same object again. Otherwise each text
    is read again for rendering, so that only one text is in memory.
    """

    def __init__(self, *, incremental: bool = True) -> None:
        self._incremental = incremental
        self._known: dict[str, SourcePage] = {}
        self._files: Files = {}

    def read(self, files: Files, paths: Iterable[str], changed: Collection[str] | None) -> dict[str, SourcePage]:
        """Path -> page or snippet, for the files at ``paths``. ``changed``: paths of files that may have changed; None:
        any file may have."""
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
        if source_page.text is not None:
            return source_page.text
        return _text(source_page.source, self._files[source_page.source])[0]


def source_page(source: str, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> SourcePage:
    """Parse a page or snippet. ``source``: its path. ``diagnostics``: problems found when it was decoded."""
    front, body, found = front_matter(source, text)
    given = front.title or _title(body)
    front = replace(front, title=given or title_of_path(source.rpartition(".")[0]))
    return SourcePage(source, text, front, bool(given), tuple(imports(source, text)), (*diagnostics, *found))


def _title(body: str) -> str:
    """The first level-1 heading, without markup."""
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
        elif not fence and line.startswith("#") and (found := _TITLE.match(line[:1_000])):
            return title_text(found[1])
    return ""


def _text(path: str, content: str | bytes) -> tuple[str, tuple[Diagnostic, ...]]:
    return (_encodable(content), ()) if isinstance(content, str) else _decoded(path, content)


def _encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _decoded(path: str, content: bytes) -> tuple[str, tuple[Diagnostic, ...]]:
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"line {line} is not UTF-8"
        diagnostic = Diagnostic(Severity.WARNING, "SITE104", message, "Save the file as UTF-8.", line=line, path=path)
        return content.decode("utf-8", "replace"), (diagnostic,)
