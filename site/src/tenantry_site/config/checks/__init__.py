"""The checks of one field against another, and against the files of the site."""

from __future__ import annotations

from collections.abc import Collection

from tenantry_site.config.checks.belonging import check_belonging
from tenantry_site.config.checks.files import check_files
from tenantry_site.config.checks.pages import check_pages
from tenantry_site.config.checks.redirects import check_redirects
from tenantry_site.config.checks.twice import check_twice
from tenantry_site.config.checks.versions import check_versions
from tenantry_site.config.checks.wholes import check_wholes
from tenantry_site.config.walk import Walk

__all__ = ["check_all"]


def check_all(walk: Walk, files: Collection[str] | None) -> None:
    """Says what is wrong between the fields that were read. ``files``: all paths of the site's folder, if known."""
    check_pages(walk, files)
    check_files(walk, files)
    check_versions(walk)
    check_belonging(walk, files)
    check_redirects(walk)
    check_twice(walk)
    check_wholes(walk)
