"""Paper: the least page that components can be drawn on, which notes what they say about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markupsafe import escape

from tenantry_site import icons
from tenantry_site.addresses import Addresses, AddressKind
from tenantry_site.components import COMPONENTS
from tenantry_site.diagnostic import Severity
from tenantry_site.page import AttributeValue, CodeBlock, Element, Fragment, Node

ADDRESSES = Addresses(["start", "guides/other"], ["images/one.png"])


@dataclass
class Paper:
    """A page at ``start``. Titles know ``**strong**`` and ``[links](start)``; of other hosts nothing is shown."""

    snippets: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    notes: list[tuple[Severity, str, str, int]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)

    def render(self, nodes: tuple[Node, ...]) -> str:
        return "".join(COMPONENTS[node.name](node, self) if isinstance(node, Element) else node.html for node in nodes)

    def render_inline(self, markdown: str) -> str:
        html = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", str(escape(markdown)))
        return re.sub(r"\[(.+?)\]\((\w+)\)", r'<a href="\2.html">\1</a>', html)

    def icon(self, name: str, kind: str = "") -> str:
        return icons.svg(name, kind) or ""

    def href(self, target: str, line: int) -> str | None:
        address = ADDRESSES.resolve("start", target)
        if address.kind is AddressKind.REFUSED:
            self.report(Severity.WARNING, "PAGE014", f"{target} is refused", "", line)
            return None
        return str(escape(address.href))

    def source(self, target: str, line: int) -> str | None:
        address = ADDRESSES.resolve("start", target)
        return str(escape(address.href)) if address.kind is AddressKind.FILE else None

    def identifier(self, wanted: str, written: str = "") -> str:
        slug = re.sub(r"[^a-z0-9]+", "-", (written or wanted).lower()).strip("-") or "part"
        number = 1
        while (found := slug if number == 1 else f"{slug}-{number}") in self.ids:
            number += 1
        self.ids.add(found)
        return found

    def snippet(self, path: str, line: int) -> tuple[Node, ...]:
        return self.snippets.get(path, ())

    def report(self, severity: Severity, code: str, message: str, fix: str, line: int) -> None:
        self.notes.append((severity, code, message, line))

    @property
    def codes(self) -> list[str]:
        return [code for _, code, _, _ in self.notes]


def element(name: str, /, *children: Node | str, line: int = 7, **attributes: AttributeValue) -> Element:
    """An element; text among its children becomes a paragraph."""
    nodes = tuple(Fragment(f"<p>{child}</p>") if isinstance(child, str) else child for child in children)
    return Element(name, attributes, nodes, line)


def code(text: str, language: str = "", title: str = "") -> CodeBlock:
    """A block of code as pages draw it."""
    caption = f'<figcaption class="code-title">{escape(title)}</figcaption>' if title else ""
    button = '<button type="button" class="copy" data-copy hidden>Copy</button>'
    html = f'<figure class="code">{caption}{button}<pre tabindex="0"><code>{escape(text)}</code></pre></figure>'
    return CodeBlock(language, title, text, html, 7)


def drawn(*nodes: Node, **snippets: tuple[Node, ...]) -> tuple[str, Paper]:
    """The HTML of nodes on a paper of their own, and the paper."""
    paper = Paper(snippets)
    return paper.render(nodes), paper
