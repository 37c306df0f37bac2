"""The allow-list of HTML elements and attributes that authors may write on their pages.

All other elements and attributes are never written to a page. The tables contain nothing that can run code: no scripts,
event handlers, styles or forms, no SVG or MathML, and no element whose contents browsers parse by other rules
(``textarea``, ``noscript``, ``template``). An ``iframe`` is written only with a sandbox (``raw_html``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowed:
    """How an element is written to a page.

    ``tag``: the tag that is written. ``attributes``: those allowed in addition to ``EVERYWHERE``. ``block``: it is a
    block, not part of a line of text. ``phrasing``: it may not contain paragraphs. ``void``: it has no closing tag.
    """

    tag: str
    attributes: frozenset[str] = frozenset()
    block: bool = False
    phrasing: bool = False
    void: bool = False


def _inline(tag: str, *attributes: str, void: bool = False) -> Allowed:
    return Allowed(tag, frozenset(attributes), phrasing=True, void=void)


def _block(tag: str, *attributes: str, phrasing: bool = False, void: bool = False) -> Allowed:
    return Allowed(tag, frozenset(attributes), block=True, phrasing=phrasing, void=void)


_SIZE = ("width", "height")
_CELL = ("colspan", "rowspan", "width")

ALLOWED: Mapping[str, Allowed] = {
    **{tag: _inline(tag) for tag in (
        "abbr", "b", "bdi", "cite", "code", "dfn", "em", "i", "ins", "kbd", "mark", "rp", "rt", "ruby", "s", "samp",
        "small", "span", "strong", "sub", "sup", "u", "var", "del", "q",
    )},
    "a": _inline("a"),
    "bdo": _inline("bdo", "dir"),
    "big": _inline("span"),
    "br": _inline("br", void=True),
    "font": _inline("span"),
    "strike": _inline("s"),
    "time": _inline("time", "datetime"),
    "tt": _inline("code"),
    "wbr": _inline("wbr", void=True),
    "img": _inline("img", *_SIZE, void=True),
    "picture": _inline("span"),
    **{tag: _block("div") for tag in ("div", "section", "article", "aside", "header", "footer", "main", "nav")},
    "center": _block("div"),
    **{tag: _block(tag) for tag in ("blockquote", "dd", "dl", "figure", "tbody", "tfoot", "thead", "ul")},
    "caption": _block("caption", phrasing=True),
    "col": _block("col", "span", "width", void=True),
    "colgroup": _block("colgroup", "span"),
    "details": _block("details", "open", "name"),
    "dt": _block("dt", phrasing=True),
    "figcaption": _block("figcaption", phrasing=True),
    **{f"h{level}": _block(f"h{max(level, 2)}", phrasing=True) for level in range(1, 7)},
    "hr": _block("hr", void=True),
    "li": _block("li", "value"),
    "ol": _block("ol", "start", "reversed", "type"),
    "p": _block("p", phrasing=True),
    "summary": _block("summary", phrasing=True),
    "table": _block("table"),
    "td": _block("td", *_CELL),
    "th": _block("th", *_CELL, "scope"),
    "tr": _block("tr"),
    "video": _block("video", *_SIZE, "loop", "muted", "playsinline"),
    "audio": _block("audio", "loop", "muted"),
    "source": _block("source", "type", void=True),
    "track": _block("track", "kind", "srclang", "label", "default", void=True),
    "iframe": _block("iframe", *_SIZE),
}  # fmt: skip

PHRASING: Mapping[str, Allowed] = {name: allowed for name, allowed in ALLOWED.items() if not allowed.block}
"""The allowed elements that may be part of a line of text."""

EVERYWHERE = frozenset({"id", "title", "lang", "dir", "align"})
SWITCHES = frozenset({"open", "reversed", "loop", "muted", "playsinline", "default"})

RAW = frozenset({"script", "style", "svg", "math", "template", "noscript", "pre"})
"""Elements whose contents are not parsed as Markdown. ``pre`` is shown; all others are removed with their contents."""

REMOVED = frozenset({
    "applet", "base", "body", "button", "canvas", "dialog", "embed", "fieldset", "form", "frame", "frameset", "head",
    "html", "input", "label", "link", "marquee", "meta", "noembed", "noframes", "object", "optgroup", "option", "param",
    "plaintext", "portal", "select", "slot", "textarea", "title", "xmp", "progress", "meter", "map", "area", "output",
    "legend", "datalist", "listing", "isindex", "keygen", "image", "animate", "foreignobject", "use", "path", "circle",
    "rect", "g", "line", "polygon", "polyline", "defs", "mtext", "mglyph", "annotation-xml",
})  # fmt: skip
"""Known elements of which only the tags are removed, not the contents."""

IMPLIED: Mapping[str, frozenset[str]] = {
    "li": frozenset({"li"}),
    "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}),
    "td": frozenset({"td", "th"}),
    "th": frozenset({"td", "th"}),
    "tr": frozenset({"td", "th", "tr"}),
    "tbody": frozenset({"td", "th", "tr", "thead", "tbody"}),
    "tfoot": frozenset({"td", "th", "tr", "thead", "tbody"}),
    "p": frozenset({"p"}),
}
"""Element -> the open elements that its opening tag closes, because HTML allows their closing tags to be omitted."""

OPTIONAL = frozenset({"li", "dt", "dd", "td", "th", "tr", "tbody", "thead", "tfoot", "p", "colgroup"})
"""Elements whose closing tag may be omitted. Such an element ends with the element around it."""

_VALUES: Mapping[str, frozenset[str]] = {
    "align": frozenset({"left", "right", "center"}),
    "dir": frozenset({"ltr", "rtl", "auto"}),
    "scope": frozenset({"col", "row", "colgroup", "rowgroup"}),
    "type": frozenset({
        "1", "a", "A", "i", "I", "video/mp4", "video/webm", "video/ogg", "audio/mpeg", "audio/ogg", "audio/wav",
    }),
    "kind": frozenset({"subtitles", "captions", "descriptions", "chapters"}),
}  # fmt: skip
_NUMBERS = frozenset({"colspan", "rowspan", "span", "start", "value"})


def accepted_value(attribute: str, value: str) -> str | None:
    """The value to write for an attribute, not yet escaped; None if the value is not allowed."""
    if attribute in _VALUES:
        return value if value in _VALUES[attribute] else None
    if attribute in _NUMBERS:
        return value if value.lstrip("-").isdigit() and value.isascii() and len(value) < 8 else None
    if attribute in ("width", "height"):
        return length(value)
    return value[:500]


def length(value: str) -> str | None:
    """A length for HTML's ``width`` and ``height`` attributes: ``300`` for ``300px``, or ``50%``. None for anything but
    whole pixels and percent."""
    bare = value.strip().removesuffix("px").strip()
    digits = bare.removesuffix("%")
    whole = digits.partition(".")[0]
    return whole + bare[len(digits) :] if whole.isascii() and whole.isdigit() and len(whole) < 6 else None
