"""Makes files for crawlers: pages as Markdown, ``llms.txt`` (llmstxt.org), ``sitemap.xml`` and ``robots.txt``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from urllib.parse import quote

from tenantry_site.addresses import page_path, page_url
from tenantry_site.config.model import Group, SiteConfig
from tenantry_site.page import FrontMatter, Page
from tenantry_site.templating import render_template


def markdown_path(path: str) -> str:
    return f"{path}.md"


def markdown(page: Page) -> bytes:
    """The Markdown file of a page: its title, description and text."""
    text = page.markdown.strip()
    pieces = [] if text.startswith("# ") else [f"# {page.title}"]
    if page.front.description:
        pieces.append(f"> {' '.join(page.front.description.split())}")
    return "\n\n".join([*pieces, text]).rstrip().encode("utf-8", "replace") + b"\n"


def llms(
    name: str,
    front_matters: Mapping[str, FrontMatter],
    order: Iterable[str],
    breadcrumbs: Mapping[str, tuple[str, ...]],
    base_url: str | None,
) -> bytes:
    """The file ``llms.txt``. ``name``: the site's name. ``order``: the pages of the navigation. ``breadcrumbs``: page
    -> its groups. ``base_url``: prefix that makes links absolute. Pages with ``noindex`` are left out."""
    pages = list(order)
    about = next((front_matters[path].description for path in ("index", *pages) if path in front_matters), "")
    lines = [f"# {_one_line(name)}", ""]
    if about:
        lines += [f"> {_one_line(about)}", ""]
    before: tuple[str, ...] | None = None
    for path in pages:
        front_matter = front_matters.get(path)
        if front_matter is None or front_matter.noindex:
            continue
        groups = breadcrumbs.get(path, ())
        if groups != before:
            lines += [*([] if before is None else [""]), f"## {_one_line(' / '.join(groups)) or 'Pages'}", ""]
            before = groups
        lines.append(_entry(path, front_matter, base_url))
    return "\n".join(lines).rstrip().encode("utf-8", "replace") + b"\n"


def _entry(path: str, front_matter: FrontMatter, base_url: str | None) -> str:
    href = quote(markdown_path(path))
    if base_url:
        href = f"{base_url.rstrip('/')}/{href}"
    title = _one_line(front_matter.title or front_matter.sidebar_title or path).replace("[", "\\[").replace("]", "\\]")
    return f"- [{title}]({href})" + (f": {_one_line(front_matter.description)}" if front_matter.description else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


LLMS_FULL = "llms-full.txt"


def llms_full(name: str, texts: Iterable[bytes]) -> bytes:
    """The file ``llms-full.txt``: the Markdown files of the pages, one below the other."""
    return b"\n---\n\n".join([f"# {_one_line(name)}\n".encode("utf-8", "replace"), *texts])


SITEMAP = "sitemap.xml"
_MOST = 50_000
"""Maximum number of addresses in one sitemap (sitemaps.org); further pages are left out."""


def sitemap(base_url: str, pages: Iterable[str], *, clean_urls: bool = False) -> bytes:
    """The file ``sitemap.xml`` with the addresses of the pages."""
    addresses = [page_url(base_url, page, clean=clean_urls) for page in islice(pages, _MOST)]
    return render_template("outputs/sitemap.xml", addresses=addresses).encode()


def robots(base_url: str) -> bytes:
    """The file ``robots.txt``, which allows everything and names the sitemap."""
    return f"User-agent: *\nAllow: /\n\nSitemap: {base_url.rstrip('/')}/{SITEMAP}\n".encode()


def breadcrumbs(config: SiteConfig) -> dict[str, tuple[str, ...]]:
    """Page of the navigation -> titles of its groups, outermost first. For a page listed twice, the groups of the first
    entry."""
    found: dict[str, tuple[str, ...]] = {}
    for group in config.navigation:
        for path, titles in _group_breadcrumbs(group, ()):
            found.setdefault(path, titles)
    return found


def _group_breadcrumbs(group: Group, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    titles = (*above, group.group) if group.group else above
    for page in group.pages:
        if isinstance(page, Group):
            yield from _group_breadcrumbs(page, titles)
        else:
            path = page_path(page)
            if path is not None:
                yield path, titles
