"""Code: blocks of code, and several of them behind tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from tenantry_site.reference.drawing.names import Names

Highlight = Callable[[str, str], str]
"""The finished block of a language and a text."""

_TABS: Final = Markup('<div class="tab-group code-group" data-tabs{}><div class="tab-list">{}</div>{}</div>')
_LINK: Final = Markup('<a class="tab-link" href="#{}">{}</a>')
_PANEL: Final = Markup('<div class="tab" id="{}" data-tab="{}"><p class="tab-title">{}</p>{}</div>')
_TITLED: Final = Markup('<div class="example example-{}"><p class="example-title">{}</p>{}</div>')


@dataclass(frozen=True, slots=True)
class Block:
    """One text behind a tab."""

    title: str
    language: str
    text: str


def group(blocks: Iterable[Block], names: Names, highlight: Highlight, mark: str = "") -> Markup:
    """Blocks behind tabs. Without a script they stand one under the other. ``mark``: a name for scripts to find it."""
    drawn = [(names.new(f"example-{block.title}"), block) for block in blocks]
    links = Markup().join(_LINK.format(name, block.title) for name, block in drawn)
    panels = Markup().join(
        _PANEL.format(name, block.title.casefold(), block.title, _drawn(block, highlight)) for name, block in drawn
    )
    return _TABS.format(Markup(" data-{}").format(mark) if mark else "", links, panels)


def titled(kind: str, title: str, html: Markup) -> Markup:
    """A block or a group with words over it."""
    return _TITLED.format(kind, title, html)


def _drawn(block: Block, highlight: Highlight) -> Markup:
    return Markup(highlight(block.language, block.text))  # noqa: S704  # finished HTML, by its type
