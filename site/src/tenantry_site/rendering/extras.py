"""Extras: the files of a site beside its pages, their Markdown and its assets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenantry_site.options import SiteOptions
from tenantry_site.outputs import SearchIndex, SearchPart, breadcrumbs, llms, robots, sitemap
from tenantry_site.rendering.plan import Plan

NOT_FOUND: Final = "404.html"


def extras(plan: Plan, options: SiteOptions) -> Iterator[tuple[str, bytes]]:
    """What follows from the plan alone. A file that the author wrote under one of these names goes before ours."""
    for path, content in _ours(plan, options):
        if path not in plan.assets:
            yield path, content
    yield from plan.statics.files.items()
    yield from plan.redirects.pages()


def _ours(plan: Plan, options: SiteOptions) -> Iterator[tuple[str, bytes]]:
    if "404" not in plan.manuscripts:
        yield NOT_FOUND, plan.theme.not_found().encode("utf-8", "replace")
    heads = {path: manuscript.head for path, manuscript in plan.manuscripts.items()}
    listed = plan.navigation.order
    yield "llms.txt", llms(plan.config.name, heads, listed, breadcrumbs(plan.config), options.base_url)
    if options.base_url:
        found = (path for path, head in heads.items() if not head.noindex and path != "404")
        yield "sitemap.xml", sitemap(options.base_url, found)
        yield "robots.txt", robots(options.base_url)


def fill(index: SearchIndex, plan: Plan, parts: Mapping[str, tuple[SearchPart, ...]]) -> bool:
    """Brings the search index up to date: all pages, each with its group and, where it does not belong to all, its
    versions. False if nothing has changed."""
    return index.fill(parts, dict(_labels(plan)))


def _labels(plan: Plan) -> Iterator[tuple[str, str]]:
    groups = breadcrumbs(plan.config)
    names = [version.name for version in plan.config.versions]
    for path in plan.manuscripts:
        shown = [" / ".join(groups.get(path, ()))]
        versions = plan.navigation.versions(path) if names else None
        if versions is not None:
            shown.append(", ".join(names[place] for place in sorted(versions)))
        yield path, " · ".join(filter(None, shown))
