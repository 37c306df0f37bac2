"""RenderedSite: a whole site in memory."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic
from tenantry_site.options import SiteOptions
from tenantry_site.rendering.pictures import left_out, runs
from tenantry_site.rendering.site import Site


class RenderedSite(dict[str, bytes]):
    """The finished files by their paths. ``config`` is None, and there are no files, if the configuration file cannot
    be read; ``diagnostics`` says why, and what else there is to say."""

    config: SiteConfig | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def render(files: Mapping[str, str | bytes], options: SiteOptions = SiteOptions()) -> RenderedSite:  # noqa: B008
    """Makes a site of the files of a folder, given by their paths within it. Reads nothing else, and never raises for
    what is in them."""
    site = Site(options, remember=False)
    rendered = RenderedSite(site.update(files))
    said: list[Diagnostic] = []
    for path in sorted(site.assets):
        found = files[path]
        content = found.encode("utf-8", "replace") if isinstance(found, str) else found
        if path.lower().endswith(".svg") and runs(content):
            said.append(left_out(path))
        else:
            rendered.setdefault(path, content)
    rendered.config, rendered.diagnostics = site.config, (*site.diagnostics, *said)
    return rendered
