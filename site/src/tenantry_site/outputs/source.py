"""Source: a page as Markdown, for a reader that wants no HTML."""

from __future__ import annotations

from tenantry_site.page import Page


def markdown_path(path: str) -> str:
    """The file that a page's Markdown is written to, beside its HTML."""
    return f"{path}.md"


def markdown(page: Page) -> bytes:
    """Title, description and text."""
    text = page.markdown.strip()
    pieces = [] if text.startswith("# ") else [f"# {page.title}"]
    if page.front.description:
        pieces.append(f"> {' '.join(page.front.description.split())}")
    return "\n\n".join([*pieces, text]).rstrip().encode("utf-8", "replace") + b"\n"
