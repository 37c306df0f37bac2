"""LLMs: ``llms.txt``, the site in one page of links to its Markdown, for a program that reads it (llmstxt.org)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from tenantry_site.outputs.source import markdown_path
from tenantry_site.page import FrontMatter

LLMS = "llms.txt"


def llms(
    name: str,
    heads: Mapping[str, FrontMatter],
    order: Iterable[str],
    places: Mapping[str, tuple[str, ...]],
    base_url: str | None,
) -> bytes:
    """``order`` has the pages of the navigation, ``places`` their groups. Pages that ask not to be found are not in."""
    pages = list(order)
    about = next((heads[path].description for path in ("index", *pages) if path in heads), "")
    lines = [f"# {_line(name)}", ""]
    if about:
        lines += [f"> {_line(about)}", ""]
    before: tuple[str, ...] | None = None
    for path in pages:
        head = heads.get(path)
        if head is None or head.noindex:
            continue
        place = places.get(path, ())
        if place != before:
            lines += [*([] if before is None else [""]), f"## {_line(' / '.join(place)) or 'Pages'}", ""]
            before = place
        lines.append(_entry(path, head, base_url))
    return "\n".join(lines).rstrip().encode("utf-8", "replace") + b"\n"


def _entry(path: str, head: FrontMatter, base_url: str | None) -> str:
    href = quote(markdown_path(path))
    if base_url:
        href = f"{base_url.rstrip('/')}/{href}"
    title = _line(head.title or head.sidebar_title or path).replace("[", "\\[").replace("]", "\\]")
    return f"- [{title}]({href})" + (f": {_line(head.description)}" if head.description else "")


def _line(text: str) -> str:
    return " ".join(text.split())
