"""SiteOptions: what a site needs to know that its configuration file does not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """The few choices of who builds or serves a site. With the defaults a reader's browser asks no other host for
    anything.

    ``base_url`` is the absolute address that the site will be published under: sitemap.xml and canonical links need it.
    ``repository`` is the address of the code's home for the feedback buttons, down to the folder of the pages
    (``https://github.com/owner/name/tree/main/docs``); without it the call to action of the code-host type is taken.
    ``relay`` is the path, relative to the site's root, under which a relay takes the playground's requests; None: none.
    ``external_media`` lets pages show images and frames of other hosts; else a link stands in their stead.
    ``repository_facts`` lets a reader's browser ask the code host for the star count.
    ``documents`` are OpenAPI documents that the configuration names by a web address, by that address: nothing is
    fetched while a site is rendered.
    """

    base_url: str | None = None
    repository: str | None = None
    relay: str | None = None
    external_media: bool = False
    repository_facts: bool = False
    documents: Mapping[str, str | bytes] = field(default_factory=dict)
