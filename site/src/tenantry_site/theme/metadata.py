"""Metadata: what the head of a page says about it to search engines and to whoever shows a link to it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tenantry_site.page import Page

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9:._-]{0,80}")

PROPERTIES = ("og:", "article:", "book:", "profile:", "fb:", "music:", "video:")
"""What is a property (RDFa) and not a name."""

OURS = frozenset(
    {"charset", "color-scheme", "description", "keywords", "referrer", "robots", "theme-color", "viewport"}
)
"""Names that are not a page's to set: they would change how the page works, or are said elsewhere."""


def metadata(page: Page, site: str, canonical: str) -> dict[str, object]:
    """The values of the template: ``properties`` and ``names`` as pairs, the page's own before the derived ones."""
    derived = {
        "og:title": page.title,
        "og:description": page.front.description,
        "og:type": "website",
        "og:site_name": site,
        "og:url": canonical,
    }
    given = {key: value for key, value in page.front.meta.items() if _NAME.fullmatch(key) and key.lower() not in OURS}
    whole: Mapping[str, str] = {key: value for key, value in (derived | given).items() if value}
    return {
        "description": page.front.description,
        "keywords": ", ".join(page.front.keywords),
        "noindex": page.front.noindex or "noindex" in str(page.front.meta.get("robots", "")).lower(),
        "properties": [pair for pair in whole.items() if pair[0].startswith(PROPERTIES)],
        "names": [pair for pair in whole.items() if not pair[0].startswith(PROPERTIES)],
    }
