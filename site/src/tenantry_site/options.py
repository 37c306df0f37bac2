"""Site options that are not in the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Options for building or serving a site.

    By default a reader's browser contacts no other host. ``base_url``: the published absolute address, for
    sitemap.xml and canonical links. ``repository``: the pages' folder at the code host
    (``https://github.com/owner/name/tree/main/docs``), for feedback buttons; default: the code host's call to action.
    ``relay``: the path, relative to the root, of the playground's relay; None: none. ``external_media``: show images
    and frames of other hosts instead of links. ``repository_facts``: browsers request the star count. ``documents``:
    OpenAPI documents by web address; rendering fetches nothing.
    """

    base_url: str | None = None
    repository: str | None = None
    relay: str | None = None
    external_media: bool = False
    repository_facts: bool = False
    documents: Mapping[str, str | bytes] = field(default_factory=dict)
