"""The model: each field of SPEC 2.2 with its default, and what real files have beside."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tenantry_site.config import SiteConfig, loads
from tests.config.reported import WHOLE, read

SOCIALS = ["website", "facebook", "twitter", "discord", "slack", "github", "linkedin", "instagram", "hacker-news"]
"""The nine platforms of SPEC 2.2."""

EVERYTHING: dict[str, Any] = {
    "name": "Kumquat",
    "navigation": [
        {
            "group": "Start",
            "icon": "rocket",
            "iconType": "solid",
            "version": "v2",
            "pages": ["index", {"group": "", "version": "v2", "pages": ["guides/first"]}, "api/orders"],
        }
    ],
    "logo": {"light": "/logo/light.svg", "dark": "/logo/dark.svg", "href": "https://example.com"},
    "favicon": "/favicon.svg",
    "colors": {
        "primary": "#0D9373",
        "light": "#07C983",
        "dark": "#0d9",
        "background": {"light": "#ffffff", "dark": "#000000"},
        "anchors": {"from": "#0D9373", "via": "#118855", "to": "#07C983"},
    },
    "topbarLinks": [{"name": "Support", "url": "mailto:help@example.com"}],
    "topbarCtaButton": {"type": "github", "url": "https://github.com/owner/name"},
    "versions": ["v2", {"name": "v1", "url": "https://v1.example.com"}],
    "anchors": [
        {
            "name": "API",
            "icon": "code",
            "iconType": "thin",
            "url": "api",
            "color": {"from": "#FF5A2D", "to": "#FF2E93"},
            "version": "v2",
            "isDefaultHidden": True,
        }
    ],
    "topAnchor": {"name": "Home", "icon": "house", "iconType": "light"},
    "tabs": [{"name": "Guides", "url": "guides"}],
    "primaryTab": {"name": "Everything"},
    "api": {
        "baseUrl": ["https://api.example.com", "http://localhost:8000"],
        "auth": {"method": "basic", "name": "user:secret", "inputPrefix": "sk-"},
        "playground": {"mode": "simple"},
        "maintainOrder": True,
    },
    "openapi": ["openapi.json", "https://example.com/openapi.yaml"],
    "footerSocials": {key: f"https://example.com/{key}" for key in SOCIALS},
    "feedback": {"suggestEdit": True, "raiseIssue": True},
    "modeToggle": {"default": "dark", "isHidden": True},
    "backgroundImage": "/ground.svg",
    "redirects": [{"source": "/old", "destination": "/guides/first"}],
}
"""Every field of SPEC 2.2, and those of real files that are honoured."""


def test_every_field_is_read() -> None:
    """Red when a field is not read as it was written, or something is said of a file that is right."""
    config, found = loads(json.dumps(EVERYTHING))
    assert found == ()
    assert config is not None
    dumped = config.model_dump(by_alias=True, mode="json", exclude_unset=True)
    wanted = EVERYTHING | {"versions": [{"name": "v2"}, {"name": "v1", "url": "https://v1.example.com"}]}
    assert dumped == wanted


def test_the_defaults_are_those_of_spec() -> None:
    """Red when a default is another than SPEC's."""
    config, found = loads(json.dumps({"name": "Kumquat", "navigation": [{"group": "g", "pages": ["a"]}]}))
    assert config is not None
    assert (config.top_anchor.name, config.top_anchor.icon, config.top_anchor.icon_type) == (
        "Documentation", "book-open", "duotone",
    )  # fmt: skip
    assert (config.feedback.suggest_edit, config.feedback.raise_issue) == (False, False)
    assert (config.mode_toggle.default, config.mode_toggle.is_hidden) == (None, False)
    assert (config.api.playground.mode, config.api.auth.method, config.api.base_url) == ("show", None, ())
    assert [(one.code, one.pointer) for one in found] == [("CFG042", "/favicon"), ("CFG042", "/colors")]
    anchor = read(anchors=[{"name": "A", "url": "guides"}])[0].anchors[0]
    assert (anchor.icon_type, anchor.is_default_hidden) == ("duotone", False)
    assert read(logo={"light": "/l.svg", "dark": "/d.svg"})[0].logo.href == "/"  # type: ignore[union-attr]
    assert read(topbarCtaButton={"url": "/x", "name": "Go"})[0].topbar_cta_button.type == "link"  # type: ignore[union-attr]


def test_short_forms() -> None:
    """Red when a single string is not taken for what it stands for."""
    config, found = read(
        logo="/logo.svg", openapi="openapi.json", api={"baseUrl": "https://a.example"}, versions=["v1"]
    )
    assert found == []
    assert config.logo is not None
    assert (config.logo.light, config.logo.dark) == ("/logo.svg", "/logo.svg")
    assert (config.openapi, config.api.base_url) == (("openapi.json",), ("https://a.example",))
    assert config.versions[0].name == "v1"


def test_the_model_does_not_change() -> None:
    """Red when a field of a model can be set, or an unknown one given."""
    config = SiteConfig.model_validate(WHOLE)
    with pytest.raises(ValidationError):
        config.name = "other"
    with pytest.raises(ValidationError):
        SiteConfig.model_validate(WHOLE | {"colour": "red"})
