"""Balanced: HTML that closes what it opens and runs nothing."""

from __future__ import annotations

from html.parser import HTMLParser


class Balanced(HTMLParser):
    """Notes what is not closed, and what could run."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"input", "br", "hr", "img", "meta", "link", "path"}:
            self.open.append(tag)
        if tag in {"script", "style", "iframe", "object"}:
            self.bad.append(tag)
        for name, value in attrs:
            leads = name == "href" and (value or "").strip().lower().startswith("javascript:")
            if leads or name == "style" or name.startswith("on"):
                self.bad.append(f"{name}={value}")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.bad.append(f"</{tag}>")
