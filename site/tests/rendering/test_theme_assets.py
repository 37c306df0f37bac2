"""The scripts and styles of a site."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from tenantry_site.rendering import theme_assets
from tenantry_site.rendering.theme_assets import squeeze

STATIC = files("tenantry_site") / "static"
SOURCES = [*theme_assets._STYLES, *(name for names in theme_assets._SCRIPTS.values() for name in names)]


@pytest.mark.parametrize("name", SOURCES)
def test_nothing_is_lost_by_squeezing(name: str) -> None:
    """Comments and the blanks at the ends of lines. Red when a file is missing, or a string has what looks like one."""
    text = (files("tenantry_site") / name).read_text()
    code = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE) if name.endswith(".js") else text
    for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"', code):
        assert "/*" not in literal, literal
    assert code.count("`") % 2 == 0
    for literal in re.findall(r"`[^`]*`", code):
        assert "\n" not in literal, literal


def test_squeezed() -> None:
    assert squeeze("/* a\n b */\na {\n  b: c;\n}\n\n\n") == "a {\nb: c;\n}\n"


def test_each_is_used() -> None:
    """Red when a script or style is written and put into no page. What reloads pages is served by the app alone."""
    there = {f"static/{file.name}" for file in STATIC.iterdir() if file.name.endswith((".js", ".css"))}
    assert there - set(SOURCES) == {"static/reload.css", "static/reload.js"}


def test_they_are_small() -> None:
    """Red when one grows beyond what a page may weigh: all together below 120 kB before they are packed."""
    made = theme_assets.theme_assets("")
    assert sum(map(len, made.files.values())) < 120_000
    assert set(made.scripts) == {"mode", "site", "playground"}
    assert all(re.fullmatch(r"assets/\w+\.[0-9a-f]{10}\.(css|js)", path) for path in made.files)
