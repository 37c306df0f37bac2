"""Breadcrumbs: the titles of the groups of the navigation around each page."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry_site.addresses import page_path
from tenantry_site.config.model import Group, SiteConfig


def breadcrumbs(config: SiteConfig) -> dict[str, tuple[str, ...]]:
    """The titles of the groups around each page that the navigation names, from the top; where it is listed first."""
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
