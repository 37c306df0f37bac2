"""The design tokens of dashboards: every text can be read on every ground, in both modes."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from tenantry_site.theme.stylesheet import contrast

TOKENS = (files("tenantry") / "static" / "bundles" / "tokens.css").read_text(encoding="utf-8")
TEXTS = ("text", "quiet", "accent", "good", "warn", "bad")
GRAPHICS = ("context", "line-control", *(f"data-{number}" for number in range(1, 9)))


def _colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z0-9-]+): #([0-9a-f]{6});", css))


def _modes() -> list[dict[str, str]]:
    light, _, dark = TOKENS.partition("@media")
    return [_colours(light), _colours(light) | _colours(dark)]


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_every_text_stands_out_from_every_ground(mode: int) -> None:
    """4.5:1 for text (WCAG 2.2, 1.4.3), 3:1 for what is drawn (1.4.11). Red with a quiet text of #8a94a3."""
    colours = _modes()[mode]
    grounds = [colours["page"], colours["surface"]]
    for name in TEXTS:
        assert min(contrast(colours[name], ground) for ground in grounds) >= 4.5, name
    for name in GRAPHICS:
        assert contrast(colours[name], colours["page"]) >= 3, name
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
