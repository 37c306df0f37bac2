"""Markdown: pages with front matter, components and raw HTML, read to safe HTML. No code of a page is ever run."""

from tenantry_site.markdown.front_matter import front_matter
from tenantry_site.markdown.page_context import CODES
from tenantry_site.markdown.reader import PageReader

__all__ = ["CODES", "PageReader", "front_matter"]
