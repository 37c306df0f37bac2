"""Safety: what a page's HTML must not have, seen by two parsers - Python's, and a browser's algorithm."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import nh3

FORBIDDEN = frozenset(
    {
        "script",
        "style",
        "iframe",
        "frame",
        "frameset",
        "object",
        "embed",
        "applet",
        "base",
        "meta",
        "link",
        "form",
        "math",
        "template",
        "noscript",
        "textarea",
        "title",
        "xmp",
        "noembed",
        "noframes",
        "plaintext",
        "select",
        "option",
        "portal",
        "foreignobject",
        "use",
        "animate",
        "set",
        "image",
        "marquee",
        "dialog",
        "body",
        "html",
        "head",
        "slot",
        "listing",
    }
)
ADDRESSES = frozenset(
    {"href", "src", "xlink:href", "action", "formaction", "poster", "data", "background", "ping", "cite"}
)
SCHEMES = frozenset({"http", "https", "mailto", "tel"})
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_HANDLERS = {
    f"on{each}"
    for each in (
        "error",
        "load",
        "click",
        "mouseover",
        "focus",
        "toggle",
        "begin",
        "start",
        "loadstart",
        "animationstart",
        "close",
    )
}


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in FORBIDDEN:
            self.wrong.append(f"<{tag}>")
        if tag == "svg" and "icon" not in str(given.get("class")).split():
            self.wrong.append("<svg> that is no icon")
        if tag == "input" and given.get("type") != "checkbox":
            self.wrong.append("<input>")
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc", "srcset", "http-equiv", "ping"):
                self.wrong.append(f"{name}={value}")
            if name in ADDRESSES and not allowed(value or ""):
                self.wrong.append(f"{name}={value!r}")


def allowed(address: str) -> bool:
    """Whether a browser would read this address as a path or as one of the four schemes."""
    bare = re.sub(r"[\t\n\r]", "", address.strip("".join(map(chr, range(33)))))
    found = _SCHEME.match(bare)
    return found is None or found[1].lower() in SCHEMES


def wrong(html: str) -> list[str]:
    """What is executable in ``html``, or leads there."""
    return [*_wrong(html), *_wrong(_as_a_browser(html))]


def _wrong(html: str) -> list[str]:
    seen = _Seen()
    seen.feed(html)
    seen.close()
    return seen.wrong


def _as_a_browser(html: str) -> str:
    """The HTML as the tree of a browser's parser is written out again, with everything that could be dangerous kept."""
    tags = set(nh3.ALLOWED_TAGS) | FORBIDDEN | {"svg", "path", "input", "button", "video", "audio", "source", "section"}
    return nh3.clean(
        html,
        tags=tags,
        clean_content_tags=set(),
        attributes={"*": ADDRESSES | _HANDLERS | {"style", "srcdoc", "id", "title", "class", "type", "alt"}},
        url_schemes={"javascript", "data", "vbscript", "file", *SCHEMES},
        link_rel=None,
    )
