"""Renders pages of Markdown, with front matter, components and raw HTML, to safe HTML. Never runs code from a page."""

from tenantry_site.markdown.block_renderer import OWN_ID
from tenantry_site.markdown.front_matter import front_matter
from tenantry_site.markdown.page_context import CODES
from tenantry_site.markdown.reader import PageReader

__all__ = ["CODES", "OWN_ID", "PageReader", "front_matter"]
