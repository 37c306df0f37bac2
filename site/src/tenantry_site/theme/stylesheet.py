"""Stylesheet: what of the configuration file becomes CSS.

Pages have no style attribute, so that their policy can forbid them all. Only hex digits and addresses with everything
unusual percent-encoded get in.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenantry_site.addresses import Addresses, AddressKind, relative_url
from tenantry_site.config.model import Gradient, SiteConfig
from tenantry_site.contrast import BLACK, GRAPHICS, WHITE, least, read
from tenantry_site.theme.palette import palettes

FOLDER = "assets/site.css"
"""Where the stylesheet stands, as far as the addresses within it go."""


def colors_css(config: SiteConfig, addresses: Addresses | None = None) -> str:
    """The end of the site's stylesheet: tokens, the colours of anchors, the background image, and versions.

    Without ``addresses`` a background image is taken to be where the file says.
    """
    return "".join(
        f"{rule}\n" for rule in (*_tokens(config), *_anchors(config), *_image(config, addresses), *_versions(config))
    )


def _tokens(config: SiteConfig) -> Iterator[str]:
    light, dark = ("".join(f"--{name}:{value};" for name, value in mode.items()) for mode in palettes(config.colors))
    if light:
        yield f":root{{{light}}}"
        yield f'@media screen and (prefers-color-scheme:dark){{:root:where(:not([data-mode="light"])){{{dark}}}}}'
        yield f'@media screen{{:root:where([data-mode="dark"]){{{dark}}}}}'


def _anchors(config: SiteConfig) -> Iterator[str]:
    everyone = config.colors.anchors if config.colors else None
    if everyone is not None:
        yield from _ground(".anchor-icon", everyone)
    for place, anchor in enumerate(config.anchors):
        if anchor.color is not None:
            yield from _ground(f".anchor-icon-{place}", anchor.color)


def _ground(selector: str, color: str | Gradient) -> Iterator[str]:
    """The ground of an icon, and white for the icon where it stands out from all of it, else black."""
    given = (color,) if isinstance(color, str) else (color.from_, color.via, color.to)
    stops = tuple(stop for stop in map(read, given) if stop)
    if not stops:
        return
    glyph = WHITE if least(WHITE, stops) >= GRAPHICS else BLACK
    if len(stops) == 1:
        ground = f"background:#{stops[0]}"
    else:
        ground = f"background:linear-gradient(135deg,{','.join(f'#{stop}' for stop in stops)})"
    yield f".anchors {selector}{{{ground};border-color:transparent;color:#{glyph}}}"


def _image(config: SiteConfig, addresses: Addresses | None) -> Iterator[str]:
    """The picture behind every page. One of another host is left out: a stylesheet cannot ask whether it may."""
    if not config.background_image:
        return
    found = (addresses or Addresses((), ())).resolve("index", config.background_image)
    if found.kind is AddressKind.FILE or (addresses is None and found.kind is AddressKind.MISSING):
        yield f'.backdrop::before{{background-image:url("{relative_url(FOLDER, found.path)}")}}'


def _versions(config: SiteConfig) -> Iterator[str]:
    """What does not belong to the version that the page is marked with is hidden."""
    for place in range(len(config.versions)):
        yield f'[data-version="{place}"] [data-shown-in]:not([data-shown-in~="{place}"]){{display:none}}'
