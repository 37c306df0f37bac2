"""Renders pages of Markdown, with front matter, components and raw HTML, to safe HTML. Never runs code from a page."""

from tenantry_site.markdown.block_renderer import title_text
from tenantry_site.markdown.front_matter import front_matter
from tenantry_site.markdown.jsx_components import SUFFIXES as SUFFIXES_OF_CODE
from tenantry_site.markdown.page_context import CODES
from tenantry_site.markdown.reader import PageReader

__all__ = ["CODES", "SUFFIXES_OF_CODE", "PageReader", "front_matter", "title_text"]
