"""Site options that are not in the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Options for building or serving a site. By default a reader's browser contacts no other host."""

    base_url: str | None = None
    """Absolute address of the published site, for sitemap.xml and canonical links."""
    repository: str | None = None
    """Address of the pages' folder at the code host, for the feedback buttons:
    ``https://github.com/owner/name/tree/main/docs``. If it is None, ``build`` and ``site_app`` take the remote of the
    folder's git repository."""
    relay: str | None = None
    """Path of the playground's relay, relative to the site's root; None: no relay."""
    external_media: bool = False
    """Show images and frames of other hosts; otherwise pages link to them."""
    repository_facts: bool = False
    """Let browsers request the repository's star count from its host."""
    clean_urls: bool = False
    """Write links to pages without ``.html``: ``guides/start``, and ``guides/`` for its index. The files keep their
    names, so the host must serve ``guides/start.html`` at ``guides/start``."""
    documents: Mapping[str, str | bytes] = field(default_factory=dict)
    """Web address -> text of an OpenAPI document that was fetched from there. Rendering does no I/O, so it cannot fetch
    the documents itself."""
