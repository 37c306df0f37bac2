"""Writes the CSS for a configuration file: colours for both modes, the background image, and rules for versions.

The colours are in a stylesheet because the policy forbids style attributes. From the configuration file, only hex
digits and percent-encoded addresses are written into the stylesheet. Filled areas keep the configured colour; text and
outlines get the nearest shade that is readable on the backgrounds of the mode (WCAG 2.2, success criteria 1.4.3 and
1.4.11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from tenantry_site.addresses import Addresses, AddressKind, relative_url
from tenantry_site.config.model import Colors, Gradient, SiteConfig

TEXT = 4.5
"""Minimum contrast of text with its background (WCAG 2.2, 1.4.3, level AA)."""

GRAPHICS = 3.0
"""Minimum contrast of graphics and of the border of a control with their background (WCAG 2.2, 1.4.11)."""

MIDDLE = 0.1791
"""The luminance of a background on which black and white are equally readable."""

BLACK, WHITE = "000000", "ffffff"

_HEX = re.compile(r"#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_STEPS = 100


def read(value: str | None) -> str | None:
    """The six digits of a hex colour of 3, 4, 6 or 8 digits, without transparency; None if invalid."""
    found = _HEX.fullmatch(value.strip()) if value else None
    if not found:
        return None
    digits = found[1].lower()
    return "".join(digit * 2 for digit in digits[:3]) if len(digits) < 6 else digits[:6]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two six-digit colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def least(colour: str, backgrounds: tuple[str, ...]) -> float:
    """The lowest contrast of a colour with any of the backgrounds."""
    return min(contrast(colour, background) for background in backgrounds)


def readable(colour: str, backgrounds: tuple[str, ...], ratio: float = TEXT) -> str:
    """The colour, mixed with just enough black or white for a contrast of at least ``ratio`` with every background.

    If no mixture suffices, the result is black or white.
    """
    end = ink(*backgrounds)
    for step in range(_STEPS):
        mixed = mix(colour, end, step / _STEPS)
        if least(mixed, backgrounds) >= ratio:
            return mixed
    return end


def ink(*backgrounds: str) -> str:
    """White if it is readable on all backgrounds; else black or white, whichever has the higher contrast."""
    if least(WHITE, backgrounds) >= TEXT:
        return WHITE
    return max((BLACK, WHITE), key=lambda colour: least(colour, backgrounds))


def mix(colour: str, other: str, share: float) -> str:
    """Mix a share (0 to 1) of ``other`` into a colour."""
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def luminance(colour: str) -> float:
    """The relative luminance of a six-digit colour, from 0 to 1 (WCAG 2.2)."""
    red, green, blue = (_linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[0:2], 16), int(colour[2:4], 16), int(colour[4:6], 16)


PATH = "assets/site.css"
"""Path of the stylesheet from the site's root. The addresses in the stylesheet are relative to it."""


def colors_css(config: SiteConfig, addresses: Addresses | None = None) -> str:
    """The CSS of a site: design tokens, colours of anchors, the background image, and rules for versions.

    ``addresses``: used to check that the background image exists; None: assume that it exists.
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
        yield from _icon_background(".anchor-icon", everyone)
    for number, anchor in enumerate(config.anchors):
        if anchor.color is not None:
            yield from _icon_background(f".anchor-icon-{number}", anchor.color)


def _icon_background(selector: str, color: str | Gradient) -> Iterator[str]:
    """An icon's background. The icon is white if that is readable on all of it, else black."""
    given = (color,) if isinstance(color, str) else (color.from_, color.via, color.to)
    stops = tuple(stop for stop in map(read, given) if stop)
    if not stops:
        return
    glyph = WHITE if least(WHITE, stops) >= GRAPHICS else BLACK
    if len(stops) == 1:
        background = f"background:#{stops[0]}"
    else:
        background = f"background:linear-gradient(135deg,{','.join(f'#{stop}' for stop in stops)})"
    yield f".anchors {selector}{{{background};border-color:transparent;color:#{glyph}}}"


def _image(config: SiteConfig, addresses: Addresses | None) -> Iterator[str]:
    """The rule for the background image. An image on another host is left out."""
    if not config.background_image:
        return
    found = (addresses or Addresses((), ())).resolve("index", config.background_image)
    if found.kind is AddressKind.FILE or (addresses is None and found.kind is AddressKind.MISSING):
        yield f'.backdrop::before{{background-image:url("{relative_url(PATH, found.path)}")}}'


def _versions(config: SiteConfig) -> Iterator[str]:
    """CSS rules that hide the elements of all versions except the selected one."""
    for number in range(len(config.versions)):
        yield f'[data-version="{number}"] [data-shown-in]:not([data-shown-in~="{number}"]){{display:none}}'


TEXTS = ("text", "quiet", "good", "warn", "bad")
GRAPHIC = ("line-control", "context", *(f"data-{number}" for number in range(1, 9)))

SURFACE, LINE = 0.04, 0.13
"""Shares of black or white that are mixed into a configured background for surfaces and for lines."""


def palettes(colors: Colors | None) -> tuple[dict[str, str], dict[str, str]]:
    """The design tokens that a site changes, for light mode and for dark mode. Both dicts have the same names."""
    if colors is None:
        return {}, {}
    background = colors.background
    light = _mode_tokens(colors, read(colors.primary), read(background.light if background else None), dark=False)
    dark = _mode_tokens(
        colors, read(colors.light or colors.primary), read(background.dark if background else None), dark=True
    )
    base_light, base_dark = tokens()
    names = sorted(light.keys() | dark.keys())
    return (
        {name: light.get(name, base_light[name]) for name in names},
        {name: dark.get(name, base_dark[name]) for name in names},
    )


def _mode_tokens(colors: Colors, accent: str | None, background: str | None, *, dark: bool) -> dict[str, str]:
    base = tokens()[dark]
    found: dict[str, str] = {}
    if background is not None:
        is_dark = luminance(background) < MIDDLE
        base = tokens()[is_dark]
        # a dark background in light mode, or a light one in dark mode, needs all tokens of the other mode
        found = (base | {}) if is_dark != dark else {}
        found |= _background_tokens(base, background)
    merged = base | found
    backgrounds = (merged["page"].lstrip("#"), merged["surface"].lstrip("#"))
    if accent is not None:
        shade = readable(accent, backgrounds)
        found |= {"accent": shade, "on-accent": ink(shade), "fill": accent, "on-fill": ink(accent)}
    button = read(colors.dark) or accent
    if button is not None:
        edge = button if least(button, backgrounds[:1]) >= GRAPHICS else merged["line-control"].lstrip("#")
        found |= {"button": button, "on-button": ink(button), "button-line": edge}
    return {name: value if value.startswith(("#", "rgb", "0 ")) else f"#{value}" for name, value in found.items()}


def _background_tokens(base: dict[str, str], page: str) -> dict[str, str]:
    """The tokens that depend on a configured background. ``base``: the tokens of the mode, whose colours are adapted to
    the background."""
    side = WHITE if luminance(page) < MIDDLE else BLACK
    surface = mix(page, side, SURFACE)
    # If the page is medium grey, even black or white text needs the unmixed background.
    if least(side, (surface,)) < 4.6:
        surface = page
    backgrounds = (page, surface)
    found = {"page": page, "surface": surface, "line": mix(page, side, LINE)}
    found |= {name: readable(base[name].lstrip("#"), backgrounds) for name in (*TEXTS, "accent")}
    found |= {name: readable(base[name].lstrip("#"), backgrounds, GRAPHICS) for name in GRAPHIC}
    return found | {"on-accent": ink(found["accent"])}


_TOKEN = re.compile(r"--([a-z0-9-]+):\s*([^;]+);")


@cache
def tokens() -> tuple[dict[str, str], dict[str, str]]:
    """The design tokens whose values differ between modes: their values in light mode, and in dark mode."""
    text = (files("tenantry_site") / "static" / "bundles" / "tokens.css").read_text(encoding="utf-8")
    light, dark, *_ = re.split(r"^@media", text, flags=re.MULTILINE)
    of_dark = dict(_TOKEN.findall(dark))
    return {name: value for name, value in _TOKEN.findall(light) if name in of_dark}, of_dark
