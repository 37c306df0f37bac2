"""Colours: exact where they fill, readable where they are text, and nothing but colours in the stylesheet."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site.addresses import Addresses
from tenantry_site.theme import colors_css
from tenantry_site.theme.stylesheet import contrast, least, read, tokens
from tests.theme.sample import STYLESHEETS, config, static

TEXTS = ("text", "quiet", "accent", "good", "warn", "bad")


def modes(**colors: object) -> tuple[dict[str, str], dict[str, str]]:
    """The tokens that hold in each mode."""
    css = colors_css(config(colors={"primary": "#0d9373", **colors}, anchors=None, versions=None))
    light, dark, forced = re.findall(r"\{(--[^}]*)\}", css)
    assert dark == forced
    both = [dict(re.findall(r"--([a-z0-9-]+):([^;]*);", block)) for block in (light, dark)]
    assert both[0].keys() == both[1].keys()
    base = tokens()
    return base[0] | both[0], base[1] | both[1]


def worst(mode: dict[str, str], name: str) -> float:
    """The contrast of a token with the worse of the two grounds."""
    return least(mode[name].lstrip("#"), (mode["page"].lstrip("#"), mode["surface"].lstrip("#")))


_HEX = st.from_regex(r"#[0-9a-f]{6}", fullmatch=True)


@settings(deadline=None, max_examples=examples(60))
@given(_HEX, st.none() | _HEX, st.none() | _HEX, st.none() | _HEX, st.none() | _HEX)
def test_any_colours_leave_every_text_readable(
    primary: str, light: str | None, dark: str | None, day: str | None, night: str | None
) -> None:
    """4.5:1 in both modes, on any ground, the accent as text and what stands on what is filled with it included.

    Red when ``readable`` gives the colour back as it is, and when a ground that is given moves no other colour.
    """
    for mode in modes(primary=primary, light=light, dark=dark, background={"light": day, "dark": night}):
        for name in TEXTS:
            assert worst(mode, name) >= 4.5, (name, mode)
        for over, under in (("on-accent", "accent"), ("on-fill", "fill"), ("on-button", "button")):
            assert contrast(mode[over].lstrip("#"), mode[under].lstrip("#")) >= 4.5
        assert contrast(mode["button-line"].lstrip("#"), mode["page"].lstrip("#")) >= 3
        assert worst(mode, "line-control") >= 3


def test_what_is_filled_has_exactly_the_colour_that_was_given() -> None:
    """primary in light mode, light in dark mode, dark for the buttons of both. A pale one is darkened for text only."""
    light, dark = modes(primary="#ffe14d", light="#ffe14d", dark="#123456")
    assert light["fill"] == dark["fill"] == "#ffe14d"
    assert light["button"] == dark["button"] == "#123456"
    assert light["accent"] != "#ffe14d"
    assert dark["accent"] == "#ffe14d"
    assert light["on-fill"] == "#000000"


def test_a_readable_colour_stays_as_it_is() -> None:
    """Also as text; without light, primary does for the dark mode as well."""
    light, dark = modes(primary="#2f5bd8")
    assert light["accent"] == light["fill"] == light["button"] == "#2f5bd8"
    assert dark["fill"] == "#2f5bd8"


def test_one_side_of_the_background_is_enough() -> None:
    """The other keeps its own. Red when the dark ground is shown in light mode too."""
    light, dark = modes(background={"dark": "#0a0a23"})
    assert (light["page"], dark["page"]) == ("#ffffff", "#0a0a23")
    light, dark = modes(background={"light": "#fffbeb"})
    assert (light["page"], dark["page"]) == ("#fffbeb", "#0f1115")


def test_a_dark_ground_in_light_mode_brings_the_dark_colours() -> None:
    """A site that is dark in both modes: data and lines are those of the dark."""
    light, _ = modes(background={"light": "#0a0a23", "dark": "#0a0a23"})
    assert light["lift"] == tokens()[1]["lift"]
    assert contrast(light["data-2"].lstrip("#"), "0a0a23") >= 3


@pytest.mark.parametrize("value", ["red", "#12", "#12345", "}", "#fff;}", "url(x)", "#ffffff\n", None, "rgb(1,2,3)"])
def test_only_hex_digits_get_in(value: str | None) -> None:
    """A model that was made by hand holds anything. Red when ``read`` searches instead of matching in full."""
    assert read(value) in {None, "ffffff"}
    css = colors_css(
        config(
            colors={"primary": value or "", "anchors": value or "", "background": {"light": value}},
            anchors=[{"name": "A", "url": "a", "color": {"from": value or "", "to": value or ""}}],
            backgroundImage='x");} * { background: url("https://spy.example/',
        ),
        Addresses((), ('x");} * { background: url("https:/spy.example',)),
    )
    assert "spy.example" not in re.sub(r'url\("[^"]*"\)', "", css)
    assert value is None or value.strip() == "#ffffff" or value not in css.replace("}", "") or value == "}"
    assert css.count("{") == css.count("}")


def test_anchors_have_their_ground_and_their_icon_stands_out() -> None:
    """colors.anchors for all, a colour or a gradient of each, by class. White where it can be told apart."""
    css = colors_css(config())
    assert ".anchors .anchor-icon{background:linear-gradient(135deg,#0d9373,#2f5bd8);" in css
    assert ".anchors .anchor-icon-0{background:#b35c00;border-color:transparent;color:#ffffff}" in css
    assert ".anchors .anchor-icon-3{background:linear-gradient(135deg,#a03c8f,#f0a35e);" in css
    assert ".anchor-icon-1" not in css


def test_the_background_image_and_the_versions() -> None:
    """The picture by its way from the stylesheet; a rule for each version."""
    addresses = Addresses((), ("background.svg",))
    assert '.backdrop::before{background-image:url("../background.svg")}' in colors_css(config(), addresses)
    assert "background-image" not in colors_css(config(), Addresses((), ()))
    assert "background-image" not in colors_css(config(backgroundImage="https://h.example/a.png"))
    assert '[data-version="2"] [data-shown-in]:not([data-shown-in~="2"]){display:none}' in colors_css(config())


def test_both_lists_of_the_dark_mode_are_the_same() -> None:
    """By the system, and by a mark on the page. Red when one token is changed in one of them."""
    text = (files("tenantry_site") / "static" / "bundles" / "tokens.css").read_text(encoding="utf-8")
    by_system, by_mark = re.findall(r":root:where\([^{]*\{([^}]*)\}", text)
    assert by_system == by_mark


def test_only_the_tokens_hold_a_colour() -> None:
    """Red when a stylesheet has a #rrggbb of its own."""
    for name in STYLESHEETS[1:7]:
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?!-)|\brgba?\(|\bhsla?\(", static(name)) == [], name


def test_every_token_that_is_used_exists() -> None:
    """Red when site.css names a token that tokens.css lacks."""
    own = {"above"}
    known = set(re.findall(r"--([a-z0-9-]+):", static("bundles/tokens.css"))) | own
    for name in STYLESHEETS[1:7]:
        assert set(re.findall(r"var\(--([a-z0-9-]+)", static(name))) <= known, name
