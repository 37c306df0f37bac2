"""Redirects: lookup for a server, and HTML pages that redirect for a built folder.

A source may be a pattern such as ``/old/:slug*``. The values of its placeholders are inserted into the destination.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

from tenantry_site.addresses import Addresses, AddressKind, html_path, page_path, relative_url
from tenantry_site.config.model import Redirect, SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.suggestions import PathSuggestions
from tenantry_site.templating import render_template

_PLACEHOLDER = re.compile(r"/:([A-Za-z_][A-Za-z0-9_]*)(\*?)|/(\*)(?=/|$)")


@dataclass(frozen=True, slots=True)
class RedirectPattern:
    """A path with placeholders, each of which matches one segment. A placeholder with a star, at the end of the path,
    matches any number of segments. ``names``: the names of the placeholders."""

    text: str
    names: tuple[str, ...]
    expression: re.Pattern[str]

    def match(self, path: str) -> dict[str, str] | None:
        """The values of the placeholders, if ``path`` (without a leading slash) matches; else None."""
        found = self.expression.fullmatch(f"/{path}")
        return None if found is None else dict(zip(self.names, (part or "" for part in found.groups()), strict=True))

    def fill(self, values: dict[str, str]) -> str:
        """The path with values for its placeholders, without a leading slash."""

        def value(found: re.Match[str]) -> str:
            given = values.get(found[1] or "*", "")
            return f"/{given}" if given else ""

        return _PLACEHOLDER.sub(value, self.text).lstrip("/")


def parse_pattern(path: str) -> RedirectPattern:
    """Parse a path that begins with a slash and may have placeholders."""
    names: list[str] = []
    pieces: list[str] = []
    end = 0
    for placeholder in _PLACEHOLDER.finditer(path):
        pieces.append(re.escape(path[end : placeholder.start()]))
        name, starred = placeholder[1] or "*", bool(placeholder[2] or placeholder[3])
        if name in names:  # a repeated placeholder must match the same value
            pieces.append(f"/(?P={_group(names.index(name))})")
        else:
            # Several ".*" in one expression could take exponential time, so only a placeholder at the end becomes ".*"
            last = starred and placeholder.end() == len(path)
            pieces.append(f"(?:/(?P<{_group(len(names))}>.*))?" if last else f"/(?P<{_group(len(names))}>[^/]+)")
            names.append(name)
        end = placeholder.end()
    pieces.append(re.escape(path[end:]))
    return RedirectPattern(path, tuple(names), re.compile("".join(pieces)))


def _group(number: int) -> str:
    return f"h{number}"


_LONGEST_CHAIN = 10
_MOST_PATTERNS = 100
_MOST_PAGES = 2_000
"""Maximum number of redirect pages in a built folder. Each pattern may match all pages, so without a limit a hostile
file could cause very many."""


@dataclass(frozen=True, slots=True)
class RedirectTarget:
    """The target of a redirect: either an external ``url``, or a ``path`` within the site. ``tail`` is the query and
    fragment of that path."""

    path: str = ""
    tail: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class _RedirectRule:
    index: int
    source: RedirectPattern
    target: RedirectPattern
    moved: RedirectTarget


class Redirects:
    """The valid redirects of a configuration file."""

    def __init__(self, config: SiteConfig, addresses: Addresses) -> None:
        self._addresses = addresses
        self._diagnostics: list[Diagnostic] = []
        self._exact: dict[str, _RedirectRule] = {}
        self._patterns: list[_RedirectRule] = []
        for index, redirect in enumerate(config.redirects):
            self._read(index, redirect)
        self._known = addresses.pages | addresses.files | {""}
        self._pages = dict(self._all_pages())
        self._check()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems of the redirects."""
        return tuple(self._diagnostics)

    def find(self, address: str) -> RedirectTarget | None:
        """The target of an address that has no page: ``old/path`` or ``old/path.html``, percent-decoded.

        A chain of redirects is followed to its end. A folder without an index redirects to its first page. None if
        there is no redirect, or a chain is longer than ten redirects, as in a cycle.
        """
        moved = self._single_step(address)
        for _ in range(_LONGEST_CHAIN):
            if moved is None or moved.url or moved.path in self._known:
                return moved
            further = self._single_step(moved.path)
            if further is None:
                return moved
            moved = further
        return None

    def pages(self) -> Iterator[tuple[str, bytes]]:
        """Yield path and content of a page that redirects without a script, for each old address that can be listed."""
        for path, moved in self._pages.items():
            yield html_path(path), redirect(path, moved, is_file=moved.path in self._addresses.files)

    def _single_step(self, address: str) -> RedirectTarget | None:
        path = page_path(address.removesuffix(".html"))
        if path is None:
            return None
        rule = self._exact.get(path) or self._exact.get(path.removesuffix("/index"))
        if rule is not None:
            return rule.moved
        for rule in self._patterns:
            values = rule.source.match(path)
            if values is not None:
                return RedirectTarget(rule.target.fill(values), rule.moved.tail) if not rule.moved.url else rule.moved
        first = self._addresses.folders.get(path.removesuffix("/index"))
        return RedirectTarget(first) if first is not None else None

    def _read(self, index: int, redirect: Redirect) -> None:
        source, moved = _source(redirect.source), self._target(redirect.destination)
        if source is None or moved is None:
            side, value = ("source", redirect.source) if source is None else ("destination", redirect.destination)
            fix = "Write a path of this site: /old/page." if source is None else "Write a path, or an https address."
            self._report("LINK011", index, side, f"“{value[:200]}” cannot be the {side} of a redirect", fix)
            return
        rule = _RedirectRule(index, parse_pattern(f"/{source}"), parse_pattern(f"/{moved.path}"), moved)
        if rule.source.names and len(self._patterns) >= _MOST_PATTERNS:
            fix = "Write a redirect for each address."
            self._report(
                "LINK014", index, "source", f"only {_MOST_PATTERNS} redirects with placeholders are supported", fix
            )
        elif rule.source.names:
            self._patterns.append(rule)
        elif source in self._addresses.pages:
            fix = "Remove the page or the redirect."
            self._report("LINK012", index, "source", f"/{source} is a page, which is shown", fix)
        else:
            self._exact.setdefault(source, rule)

    def _target(self, written: str) -> RedirectTarget | None:
        found = self._addresses.resolve("", f"/{written.strip().lstrip('/')}" if _is_path(written) else written)
        if found.kind is AddressKind.REFUSED or (found.kind is AddressKind.EXTERNAL and not _is_web(found.href)):
            return None
        if found.kind is AddressKind.EXTERNAL:
            return RedirectTarget(url=quote(found.href, safe="/@:+,;=!$&'()*~?#%[]", errors="replace"))
        if found.path.startswith(".."):
            return None
        at = min((index for index in map(found.href.find, "?#") if index >= 0), default=len(found.href))
        return RedirectTarget(found.path, quote(found.href[at:], safe="/@:+,;=!$&'()*~?#%", errors="replace"))

    def _all_pages(self) -> Iterator[tuple[str, RedirectTarget]]:
        """Yield each old address that can be listed, with its target. The old addresses of a pattern are derived from
        the existing pages that match the pattern's destination."""
        taken = self._addresses.pages
        folders = {*self._addresses.folders, *(self._exact.keys() & self._addresses.all_folders())}
        named = [*self._exact, *(f"{folder}/index" for folder in sorted(folders))]
        for rule in self._patterns:
            if rule.target.names and set(rule.source.names) <= set(rule.target.names):
                matched = (rule.target.match(page) for page in sorted(taken))
                named += [rule.source.fill(values) for values in matched if values is not None]
        for path in list(dict.fromkeys(named))[:_MOST_PAGES]:
            moved = self.find(path) if path and path not in taken else None
            if moved is not None:
                yield path, moved

    def _check(self) -> None:
        nearest = PathSuggestions(self._addresses.pages)
        for path, rule in self._exact.items():
            moved = self._pages.get(path)
            if moved is not None and not moved.url and moved.path not in self._known:
                near = nearest.find(moved.path)
                fix = f"Did you mean /{near}?" if near else "Add the page, or remove the redirect."
                self._report("LINK010", rule.index, "destination", f"/{moved.path} does not exist", fix)
        for rule in self._patterns:
            if not rule.target.names or not set(rule.source.names) <= set(rule.target.names):
                found = f"{rule.source.text} matches more addresses than a built site can list"
                fix = "Serve the site, or write a redirect for each address."
                self._report("LINK013", rule.index, "source", found, fix, Severity.INFO)

    def _report(
        self, code: str, index: int, side: str, found: str, fix: str, severity: Severity = Severity.WARNING
    ) -> None:
        self._diagnostics.append(Diagnostic(severity, code, found, fix, f"/redirects/{index}/{side}"))


def old_addresses(config: SiteConfig) -> frozenset[str]:
    """The source paths of all redirects, normalized like the paths of pages."""
    return frozenset(filter(None, (_source(one.source) for one in config.redirects)))


def _is_path(written: str) -> bool:
    return "//" not in written and ":" not in written.partition("/")[0]


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://", "//"))


def _source(written: str) -> str | None:
    path = written.strip().partition("?")[0].partition("#")[0]
    if "//" in path or "\\" in path or not path.strip("/") or not path.isprintable():
        return None
    return page_path(unquote(path).removesuffix(".html"))


def redirect(path: str, moved: RedirectTarget, *, is_file: bool = False) -> bytes:
    """An HTML page at ``path`` that redirects. ``is_file``: the target is a file, not a page."""
    target = moved.path if is_file else html_path(moved.path or "index")
    html = render_template(
        "outputs/moved",
        href=moved.url or relative_url(html_path(path), target) + moved.tail,
        name=moved.url or f"/{moved.path}",
    )
    return html.encode("utf-8", "replace")
