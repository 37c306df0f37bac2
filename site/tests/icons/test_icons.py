"""Icons: the names that authors write, the eleven types, the bundle that is read in part."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.corpus import CORPUS, needs_corpus
from tenantry_site import icons
from tenantry_site.icons import lookup
from tenantry_site.icons.synonyms import NAMES
from tests.platforms import PLATFORMS

SVG = re.compile(
    r'<svg class="icon [a-z -]+" viewBox="-?\d+ -64 640 640" width="16" height="16" fill="currentColor"'
    r' aria-hidden="true" focusable="false"><path d="[MmLlHhVvCcSsQqTtAaZz0-9 .,-]+"/></svg>'
)
ICON_OF_PAGE = re.compile(r"""\bicon=["']([^"'{}]+)["']|^icon:[ ]*["']?([^"'\n]+?)["']?[ ]*$""", re.MULTILINE)


def written() -> Counter[str]:
    """The icon names of the corpus' configuration files and pages, and how often each is written."""
    found: Counter[str] = Counter()
    for path in (CORPUS / "site_config").glob("*.json"):
        found.update(re.findall(r'"icon"\s*:\s*"([^"]+)"', path.read_text(encoding="utf-8", errors="replace")))
    for path in (CORPUS / "sites").rglob("*.md*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        found.update(one or other for one, other in ICON_OF_PAGE.findall(text))
    return found


@needs_corpus
def test_nearly_every_icon_of_real_sites_is_found() -> None:
    """At least 95 % of the uses; 99.7 % when this was written. Red without the synonyms."""
    found = written()
    drawn = sum(count for name, count in found.items() if icons.svg(name))
    assert found.total() > 300
    assert drawn / found.total() >= 0.95, sorted(name for name in found if not icons.svg(name))


@pytest.mark.parametrize(
    ("name", "icon"),
    [
        ("rocket", "rocket"),
        ("fa-rocket", "rocket"),
        ("fa-solid fa-rocket", "rocket"),
        ("fas fa-book-open", "book-open"),
        ("faBookOpen", "book-open"),
        ("BookOpen", "book-open"),
        ("book_open", "book-open"),
        ("lucide:book-open", "book-open"),
        (" Rocket ", "rocket"),
        ("comment-alt", "message"),  # an old name
        ("bank", "building-columns"),  # a name of version 4
        ("zap", "bolt"),  # names of another set
        ("code-2", "code"),
        ("settings", "gear"),
        ("sparkles", "wand-magic-sparkles"),
        ("rocket-launch", "rocket"),  # a paid icon
        ("chart-line-up-down", "chart-line"),  # its kin
        ("xyz-user", "user"),
        ("5", "5"),
    ],
)
def test_a_name_as_authors_write_it(name: str, icon: str) -> None:
    assert lookup.resolve(name) == icon
    assert icons.svg(name) == icons.svg(icon)


@pytest.mark.parametrize("name", ["", " ", "n/a", "/logo/one.svg", "🚀", "<>", "-", "zzzzzz", "x" * 5000, "lu-"])
def test_what_is_no_name_has_no_icon(name: str) -> None:
    assert icons.svg(name) is None


def test_a_misspelt_name_has_a_nearest_one() -> None:
    """For the message to its author."""
    assert icons.svg("databse") is None
    assert icons.nearest("databse") == "database"
    assert icons.nearest("gihub") == "github"
    assert icons.nearest("qqqqqqq") is None
    assert icons.nearest("") is None


@given(st.text(max_size=80), st.text(max_size=20))
def test_any_text_as_a_name_or_kind_is_harmless(name: str, kind: str) -> None:
    """Nothing of it gets into the page. Red when a name is looked up without being made normal first."""
    found = icons.svg(name, kind)
    assert found is None or SVG.fullmatch(found)


def test_each_synonym_leads_to_an_icon_and_hides_none() -> None:
    """Red when a line of the table names an icon that is not there."""
    assert {icon for icon in NAMES.values() if lookup.bundled_name(icon) != icon} == set()
    assert {name for name in NAMES if lookup.bundled_name(name)} == set()


def test_each_kind_is_drawn_in_its_own_way() -> None:
    """Of an icon with a regular glyph of its own, and of one without."""
    for name in ("bell", "rocket"):
        drawn = {kind: icons.svg(name, kind) for kind in icons.KINDS if kind != "brands"}
        assert len(set(drawn.values())) == 10
        assert all(found and SVG.fullmatch(found) and f"icon-{kind}" in found for kind, found in drawn.items())
    assert icons.svg("bell", "regular") != icons.svg("bell", "light")
    assert "icon-drawn" in (icons.svg("bell", "regular") or "")
    assert "icon-drawn" not in (icons.svg("rocket", "regular") or "")


def test_a_brand_is_a_brand_whatever_the_kind() -> None:
    """And what has no brand's mark is solid where one is asked for; an unknown kind is the default."""
    assert {icons.svg("github", kind) for kind in icons.KINDS} == {icons.svg("github")}
    assert "icon-solid" in (icons.svg("rocket", "brands") or "")
    assert icons.svg("rocket", "heavy") == icons.svg("rocket", "duotone") == icons.svg("rocket")


def test_every_icon_of_the_bundle_can_be_drawn() -> None:
    """Each name, from the first to the last: offsets and sizes fit. Red when the start is off by one."""
    every = lookup.bundled_names()
    assert len(every) > 2500
    for name in every:
        assert SVG.fullmatch(icons.svg.__wrapped__(name, "solid") or ""), name


NINE_AND_NEWER = (*PLATFORMS, "x", "youtube", "bluesky")


@pytest.mark.parametrize("key", NINE_AND_NEWER)
def test_each_social_platform_has_an_icon_and_words(key: str) -> None:
    social = icons.SOCIALS[key]
    assert lookup.bundled_name(social.icon) == social.icon
    assert icons.svg(social.icon, social.kind)
    assert social.label.strip()


def test_all_social_platforms_are_drawn_by_an_exact_name() -> None:
    for social in icons.SOCIALS.values():
        assert social.kind in lookup.outlines(social.icon), social


def test_an_icon_is_read_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index and a few hundred bytes of 1.5 MB. Red when the file is read whole."""
    read = 0
    path = lookup.BUNDLE

    class Counting:
        def __init__(self, file: IO[bytes]) -> None:
            self.file = file

        def __enter__(self) -> Counting:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def read(self, size: int = -1) -> bytes:
            nonlocal read
            content = self.file.read(size)
            read += len(content)
            return content

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

    class Counted:
        def open(self, mode: str) -> Counting:
            assert mode == "rb"
            return Counting(path.open("rb"))

    monkeypatch.setattr(lookup, "BUNDLE", Counted())
    lookup.read_index.cache_clear()
    icons.svg.__wrapped__("rocket")
    lookup.read_index.cache_clear()
    assert 1000 < read < 100_000
    assert len((files("tenantry_site") / "static" / "bundles" / "icons.txt").read_bytes()) > 10 * read


def test_without_the_bundle_there_are_no_icons_and_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lookup, "BUNDLE", tmp_path / "icons.txt")
    lookup.read_index.cache_clear()
    try:
        assert icons.svg.__wrapped__("rocket") is None
        assert lookup.bundled_names() == []
    finally:
        lookup.read_index.cache_clear()


def test_the_stylesheet_has_a_rule_for_each_kind() -> None:
    """Red when a kind looks like another because its class is not in components.css."""
    css = (files("tenantry_site") / "static" / "components.css").read_text(encoding="utf-8")
    for kind in icons.KINDS:
        if kind not in ("solid", "brands"):
            assert f".icon-{kind}" in css
    assert "CC BY 4.0" in css


def test_the_names_and_licence_come_from_one_package() -> None:
    """The bundle's licence says which version; package.json pins the same."""
    root = Path(__file__).parents[3]
    wanted = json.loads((root / "site" / "frontend" / "package.json").read_text())["dependencies"]
    licence = (files("tenantry_site") / "static" / "bundles" / "icons.licenses.txt").read_text(encoding="utf-8")
    assert licence.startswith(f"@fortawesome/fontawesome-free {wanted['@fortawesome/fontawesome-free']} ")
