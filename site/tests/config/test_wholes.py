"""Wholes: what other programs refuse as a whole is reported at the whole too, and only where they do."""

from __future__ import annotations

from typing import Any

import pytest

from engines.corpus import needs_corpus
from tenantry_site.config import loads
from tests.config.real import REAL, Real, each_real
from tests.config.reported import read

_PAGES = ["index", {"group": "Deep", "pages": [{"group": "Deeper", "pages": [7]}]}]
_HOST = {"type": "github", "url": "https://a.example/b", "name": "Code"}

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"api": {"authentication": {}}}, "/api", "api.authentication"),
    ({"api": {"auth": {"type": "bearer"}}}, "/api/auth", "api.auth.type"),
    ({"api": {"baseUrl": [3]}}, "/api/baseUrl", "api.baseUrl[0]"),
    ({"colors": {"primary": "#123456", "text": "#000000"}}, "/colors", "colors.text"),
    ({"topAnchor": {"name": "Docs", "url": "/"}}, "/topAnchor", "topAnchor.url"),
    ({"topbarCtaButton": {"type": "GitHub", "url": "https://a.example"}}, "/topbarCtaButton", "topbarCtaButton.type"),
    ({"topbarCtaButton": _HOST}, "/topbarCtaButton", "topbarCtaButton.name"),
    ({"topbarLinks": [_HOST]}, "/topbarLinks/0", "topbarLinks[0].name"),
    ({"topbarLinks": [{"name": "a", "url": "/", "icon": "book"}]}, "/topbarLinks/0", "topbarLinks[0].icon"),
    ({"footerSocials": {"dicord": "https://a.example"}}, "/footerSocials", "footerSocials.dicord"),
    ({"logo": {"light": 1, "dark": "/d.svg"}}, "/logo", "logo.light"),
    ({"versions": [{"label": "v1"}]}, "/versions/0", "versions[0].label, versions[0].name"),
    ({"navigation": [{"group": "g", "openapi": "a", "pages": ["index"]}]}, "/navigation/0", "navigation[0].openapi"),
    (
        {"navigation": [{"group": "g", "pages": _PAGES}]},
        "/navigation/0/pages/1",
        "navigation[0].pages[1].pages[0].pages[0]",
    ),
]


@pytest.mark.parametrize(("fields", "pointer", "reason"), REFUSED)
def test_the_whole_is_reported_beside_the_mistake(fields: dict[str, Any], pointer: str, reason: str) -> None:
    """Red when a whole that others refuse has no diagnostic of its own, or two, or no reason."""
    found_diagnostics = [
        (one.pointer, one.message.partition(" because of ")[2]) for one in read(**fields)[1] if one.code == "CFG037"
    ]
    assert found_diagnostics == [(pointer, reason)]


@pytest.mark.parametrize(
    "fields",
    [
        {"logo": {"light": "/l.svg", "dark": "/d.svg", "height": 3}},
        {"tabs": [{"name": "a", "url": "guides", "schema": 1}]},
        {"api": {"playground": {"display": "simple"}}},
        {"feedback": {"thumbs": True}},
        {"api": {"auth": {"method": "oauth2"}}},
        {"topbarLinks": [{"type": "github", "url": "https://a.example"}]},
        {"logo": {"light": "/l.svg"}},
        {"logo": {"light": 3}},
        {"footerSocials": {"github": "@owner"}},
    ],
)
def test_nothing_of_wholes_that_others_take(fields: dict[str, Any]) -> None:
    """Red when others are said to refuse what they take, or what has a diagnostic at its own pointer already."""
    assert [one for one in read(**fields)[1] if one.code == "CFG037"] == []


def test_what_others_require() -> None:
    """Red when what only other programs require is more than an info, or is not reported."""
    found = read(topAnchor={"icon": "book"}, versions=[])[1]
    assert {(one.code, one.pointer, one.severity) for one in found} == {
        ("CFG059", "/topAnchor/name", "info"),
        ("CFG059", "/versions", "info"),
    }


def test_an_item_of_the_navigation_that_is_no_group() -> None:
    """Red when it is not reported which fields of a group it lacks, or one within pages is reported as much."""
    found = read(navigation=[{"title": "a", "items": []}, {"group": "g", "pages": ["index", {"title": "b"}]}])[1]
    assert [(one.code, one.pointer) for one in found] == [
        ("CFG066", "/navigation/0"),
        ("CFG043", "/navigation/0/group"),
        ("CFG043", "/navigation/0/pages"),
        ("CFG066", "/navigation/1/pages/1"),
    ]


@needs_corpus
@each_real
def test_the_same_pointer_as_the_oracle(real: Real) -> None:
    """Red when the other program refuses a field of the format and nothing is said at the very same pointer."""
    known = set(read()[0].model_dump(by_alias=True))
    wanted = {pointer for pointer in real.pointers if pointer.split("/")[1] in known}
    assert wanted <= {one.pointer for one in loads(real.data)[1]}


@needs_corpus
def test_the_corpus_has_such_files() -> None:
    """Red when no real file is reported of a whole, so that the test above shows nothing."""
    assert [real.name for real in REAL if "CFG037" in {one.code for one in loads(real.data)[1]}]
