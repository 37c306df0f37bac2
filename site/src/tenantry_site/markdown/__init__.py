"""Renders pages of Markdown, with front matter, components and raw HTML, to safe HTML. Never runs code from a page."""

from tenantry_site.markdown.front_matter import front_matter
from tenantry_site.markdown.page_context import CODES
from tenantry_site.markdown.reader import PageReader

__all__ = ["CODES", "PageReader", "front_matter"]
