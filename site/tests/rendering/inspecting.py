"""Looks through the HTML of a page: whether everything that is opened is closed, and what it would load or run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from posixpath import dirname, normpath
from urllib.parse import unquote, urlsplit

VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "path", "circle", "rect", "line", "polyline", "polygon",
})  # fmt: skip
"""What closes itself; shapes of an SVG may."""
LOADING = {
    ("script", "src"), ("link", "href"), ("img", "src"), ("source", "src"), ("video", "src"), ("audio", "src"),
    ("iframe", "src"), ("video", "poster"), ("image", "href"), ("use", "href"),
}  # fmt: skip
SAFE = frozenset({"", "http", "https", "mailto", "tel"})


@dataclass
class Inspected(HTMLParser):
    """What was found. ``problems`` are of the page alone; ``links`` are to be followed."""

    problems: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    ids: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    headings: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script" and "src" not in dict(attrs):
            self.problems.append("an inline script")
        if tag in {"style", "base", "object", "embed"}:
            self.problems.append(f"<{tag}>")
        names = Counter(name for name, _ in attrs)
        self.problems += [f"<{tag}> has two {name}" for name, count in names.items() if count > 1]
        for name, value in attrs:
            self._attribute(tag, name, value or "", attrs)

    def _attribute(self, tag: str, name: str, value: str, attrs: list[tuple[str, str | None]]) -> None:
        if name.startswith("on") or name in {"style", "srcdoc", "srcset", "ping"}:
            self.problems.append(f"<{tag} {name}={value[:40]}>")
        if name == "id":
            self.ids[value] += 1
        if name in {"href", "src", "poster", "action", "formaction"}:
            if urlsplit(value).scheme.lower() not in SAFE and not value.startswith("data:,"):
                self.problems.append(f"<{tag} {name}={value[:60]}>")
            relation = dict(attrs).get("rel")
            if (tag, name) in LOADING and relation not in {"canonical", "alternate"}:
                self.loads.append(value)
            elif tag == "a":
                self.links.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID and (not self.open or self.open[-1] != tag):
            return
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> where {self.open[-1:]} is open, at {self.getpos()}")
            if tag in self.open:
                while self.open.pop() != tag:
                    pass
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def inspect(content: bytes) -> Inspected:
    """Reads a whole page."""
    found = Inspected()
    found.feed(content.decode())
    found.close()
    found.problems += [f"<{tag}> is never closed" for tag in found.open]
    found.problems += [f"the id {name} is there {count} times" for name, count in found.ids.items() if count > 1]
    found.problems += [f"the id {name!r} has a blank" for name in found.ids if not name or name.split() != [name]]
    if found.tags["h1"] != 1:
        found.problems.append(f"{found.tags['h1']} headings of level 1")
    found.problems += [f"loads {each}" for each in found.loads if _is_foreign(each)]
    return found


def _is_foreign(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or (bool(parts.scheme) and parts.scheme != "data")


def target(page: str, link: str) -> tuple[str, str] | None:
    """The file and the fragment that a link of a page leads to; None for one to another host."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = normpath(f"{dirname(page)}/{unquote(parts.path)}".lstrip("/")) if parts.path else page
    return path, unquote(parts.fragment)
