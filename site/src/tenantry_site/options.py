"""Site options that are not in the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Options for building or serving a site.

    By default a reader's browser contacts no other host. ``base_url``: absolute address of the published site, for
    sitemap.xml and canonical links. ``repository``: address of the pages' folder at the code host
    (``https://github.com/owner/name/tree/main/docs``), for the feedback buttons; None: the repository of a
    ``topbarCtaButton`` of type ``github``. ``relay``: path of the playground's relay, relative to the site's root;
    None: no relay. ``external_media``: show images and frames of other hosts; otherwise pages link to them.
    ``repository_facts``: let browsers request the repository's star count from its host. ``documents``: web address ->
    text of an OpenAPI document, because rendering fetches nothing.
    """

    base_url: str | None = None
    repository: str | None = None
    relay: str | None = None
    external_media: bool = False
    repository_facts: bool = False
    documents: Mapping[str, str | bytes] = field(default_factory=dict)
