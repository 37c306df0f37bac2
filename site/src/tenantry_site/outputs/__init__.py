"""Makes the files for crawlers, redirects and search from the pages, without I/O. Also checks links."""

from tenantry_site.outputs.crawlers import breadcrumbs, llms, llms_full, markdown, robots, sitemap
from tenantry_site.outputs.links import CODES, PageLinks, check, page_links
from tenantry_site.outputs.redirects import Redirects, RedirectTarget, old_addresses, redirect
from tenantry_site.outputs.search_index import SearchIndex
from tenantry_site.outputs.search_page import SearchPart, search_parts

__all__ = [
    "CODES",
    "PageLinks",
    "RedirectTarget",
    "Redirects",
    "SearchIndex",
    "SearchPart",
    "breadcrumbs",
    "check",
    "llms",
    "llms_full",
    "markdown",
    "old_addresses",
    "page_links",
    "redirect",
    "robots",
    "search_parts",
    "sitemap",
]
