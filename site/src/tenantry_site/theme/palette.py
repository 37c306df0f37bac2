"""Palette: the tokens that the colours of the configuration file replace, so that everything stays readable.

What is filled with a colour has exactly the colour that was given. Text, and what else must be told from the page, gets
the nearest shade that is readable on the grounds of its mode; a ground that is given moves every other colour with it.
"""

from __future__ import annotations

from tenantry_site.config.model import Colors
from tenantry_site.contrast import BLACK, GRAPHICS, MIDDLE, WHITE, ink, least, luminance, mix, read, readable
from tenantry_site.theme.resources import tokens

TEXTS = ("text", "quiet", "good", "warn", "bad")
GRAPHIC = ("line-control", "context", *(f"data-{number}" for number in range(1, 9)))

SURFACE, LINE = 0.04, 0.13
"""How much of the text's side is mixed into a ground that was given."""


def palettes(colors: Colors | None) -> tuple[dict[str, str], dict[str, str]]:
    """The tokens to set in light and in dark mode: the same names in both."""
    if colors is None:
        return {}, {}
    background = colors.background
    light = _mode(colors, read(colors.primary), read(background.light if background else None), dark=False)
    dark = _mode(colors, read(colors.light or colors.primary), read(background.dark if background else None), dark=True)
    base_light, base_dark = tokens()
    names = sorted(light.keys() | dark.keys())
    return (
        {name: light.get(name, base_light[name]) for name in names},
        {name: dark.get(name, base_dark[name]) for name in names},
    )


def _mode(colors: Colors, accent: str | None, ground: str | None, *, dark: bool) -> dict[str, str]:
    base = tokens()[dark]
    found: dict[str, str] = {}
    if ground is not None:
        is_dark = luminance(ground) < MIDDLE
        base = tokens()[is_dark]
        # a dark ground in light mode, or the other way round, needs the whole other set
        found = (base | {}) if is_dark != dark else {}
        found |= _grounds(base, ground)
    whole = base | found
    grounds = (whole["page"].lstrip("#"), whole["surface"].lstrip("#"))
    if accent is not None:
        shade = readable(accent, grounds)
        found |= {"accent": shade, "on-accent": ink(shade), "fill": accent, "on-fill": ink(accent)}
    button = read(colors.dark) or accent
    if button is not None:
        edge = button if least(button, grounds[:1]) >= GRAPHICS else whole["line-control"].lstrip("#")
        found |= {"button": button, "on-button": ink(button), "button-line": edge}
    return {name: value if value.startswith(("#", "rgb", "0 ")) else f"#{value}" for name, value in found.items()}


def _grounds(base: dict[str, str], page: str) -> dict[str, str]:
    """The colours around a ground that was given."""
    side = WHITE if luminance(page) < MIDDLE else BLACK
    surface = mix(page, side, SURFACE)
    if least(side, (surface,)) < 4.6:  # a middling grey: there is no room between the two
        surface = page
    grounds = (page, surface)
    found = {"page": page, "surface": surface, "line": mix(page, side, LINE)}
    found |= {name: readable(base[name].lstrip("#"), grounds) for name in (*TEXTS, "accent")}
    found |= {name: readable(base[name].lstrip("#"), grounds, GRAPHICS) for name in GRAPHIC}
    return found | {"on-accent": ink(found["accent"])}
