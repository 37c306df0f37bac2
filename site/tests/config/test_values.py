"""Values: a wrong one is reported with its remedy and never reaches the model; the rest of the file is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenantry_site.config import loads
from tests.config.reported import read, reported

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"name": 3}, "CFG041", "/name"),
    ({"name": None}, "CFG041", "/name"),
    ({"name": " "}, "CFG044", "/name"),
    ({"navigation": {"group": "g", "pages": []}}, "CFG041", "/navigation"),
    ({"navigation": "index"}, "CFG041", "/navigation"),
    ({"navigation": []}, "CFG064", "/navigation"),
    ({"favicon": {"light": "/a.svg", "dark": "/b.svg"}}, "CFG057", "/favicon"),
    ({"favicon": {"size": 3}}, "CFG041", "/favicon"),
    ({"logo": []}, "CFG041", "/logo"),
    ({"logo": {"light": "/l.svg"}}, "CFG052", "/logo"),
    ({"logo": {}}, "CFG052", "/logo"),
    ({"colors": "#123"}, "CFG041", "/colors"),
    ({"colors": {}}, "CFG043", "/colors/primary"),
    ({"colors": {"primary": "rgb(31 41 55 1)"}}, "CFG050", "/colors/primary"),
    ({"colors": {"primary": "teal"}}, "CFG050", "/colors/primary"),
    ({"colors": {"primary": "#12345678"}}, "CFG051", "/colors/primary"),
    ({"colors": {"primary": "#123", "background": "#000"}}, "CFG041", "/colors/background"),
    ({"colors": {"primary": "#123", "background": {"dark": "#000"}}}, "CFG052", "/colors/background/light"),
    ({"topbarLinks": {"name": "a", "url": "/"}}, "CFG041", "/topbarLinks"),
    ({"topbarLinks": [{"name": "a"}]}, "CFG043", "/topbarLinks/0/url"),
    ({"topbarLinks": [{"name": "a", "url": ""}]}, "CFG044", "/topbarLinks/0/url"),
    ({"topbarLinks": [{"name": "a", "url": "discord://x"}]}, "CFG048", "/topbarLinks/0/url"),
    ({"topbarLinks": [{"name": "a", "url": "github.com/a/b"}]}, "CFG049", "/topbarLinks/0/url"),
    ({"topbarCtaButton": {"type": "link", "url": "/a"}}, "CFG043", "/topbarCtaButton/name"),
    ({"topbarCtaButton": {"name": "a"}}, "CFG043", "/topbarCtaButton/url"),
    ({"topbarCtaButton": {"type": "GitHub", "url": "https://github.com/a/b"}}, "CFG045", "/topbarCtaButton/type"),
    ({"topbarCtaButton": {"type": "gitlab", "url": "/a", "name": "a"}}, "CFG046", "/topbarCtaButton/type"),
    ({"topbarCtaButton": {"type": "github", "url": "owner/name"}}, "CFG048", "/topbarCtaButton/url"),
    ({"anchors": ["a"]}, "CFG041", "/anchors/0"),
    ({"anchors": [{"name": "a", "url": "guides", "iconType": "Sharp Solid"}]}, "CFG045", "/anchors/0/iconType"),
    ({"anchors": [{"name": "a", "url": "guides", "icon": "fa-book"}]}, "CFG053", "/anchors/0/icon"),
    ({"anchors": [{"name": "a", "url": "guides", "color": {"from": "#123"}}]}, "CFG043", "/anchors/0/color/to"),
    (
        {"anchors": [{"name": "a", "url": "guides", "isDefaultHidden": "true"}]},
        "CFG041",
        "/anchors/0/isDefaultHidden",
    ),
    ({"tabs": [{"name": "", "url": "guides"}]}, "CFG044", "/tabs/0/name"),
    ({"tabs": [{"url": "guides"}]}, "CFG043", "/tabs/0/name"),
    ({"api": {"auth": {"method": "apiKey"}}}, "CFG045", "/api/auth/method"),
    ({"api": {"auth": {"method": "oauth2"}}}, "CFG046", "/api/auth/method"),
    ({"api": {"auth": {"method": "basic", "name": "user"}}}, "CFG058", "/api/auth/name"),
    ({"api": {"baseUrl": "/v1"}}, "CFG048", "/api/baseUrl"),
    ({"api": {"baseUrl": ["localhost:8000"]}}, "CFG049", "/api/baseUrl/0"),
    ({"api": {"playground": {"mode": "none"}}}, "CFG045", "/api/playground/mode"),
    ({"openapi": {"source": "a.json"}}, "CFG041", "/openapi"),
    ({"footerSocials": "x"}, "CFG041", "/footerSocials"),
    ({"footerSocials": {"dicord": "https://a.example"}}, "CFG034", "/footerSocials/dicord"),
    ({"footerSocials": {"x": "https://a.example"}}, "CFG055", "/footerSocials/x"),
    ({"footerSocials": {"tiktok": "https://a.example"}}, "CFG056", "/footerSocials/tiktok"),
    ({"footerSocials": {"github": "@owner"}}, "CFG048", "/footerSocials/github"),
    ({"footerSocials": [{"type": "github", "url": "https://a.example"}]}, "CFG057", "/footerSocials"),
    ({"modeToggle": {"default": "system"}}, "CFG046", "/modeToggle/default"),
    ({"backgroundImage": "data:image/png;base64,AA"}, "CFG048", "/backgroundImage"),
    ({"redirects": [{"source": "/a"}]}, "CFG043", "/redirects/0/destination"),
    ({"name": "a\x1b[31mb"}, "CFG054", "/name"),
    ({"topbarLinks": [{"name": "a", "url": "help@example.com"}]}, "CFG049", "/topbarLinks/0/url"),
    ({"navigation": [{"group": "g", "pages": ["guides\\first"]}]}, "CFG045", "/navigation/0/pages/0"),
    ({"footerSocials": {"gitlab": "https://a.example"}}, "CFG056", "/footerSocials/gitlab"),
    ({"anchors": [{"name": "a", "url": "guides", "iconType": "regular"}]}, "CFG055", "/anchors/0/iconType"),
    ({"title": "b"}, "CFG036", "/title"),
]
"""Fields beside those of a whole file, and the one thing that is said of them: its code and its pointer."""


@pytest.mark.parametrize(("fields", "code", "pointer"), WRONG)
def test_a_wrong_value_is_reported(fields: dict[str, Any], code: str, pointer: str) -> None:
    """Red when a wrong value gets no diagnostic, another one, or a second one."""
    assert reported(**fields) == [(code, pointer)]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", " JaVaScRiPt:x", "java\nscript:x", "\x01vbscript:x", "data:text/html,x"]
)
@pytest.mark.parametrize(
    "place", ["topbarLinks", "anchors", "tabs", "topbarCtaButton", "footerSocials", "logo", "redirects"]
)
def test_no_address_that_runs_code(address: str, place: str) -> None:
    """Red when a scheme that runs code is no error, or gets into the model by any field."""
    link = {"name": "a", "url": address}
    fields: dict[str, Any] = {
        "topbarCtaButton": link,
        "footerSocials": {"github": address},
        "logo": {"light": "/l.svg", "dark": "/d.svg", "href": address},
        "redirects": [{"source": "/a", "destination": address}],
    }
    config, found = read(**{place: fields.get(place, [link])})
    assert [one.code for one in found if one.severity == "error"] == ["CFG047"]
    assert "script:" not in config.model_dump_json().lower()
    assert "data:" not in config.model_dump_json()


FIXES: list[tuple[dict[str, Any], str]] = [
    ({"navigation": {"group": "g", "pages": ["a"]}}, "put it in [ ]"),
    ({"navigation": {"Begin": ["a"]}}, 'write a list: [ { "group": …, "pages": … } ]'),
    ({"navigation": "index"}, 'write a list: [ { "group": …, "pages": [ "index" ] } ]'),
    ({"navigation": None}, 'write a list: [ { "group": …, "pages": … } ]'),
    ({"navigation": ["index"]}, 'write { "group": …, "pages": [ "index" ] }'),
    ({"navigation": [{"group": "g", "pages": "index"}]}, "put it in [ ]"),
    ({"redirects": {"/a": "/b"}}, 'write a list: [ { "source": …, "destination": … } ]'),
    ({"versions": [2]}, 'write { "name": "2" }'),
    ({"versions": "v1"}, "put it in [ ]"),
    ({"tabs": ["guides"]}, 'write { "name": …, "url": "guides" }'),
    ({"tabs": [None]}, 'remove it, or write { "name": …, "url": … }'),
    ({"api": {"auth": "bearer"}}, 'write { "method": "bearer", "name": … }'),
    ({"api": {"playground": False}}, 'write { "mode": … }'),
    ({"topbarCtaButton": "/start"}, 'write { "name": …, "url": "/start" }'),
    ({"topbarCtaButton": {"type": "gitlab", "name": "a", "url": "/a"}}, 'write one of "link", "github"'),
    ({"navigation": [{"group": "g", "pages": [{"title": "A", "path": "a/b"}]}]}, 'write only the path, "a/b"'),
    ({"navigation": [{"title": "g", "items": ["a"]}]}, 'write "group" for "title" and "pages" for "items"'),
    ({"title": "b"}, "remove it: name is set already"),
    ({"footerSocials": {"gitlab": "https://a.example"}}, "write one of website"),
    ({"topbarLinks": [{"name": "a", "url": "help@example.com"}]}, 'write "mailto:help@example.com"'),
]


@pytest.mark.parametrize(("fields", "fix"), FIXES)
def test_what_to_write(fields: dict[str, Any], fix: str) -> None:
    """Red when the remedy would give another mistake, or leaves out what the author wrote."""
    first = next(one for one in read(**fields)[1] if one.code != "CFG037")
    assert first.fix.startswith(fix)


def test_what_is_nearly_right_is_used() -> None:
    """Red when a value is told to be read as another and is not."""
    config, _ = read(
        topbarCtaButton={"type": "GitHub", "url": "github.com/a/b"},
        api={"auth": {"method": "api-key"}, "baseUrl": "localhost:8000"},
        colors={"primary": "0D9373"},
        footerSocials={"GitHub": "https://a.example", "tiktok": "https://b.example"},
        anchors=[{"name": "a", "url": "guides", "icon": "fa-solid fa-book"}],
        topbarLinks=[{"url": "https://www.example.com/"}, {"name": "Mail", "url": "help@example.com"}],
        navigation=[{"group": "g", "pages": ["guides\\first"]}],
        name="Kum\x1bquat",
    )
    assert config.name == "Kumquat"
    assert config.topbar_cta_button is not None
    assert (config.topbar_cta_button.type, config.topbar_cta_button.url) == ("github", "https://github.com/a/b")
    assert (config.api.auth.method, config.api.base_url) == ("key", ("http://localhost:8000",))
    assert config.colors is not None
    assert config.colors.primary == "#0D9373"
    assert config.footer_socials == {"github": "https://a.example", "tiktok": "https://b.example"}
    assert config.anchors[0].icon == "book"
    assert config.topbar_links[0].name == "example.com"
    assert config.topbar_links[1].url == "mailto:help@example.com"
    assert config.navigation[0].pages == ("guides/first",)


def test_a_bad_item_goes_and_the_rest_stays() -> None:
    """Red when one bad item takes the others with it."""
    config, _ = read(
        tabs=[{"name": "a"}, {"name": "Guides", "url": "guides"}, 3],
        navigation=[{"group": "g", "pages": ["a", 1, {"name": "x", "path": "y"}, ["z"], "b"]}, "c"],
    )
    assert [tab.name for tab in config.tabs] == ["Guides"]
    assert [group.pages for group in config.navigation] == [("a", "b")]


def test_required_fields() -> None:
    """Red when a missing name or navigation is no error, or there is no model then."""
    config, found = loads(json.dumps({"favicon": "/f.svg", "colors": {"primary": "#123"}}))
    assert config is not None
    assert (config.name, config.navigation) == ("Documentation", ())
    assert [(one.code, one.pointer) for one in found] == [("CFG040", "/name"), ("CFG040", "/navigation")]


@pytest.mark.parametrize(
    "text", ['{"name": "a", "scripts": {}}', '{"openapi": "3.1.0", "info": {}, "paths": {}}', '{"foo": 1}']
)
def test_a_file_of_another_tool(text: str) -> None:
    """Red when a file without any field of a docs configuration gives a model."""
    config, found = loads(text)
    assert config is None
    assert "CFG021" in {one.code for one in found}


def test_a_diagnostic_points_at_the_value() -> None:
    """Red when line and column are not those of the value, or those of the key for an unknown key."""
    text = '{\n  "name": "a",\n  "navigation": [\n    {"group": "g", "pages": ["a", 7]}\n  ],\n  "brandName": 1\n}'
    found = {one.code: (one.line, one.column, one.pointer) for one in loads(text)[1]}
    assert found["CFG041"] == (4, 35, "/navigation/0/pages/1")
    assert found["CFG036"] == (6, 3, "/brandName")


def test_hostile_text_is_shown_escaped() -> None:
    """Red when a message carries a character that a terminal obeys, or more than a line of a value."""
    evil = "\x1b]0;owned\x07\u202e" + "x" * 500
    found = read(topbarLinks=evil, modeToggle={"default": evil, evil: 1}, **{evil: 1})[1]
    for one in found:
        assert not any(ord(character) < 32 or character == "\u202e" for character in one.message + one.fix)
        assert len(one.message) < 300
