"""Contrast: the arithmetic of WCAG 2.2, which the demo and the theme of the site share."""

from __future__ import annotations

from tenantry_site.theme.stylesheet import contrast, ink, mix, read, readable


def test_contrast_is_that_of_the_standard() -> None:
    """Black on white is 21, a colour on itself 1. Red when one of the three weights or the exponent is another."""
    assert round(contrast("000000", "ffffff"), 3) == 21
    assert contrast("808080", "808080") == 1
    assert round(contrast("767676", "ffffff"), 2) == 4.54
    assert [round(contrast(each, "000000"), 2) for each in ("ff0000", "00ff00", "0000ff")] == [5.25, 15.3, 2.44]


def test_short_and_long_hex() -> None:
    """3, 4, 6 and 8 digits."""
    assert [read(each) for each in ("#abc", "#abcd", "#AABBCC", "#aabbccdd")] == ["aabbcc"] * 4


def test_a_mixture_has_its_shares() -> None:
    """A half is rounded to the even part, as Python rounds."""
    assert mix("000000", "ffffff", 0.5) == "808080"


def test_white_is_preferred_where_both_can_be_read() -> None:
    """Black where white cannot."""
    assert ink("2f5bd8") == "ffffff"
    assert ink("ffe14d") == "000000"


def test_a_colour_becomes_readable_on_itself() -> None:
    """Red when ``readable`` gives the colour back as it is."""
    assert contrast(readable("777777", ("777777",)), "777777") >= 4.5
