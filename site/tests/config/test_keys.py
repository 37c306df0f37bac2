"""Unknown keys: known fields of others are reported once, the newer format once, a slip with what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.config.reported import read, reported


def test_known_fields_of_others_are_reported_once() -> None:
    """Red when a known field of another generator gets a warning, or two get two notes."""
    found = read(
        theme="venus",
        analytics={"a": 1},
        feedback={"thumbsRating": True},
        search={"x": 1},
        **{"$schema": "https://a.b"},
    )[1]
    assert [(one.code, one.severity) for one in found] == [("CFG031", "info")]
    for name in ("theme", "analytics", "feedback.thumbsRating", "search"):
        assert name in found[0].message


def test_the_newer_format_is_reported_once() -> None:
    """Red when keys of the newer format are reported one by one, or beside the error that says it all."""
    assert reported(navbar={}, contextual={}, fonts={}) == [("CFG033", "/navbar")]
    newer = {"tabs": [{"tab": "Guides", "groups": []}]}
    assert reported(navigation=newer, navbar={}, contextual={}, footer={}) == [
        ("CFG032", "/navigation"),
        ("CFG031", "/footer"),
    ]


@pytest.mark.parametrize(
    ("fields", "code", "pointer", "fix"),
    [
        ({"topbarlinks": []}, "CFG034", "/topbarlinks", "topbarLinks"),
        ({"topbar-links": []}, "CFG034", "/topbar-links", "topbarLinks"),
        ({"redirect": []}, "CFG034", "/redirect", "redirects"),
        ({"anchors": [{"ic0on": "x", "name": "a", "url": "guides"}]}, "CFG034", "/anchors/0/ic0on", "icon"),
        ({"tabs": [{"nmae": "x", "name": "a", "url": "guides"}]}, "CFG036", "/tabs/0/nmae", "remove"),
        ({"logoHref": "/"}, "CFG035", "/logoHref", "logo.href"),
        ({"topbarCta": {}}, "CFG035", "/topbarCta", "topbarCtaButton"),
        ({"api": {"openapi": "x"}}, "CFG035", "/api/openapi", "openapi"),
        ({"api": {"authentication": {}}}, "CFG035", "/api/authentication", "api.auth"),
        ({"api": {"hidePlayground": True}}, "CFG035", "/api/hidePlayground", '"hide"'),
        ({"topAnchor": {"name": "a", "url": "/"}}, "CFG035", "/topAnchor/url", "anchors"),
        ({"feedback.thumbsRating": True}, "CFG035", "/feedback.thumbsRating", '"feedback": {'),
        ({"brandName": "x"}, "CFG036", "/brandName", "remove"),
        ({"tab": []}, "CFG034", "/tab", "tabs"),
    ],
)
def test_an_unknown_key_is_reported_with_what_was_meant(
    fields: dict[str, Any], code: str, pointer: str, fix: str
) -> None:
    """Red when the wrong key is proposed: one of another object, or one that is there already."""
    (one,) = [one for one in read(**fields)[1] if one.code != "CFG037"]
    assert (one.code, one.pointer, one.severity) == (code, pointer, "warning")
    assert fix in one.fix


def test_no_nonsense_is_proposed() -> None:
    """Red when plain likeness wins over what is known: each of these once got a wrong proposal."""
    config, found = read(
        background={"style": "grid"},
        colors={"primary": "#123456", "anchors": "#654321"},
        primaryTab={"name": "Start"},
        versions=["v1"],
        navigation=[{"group": "g", "version": "v1", "pages": ["guides/a"]}],
    )
    assert [one.code for one in found] == ["CFG031"]
    assert config.colors is not None
    assert config.colors.anchors == "#654321"
