"""Renders the HTML elements that authors write on pages: allowed tags only, with checked attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import unescape

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.allowed_html import ALLOWED, EVERYWHERE, SWITCHES, accepted_value, length
from tenantry_site.markdown.jsx import Tag
from tenantry_site.markdown.page_context import PageContext, escape
from tenantry_site.page import AttributeValue

_IGNORED = frozenset({
    "class", "classname", "style", "key", "ref", "src", "href", "alt", "name", "poster", "srcset", "sizes", "loading",
    "target", "rel", "border", "cellpadding", "cellspacing", "valign", "bgcolor", "color", "face", "size", "role",
    "allow", "allowfullscreen", "frameborder", "autoplay", "controls", "preload", "decoding", "referrerpolicy",
    "crossorigin", "tabindex", "nowrap", "noshade", "clear", "cite", "hidden", "sandbox", "fetchpriority",
})  # fmt: skip
"""Attributes left out without a diagnostic. Other code in this module uses some of them (``src``, ``href``)."""

_REGION = '<div class="table" role="group" tabindex="0" aria-label="Table">'
MEDIA = ("video", "audio")

_MODE_CLASSES = {
    ("hidden", "dark:block"): "only-dark",
    ("block", "dark:hidden"): "only-light",
    ("dark:hidden",): "only-light",
}
"""CSS classes that authors use to show content only in light or only in dark mode -> our class. All other classes are
left out."""


def render_tag(tag: Tag, context: PageContext, line: int) -> tuple[str, str]:
    """The HTML for an opening tag and for the closing tag."""
    allowed = ALLOWED[tag.name]
    if tag.name == "img":
        return _image_tag(tag, context, line), ""
    if tag.name == "iframe":
        return _iframe(tag, context, line), ""
    given = attributes(tag, context, line)
    if tag.name == "center":
        given["align"] = "center"
    elif tag.name == "a":
        target = _text(tag.attributes, "href")
        address = context.href(target, line) if target else None
        if address is not None:
            given["href"] = address
            if context.elsewhere(target):
                given["rel"] = "noopener"
    elif tag.name in ("video", "audio", "source", "track"):
        return _media(tag, given, context, line)
    opening, closing = open_tag(allowed.tag, given), "" if allowed.void else f"</{allowed.tag}>"
    return (f"{_REGION}{opening}", f"{closing}</div>") if tag.name == "table" else (opening, closing)


def _media(tag: Tag, given: dict[str, str], context: PageContext, line: int) -> tuple[str, str]:
    target = _text(tag.attributes, "src")
    address = context.source(target, line) if target else None
    if target and address is None:
        return ("", "") if tag.name == "track" else (_link_instead(tag, target, context), "")
    if address is not None:
        given["src"] = address
    if tag.name in ("source", "track"):
        return (open_tag(tag.name, given) if address else ""), ""
    return open_tag(tag.name, {**given, "controls": "", "preload": "metadata"}), f"</{tag.name}>"


def playable(opening: str, closing: str, buffer: Sequence[object]) -> tuple[str, str]:
    """The tags to write around the contents of a ``<video>`` or ``<audio>``. Without a playable source these are
    ``<span>`` tags, because a player would hide the contents: links to files on other hosts."""
    playing = " src=" in opening or any(isinstance(each, str) and each.startswith("<source") for each in buffer)
    return (opening, closing) if playing else ("<span>", "</span>")


def open_tag(tag: str, given: Mapping[str, str]) -> str:
    return f"<{tag}" + "".join(f' {name}="{value}"' if value else f" {name}" for name, value in given.items()) + ">"


def _image_tag(tag: Tag, context: PageContext, line: int) -> str:
    source, alternative = _text(tag.attributes, "src"), _text(tag.attributes, "alt")
    given = attributes(tag, context, line)
    title = given.pop("title", "")
    return render_image(source, alternative, context, line, {**({"title": title} if title else {}), **given})


def render_image(
    source: str, alternative: str, context: PageContext, line: int, given: Mapping[str, str], *, linked: bool = False
) -> str:
    """An ``<img>``. If the image may not be shown, a link to it with the alternative text; inside another link
    (``linked``), only that text."""
    address = context.source(source, line) if source else None
    if address is not None:
        return open_tag("img", {"src": address, "loading": "lazy", **given}).replace(
            "<img", f'<img alt="{escape(alternative)}"', 1
        )
    elsewhere = None if linked or not source else context.elsewhere(source)
    words = escape(alternative or (_file_name(source) if elsewhere else ""))
    return f'<a href="{elsewhere}" rel="noopener">{words}</a>' if elsewhere else words


def _file_name(source: str) -> str:
    return source.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2]


def attributes(tag: Tag, context: PageContext, line: int) -> dict[str, str]:
    """The allowed attributes of a tag, with escaped values. Other attributes are reported."""
    allowed = ALLOWED[tag.name].attributes
    given: dict[str, str] = {}
    for spelling, value in tag.attributes.items():
        name = spelling.lower()
        if name in allowed or name in EVERYWHERE:
            _add(given, name, value, context)
        elif name in ("class", "classname"):
            _classes(given, value)
        elif name == "style":
            _dimensions(given, value, allowed)
        elif name == "name" and tag.name == "a":
            _add(given, "id", value, context)
        elif name.startswith("on") and len(name) > 2:
            message = f"{spelling} on <{tag.name}> was removed: code in a page is not run"
            context.report(Severity.WARNING, "PAGE013", message, "leave it out", line)
        elif name not in _IGNORED and not name.startswith(("aria-", "data-")):
            message = f"{spelling[:40]} on <{tag.name}> was removed"
            context.report(Severity.INFO, "PAGE013", message, "leave it out", line)
    return given


def _add(given: dict[str, str], name: str, value: AttributeValue, context: PageContext) -> None:
    if name in SWITCHES:
        if value not in (False, "false", None):
            given[name] = ""
        return
    text = "" if value is None or isinstance(value, (bool, list, dict)) else str(value)
    if name == "id":
        if text.strip():
            given["id"] = escape(context.identifier(text, text))
    elif text and (accepted := accepted_value(name, text)) is not None:
        given[name] = escape(accepted)


def _classes(given: dict[str, str], value: AttributeValue) -> None:
    words = tuple(value.split()) if isinstance(value, str) else ()
    for wanted, own in _MODE_CLASSES.items():
        if all(word in words for word in wanted):
            given["class"] = own
            return


def _dimensions(given: dict[str, str], value: AttributeValue, allowed: frozenset[str]) -> None:
    """Take ``width`` and ``height`` from a style, if the element has attributes for them."""
    pairs: dict[str, AttributeValue] = {}
    if isinstance(value, dict):
        pairs = value
    elif isinstance(value, str):
        pairs = {key.strip().lower(): text for key, _, text in (part.partition(":") for part in value.split(";"))}
    for name in ("width", "height"):
        text = pairs.get(name)
        if name in allowed and name not in given and isinstance(text, (str, int, float)):
            accepted = length(str(text))
            if accepted is not None and not (name == "height" and accepted.endswith("%")):
                given[name] = accepted


def _iframe(tag: Tag, context: PageContext, line: int) -> str:
    source = _text(tag.attributes, "src")
    elsewhere = context.elsewhere(source) if source else None
    address = context.source(source, line) if elsewhere else None
    if address is None:
        return f"<p>{_link_instead(tag, source, context)}</p>" if source else ""
    given = attributes(tag, context, line)
    given.setdefault("title", escape(source[:200]))
    sandbox = "allow-scripts allow-same-origin allow-popups allow-presentation"
    return open_tag("iframe", {**given, "src": address, "sandbox": sandbox, "loading": "lazy"}) + "</iframe>"


def _link_instead(tag: Tag, target: str, context: PageContext) -> str:
    """A link to a frame or video that the page may not show."""
    elsewhere = context.elsewhere(target)
    address = elsewhere or context.href(target, 0)
    words = escape(_text(tag.attributes, "title") or target)
    relation = ' rel="noopener"' if elsewhere else ""
    return f'<a class="embed" href="{address}"{relation}>{words}</a> ' if address else f"{words} "


def _text(values: Mapping[str, AttributeValue], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


_TAGS = re.compile(r"</?[A-Za-z][^<>]*>")


def text_of(contents: str) -> str:
    """The text of a ``<pre>`` element, without tags, and without the braces and backticks if it is ``{`…`}``."""
    bare = _TAGS.sub("", contents).strip("\n")
    braced = bare.strip()
    if braced.startswith("{`") and braced.endswith("`}"):
        bare = braced[2:-2]
    return unescape(bare)
