"""Source files: which file of a folder is its configuration, and which are pages, parts of pages or published."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import dirname, normpath

from tenantry_site.addresses import page_path
from tenantry_site.config.model import Group, SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity

PAGES = (".mdx", ".md")
_PUBLISHED = frozenset({
    "avif", "bmp", "gif", "ico", "jpeg", "jpg", "png", "svg", "webp", "eot", "otf", "ttf", "woff", "woff2", "m4a",
    "mov", "mp3", "mp4", "ogg", "wav", "webm", "csv", "docx", "gz", "pdf", "pptx", "tar", "tsv", "txt", "xlsx", "zip",
})  # fmt: skip
"""What is published by its suffix. No HTML, scripts or styles: they would run as parts of the site."""
_DOCUMENTS = frozenset({"json", "yaml", "yml", "toml"})
"""What is published below the root only, where the files of tools are, or when the configuration names it."""
_SECRET = re.compile(
    r"(?:^|[^a-z0-9])(?:secrets?|credentials?|passwords?|passwd|htpasswd|keystore|kubeconfig|tfstate|tfvars"
    r"|service[-_]?accounts?|private[-_]?keys?|api[-_]?keys|id_(?:rsa|dsa|ecdsa|ed25519))(?![a-z0-9])"
    r"|\.(?:sql|db|sqlite3?|dump|bak|env|keys?|pem|p12|pfx|jks)\."
)
"""Names of what lies in a folder by mistake: keys and passwords, and what is archived or renamed out of a database."""
_SECRET_SUFFIXES = _DOCUMENTS | {"csv", "gz", "tar", "tsv", "txt", "xlsx", "zip"}
"""Suffixes of files that can hold one. A picture of a secret, or a paper about passwords, is none."""
_HARMLESS = re.compile(r"example|sample|template|schema")
_IMPORT = re.compile(r"^[ \t]*import[ \t][^\n'\"]*?from[ \t]*['\"]([^'\"\n]+\.mdx?)['\"]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """``pages`` are sources by the path of their page, ``parts`` the files that are only put into pages, ``assets``
    what is published as it is."""

    pages: Mapping[str, str]
    parts: tuple[str, ...]
    assets: frozenset[str]
    diagnostics: tuple[Diagnostic, ...]


def classify(
    paths: Iterable[str], configuration: str | None, config: SiteConfig, imported: Collection[str]
) -> SourceFiles:
    """What each file is. ``imported`` are the files that others import."""
    diagnostics: list[Diagnostic] = []
    named = set(_named(config))
    documents = {normpath(f"/{written}").lstrip("/") for written, *_ in config.documents}
    pages: dict[str, str] = {}
    parts: list[str] = []
    assets: set[str] = set()
    for path in sorted(paths):
        if _is_hidden(path):
            continue
        if not _is_addressable(path):
            diagnostics.append(_unaddressable(path))
            continue
        if path.endswith(PAGES):
            page = path[: -len(_suffix(path))]
            if _is_part(path, page, named, imported):
                parts.append(path)
            else:
                _add_page(pages, page, path, diagnostics)
        elif path != configuration and _is_published(path, documents):
            if path not in documents and _is_secret(path):
                diagnostics.append(_secret(path))
            else:
                assets.add(path)
    _check_capitals(pages, diagnostics)
    return SourceFiles(pages, tuple(parts), frozenset(assets), tuple(diagnostics))


def imports(source: str, text: str) -> Iterator[str]:
    """The files of Markdown that a page imports."""
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


def _is_hidden(path: str) -> bool:
    return any(segment.startswith(".") and segment not in {".", ".."} for segment in path.split("/"))


def _is_addressable(path: str) -> bool:
    """Whether a path may be written to a folder and be an address, and is that of a page as everyone spells it."""
    whole = path.isprintable() and "\\" not in path and {"", ".", ".."}.isdisjoint(path.split("/"))
    return whole and (not path.endswith(PAGES) or page_path(path) == path[: -len(_suffix(path))])


def _is_secret(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return (
        name.rpartition(".")[2] in _SECRET_SUFFIXES and _SECRET.search(name) is not None and not _HARMLESS.search(name)
    )


def _secret(path: str) -> Diagnostic:
    fix = "Move it out of the site's folder; if everyone is to have it, rename it."
    found = "its name is that of a secret, and it is not published"
    return Diagnostic(Severity.WARNING, "SITE107", found, fix, path=path)


def _suffix(path: str) -> str:
    return next(suffix for suffix in PAGES if path.endswith(suffix))


def _unaddressable(path: str) -> Diagnostic:
    shown = path.encode("unicode_escape").decode("ascii")[:200]
    fix = "Rename it: no control characters or backslashes, no blanks at its ends, nothing above the folder."
    return Diagnostic(Severity.WARNING, "SITE103", "its path cannot be part of an address", fix, path=shown)


def _is_part(path: str, page: str, named: Collection[str], imported: Collection[str]) -> bool:
    if page in named:
        return False
    folders = path.split("/")[:-1]
    readme = not folders and page.lower() == "readme"
    return readme or folders[:1] == ["snippets"] or "_snippets" in folders or path in imported


def _add_page(pages: dict[str, str], page: str, path: str, diagnostics: list[Diagnostic]) -> None:
    if page in pages:  # x.md comes before x.mdx, and the second is the richer kind
        message = f"{pages[page]} and {path} would be one page, and {path} is taken"
        diagnostics.append(
            Diagnostic(Severity.WARNING, "SITE101", message, "Rename or remove one of them.", path=pages[page])
        )
    pages[page] = path


def _check_capitals(pages: Mapping[str, str], diagnostics: list[Diagnostic]) -> None:
    seen: dict[str, str] = {}
    for page, source in pages.items():
        other = seen.setdefault(page.casefold(), page)
        if other != page:
            message = f"this page and {pages[other]} differ in capitals only, which many disks and hosts cannot hold"
            diagnostics.append(Diagnostic(Severity.WARNING, "SITE102", message, "Rename one of them.", path=source))


def _is_published(path: str, documents: Collection[str]) -> bool:
    suffix = path.rpartition(".")[2].lower()
    return suffix in _PUBLISHED or path in documents or (suffix in _DOCUMENTS and "/" in path)


USUAL = "site.json"

_FIELDS = tuple(re.compile(rf'"{field}"\s*:') for field in ("name", "navigation"))
_LIST = re.compile(r'"navigation"\s*:\s*\[')
_OPENAPI = re.compile(r'"(?:openapi|swagger)"\s*:\s*(?:"\s*)?[0-9]+(?:\.[0-9]+){0,2}(?:-[\w.]+)?\s*["},]')
"""The version of an OpenAPI document, by which it is known, where a configuration names a file."""


def configuration_file(files: Mapping[str, str | bytes]) -> str | None:
    """``site.json``, else the JSON file at the root that has ``name`` and ``navigation``; None without any.

    The file is looked through, not parsed: one with a mistake in it is to be found too, so that it is reported.
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
