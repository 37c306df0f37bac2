"""Writes the nodes of a page as Markdown without components: snippets are expanded, and components become text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final

from tenantry_site.page import CodeBlock, Element, Fragment, Node

_BLOCKS: Final = frozenset({
    "address", "center", "details", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure", "p", "section", "ol",
    "ul", "table",
})  # fmt: skip
_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "summary": "**"}
_SKIPPED: Final = frozenset({"svg", "button", "audio", "iframe", "object"})
_QUOTED: Final = frozenset({"Note", "Info", "Tip", "Check", "Warning", "Danger", "Callout"})
_INLINE: Final = frozenset({"Icon", "Badge", "Tooltip"})
_TITLES: Final = ("title", "label", "name", "path", "query", "header", "body")
_FACTS: Final = ("type", "required", "default", "description", "caption", "tip")
"""Attributes that are written next to the title of a component, in this order."""
_SPECIAL: Final = re.compile(r"[\\`*]|<(?=[A-Za-z/!?])|(?<![^\W_])_|_(?![^\W_])")
_LINE_START: Final = re.compile(r"^([#>+-]|\d+[.)])(?=\s|$)|^(?=[-=]{3,}$)", re.MULTILINE)
_PAGE_LINK: Final = re.compile(r"(?![a-zA-Z][a-zA-Z0-9+.-]*:|//)([^?#]*)\.html(?=[?#]|\Z)")
_SPACES: Final = re.compile(r"[ \t\n]+")


def written_as_markdown(nodes: Iterable[Node], address: Callable[[str], str]) -> str:
    """The nodes as Markdown. ``address``: resolves a link that an author wrote in an attribute."""
    writer = _MarkdownWriter(address)
    writer.write(nodes)
    writer.close()
    return writer.text()


@dataclass(slots=True)
class _Prefix:
    """The beginning of each line of an open list item or quotation. ``first``: that of the first line."""

    first: str
    further: str
    begun: bool = False

    @property
    def is_new_item(self) -> bool:
        return not self.begun and self.first != self.further


class _MarkdownWriter(HTMLParser):
    """Reads fragments of HTML, which may begin elements that later fragments end, and the components between them."""

    def __init__(self, address: Callable[[str], str]) -> None:
        super().__init__(convert_charrefs=True)
        self._address = address
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._prefixes: list[_Prefix] = []
        self._after_item = False
        self._numbers: list[int | None] = []
        self._links: list[str | None] = []
        self._cells: list[str] = []
        self._skipped = 0
        self._code = False
        self._tight = False

    def text(self) -> str:
        self._flush()
        return "\n".join(self._blocks).strip("\n") + "\n" if self._blocks else ""

    def write(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if isinstance(node, Fragment):
                self.feed(node.html)
            elif isinstance(node, CodeBlock):
                self._code_block(node)
            else:
                self._element(node)

    # --- components ---------------------------------------------------------------------------------------------------

    def _element(self, element: Element) -> None:
        if element.name in _QUOTED:
            self._open("> ", "> ")
            self._block(f"**{element.text('title') or element.text('type') or element.name}**")
            self.write(element.children)
            self._shut()
        elif element.name in _INLINE:
            self.write(element.children)
        elif element.inline:
            self._titled(element)
        else:
            self._flush()
            self._titled(element)
            self._flush()

    def _titled(self, element: Element) -> None:
        """Write the title of a component, as a link if it has one, then its facts and contents."""
        title = next((found for name in _TITLES if (found := element.text(name).strip())), "")
        href, children = element.text("href").strip(), element.children
        if href:
            self._line.append(f"[{title}")
            if not title and children:
                self.write(children)
                children = ()
            self._line.append("" if title or element.children else href)
            self._line.append(f"]({self._target(self._address(href))})")
        elif title:
            self._line.append(f"`{title}`" if element.name.endswith("Field") else f"**{title}**")
        given = ((name, element.text(name)) for name in _FACTS if element.attributes.get(name) is not None)
        facts = [f"default {text}" if name == "default" else text or name for name, text in given]
        if facts:
            self._line.append((": " if self._line else "") + ", ".join(facts))
        if not element.inline:
            self._flush()
        self.write(children)

    def _code_block(self, block: CodeBlock) -> None:
        longest = max((len(found) for found in re.findall(r"`{3,}", block.text)), default=2)
        fence = "`" * (longest + 1)
        head = " ".join(filter(None, (block.language, block.title)))
        self._block(f"{fence}{head}\n{block.text.rstrip(chr(10))}\n{fence}", verbatim=True)

    # --- HTML ---------------------------------------------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if self._skipped or tag in _SKIPPED or (tag == "a" and given.get("class") == "anchor"):
            self._skipped += (
                tag not in ("img", "br", "hr", "input", "source", "track", "path", "wbr") or tag in _SKIPPED
            )
        elif tag in _BLOCKS or tag in ("blockquote", "li", "tr", "hr") or tag[1:].isdigit():
            self._open_block(tag, given)
        elif tag == "summary":
            self._flush()
            self._line.append("**")
        elif tag == "a":
            self._links.append(given.get("href"))
            self._line.append("[" if given.get("href") else "")
        elif tag == "img":
            self._line.append(f"![{given.get('alt', '')}]({given.get('src', '')})")
        elif tag == "br":
            self._line.append("\\\n")
        elif tag == "input":
            self._line.append("[x] " if "checked" in given else "[ ] ")
        elif tag == "code":
            self._code = True
            self._line.append("`")
        else:
            self._line.append(_MARKS.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag in ("td", "th"):
            self._cells.append(self._taken().replace("|", "\\|").replace("\n", " "))
            self._tight = tag == "th"
        elif tag == "tr":
            self._row()
        elif tag in ("li", "blockquote"):
            self._shut()
        elif tag in _BLOCKS or tag[1:].isdigit():
            self._flush(mark=f"{'#' * int(tag[1])} " if tag[1:].isdigit() else "")
            if tag in ("ol", "ul") and self._numbers:
                self._numbers.pop()
        elif tag == "summary":
            self._line.append("**")
            self._flush()
        elif tag == "a":
            href = self._links.pop() if self._links else None
            self._line.append(f"]({self._target(href)})" if href else "")
        elif tag == "code":
            self._code = False
            self._line.append("`")
        else:
            self._line.append(_MARKS.get(tag, ""))

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._line.append(data if self._code else _SPECIAL.sub(r"\\\g<0>", _SPACES.sub(" ", data)))

    def _open_block(self, tag: str, given: dict[str, str]) -> None:
        self._flush()
        if tag in ("ol", "ul"):
            start = given.get("start", "1")
            self._numbers.append(int(start) if tag == "ol" and start.isdecimal() else 1 if tag == "ol" else None)
        elif tag == "li":
            number = self._numbers[-1] if self._numbers else None
            mark = "- " if number is None else f"{number}. "
            if number is not None:
                self._numbers[-1] = number + 1
            self._open(mark, " " * len(mark))
        elif tag == "blockquote":
            self._open("> ", "> ")
        elif tag == "hr":
            self._block("---", verbatim=True)

    def _target(self, href: str) -> str:
        target = _PAGE_LINK.sub(r"\1.md", href, count=1)
        return f"<{target}>" if re.search(r"[\s()]", target) else target

    # --- lines --------------------------------------------------------------------------------------------------------

    def _open(self, first: str, further: str) -> None:
        self._flush()
        self._prefixes.append(_Prefix(first, further))

    def _shut(self) -> None:
        self._flush()
        if self._prefixes:
            closed = self._prefixes.pop()
            self._after_item = closed.first != closed.further

    def _taken(self) -> str:
        lines = (
            " ".join(line.split()) if "`" not in line else line.strip() for line in "".join(self._line).split("\n")
        )
        self._line.clear()
        return "\n".join(lines).strip().removesuffix("\\")

    def _flush(self, mark: str = "") -> None:
        text = self._taken()
        if text.strip("*~` "):
            self._block(mark + (text if mark else _LINE_START.sub(r"\\\g<0>", text)), verbatim=True)

    def _block(self, text: str, *, verbatim: bool = False) -> None:
        """Write a block, after a blank line. ``verbatim``: no open line has to be written first."""
        if not verbatim:
            self._flush()
        in_list = self._after_item or any(each.first != each.further for each in self._prefixes[:-1])
        is_next_item = bool(self._prefixes) and self._prefixes[-1].is_new_item and in_list
        if self._blocks and not is_next_item:
            self._blocks.append("".join(each.further for each in self._prefixes if each.begun).rstrip())
        self._after_item = False
        for line in text.split("\n"):
            prefix = "".join(each.further if each.begun else each.first for each in self._prefixes)
            self._blocks.append((prefix + line).rstrip())
            for each in self._prefixes:
                each.begun = True

    def _row(self) -> None:
        row = f"| {' | '.join(self._cells)} |"
        if self._tight:
            self._block(f"{row}\n|{'---|' * len(self._cells)}")
        else:
            self._blocks.append("".join(each.further for each in self._prefixes) + row)
        self._cells.clear()
        self._tight = False
