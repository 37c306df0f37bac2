"""Colours: the group's accent, and the tokens that every page uses."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.demo.app import DARK_GROUNDS, DEFAULT, LIGHT_GROUNDS, accent_of, stylesheet
from tenantry.demo.sources import AIRLINES
from tenantry.groups import Record
from tenantry_site.theme.stylesheet import TEXT, contrast, least

TOKENS = (files("tenantry") / "static" / "bundles" / "tokens.css").read_text(encoding="utf-8")
TEXTS = ("text", "quiet", "accent", "good", "warn", "bad")
GRAPHICS = ("context", "line-control", *(f"data-{number}" for number in range(1, 9)))


def _colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z0-9-]+): #([0-9a-f]{6});", css))


def _modes() -> list[dict[str, str]]:
    light, _, dark = TOKENS.partition("@media")
    return [_colours(light), _colours(light) | _colours(dark)]


@given(st.from_regex(r"[0-9a-f]{6}", fullmatch=True))
def test_any_accent_becomes_readable_in_both_modes(colour: str) -> None:
    """Red when readable returns the colour as it is."""
    light, dark = re.findall(r"--accent: #([0-9a-f]{6});", stylesheet(colour))
    assert least(light, LIGHT_GROUNDS) >= TEXT
    assert least(dark, DARK_GROUNDS) >= TEXT


def test_a_readable_accent_stays_as_it_is() -> None:
    """Each airline's own colour is the one that its light page shows."""
    assert [each.accent for each in AIRLINES if f"--accent: {each.accent};" not in stylesheet(each.accent[1:])] == []


@pytest.mark.parametrize("value", ["red", "#fff", "#ffffff;}", "url(x)", 7, None, ["#123456"], "", "#12345g"])
def test_what_is_no_colour_becomes_the_default(value: object) -> None:
    """A property never becomes part of a stylesheet. Red when COLOUR is searched for instead of matched in full."""
    assert accent_of(Record({"accent": value})) == DEFAULT
    assert accent_of(Record({})) == DEFAULT


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_every_text_stands_out_from_every_ground(mode: int) -> None:
    """4.5:1 for text (WCAG 2.2, 1.4.3), 3:1 for what is drawn (1.4.11)."""
    colours = _modes()[mode]
    grounds = [colours["page"], colours["surface"]]
    for name in TEXTS:
        assert min(contrast(colours[name], ground) for ground in grounds) >= 4.5, name
    for name in GRAPHICS:
        assert contrast(colours[name], colours["page"]) >= 3, name
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5


def test_only_the_tokens_hold_a_colour() -> None:
    """The stylesheet of the dashboard and its charts name tokens. Red when dashboard.css has a #rrggbb of its own."""
    css = (files("tenantry") / "static" / "dashboard.css").read_text(encoding="utf-8")
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(", css) == []


def test_both_grounds_are_those_of_the_tokens() -> None:
    """accent.py measures against the grounds that pages have."""
    light, dark = _modes()
    assert (light["page"], light["surface"]) == LIGHT_GROUNDS
    assert (dark["page"], dark["surface"]) == DARK_GROUNDS
