"""Old addresses and where they lead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry_site.addresses import Addresses
from tenantry_site.config.model import Group, Redirect, SiteConfig
from tenantry_site.outputs.redirects import Redirects, RedirectTarget, parse_pattern

PAGES = ("index", "new/start", "new/deep/end", "guides/a")


def redirects(*rules: tuple[str, str], files: tuple[str, ...] = ()) -> Redirects:
    config = SiteConfig(
        name="x",
        navigation=(Group(group="g", pages=("index",)),),
        redirects=tuple(Redirect(source=source, destination=destination) for source, destination in rules),
    )
    return Redirects(config, Addresses(PAGES, files))


def codes(made: Redirects) -> list[str]:
    return [each.code for each in made.diagnostics]


def test_a_page_leads_on_without_a_script() -> None:
    """Red when the address is not relative to the old page's folder."""
    made = redirects(("/old/place", "/new/start#part"))
    (path, content), *rest = made.pages()
    assert (path, rest) == ("old/place.html", [])
    text = content.decode()
    assert 'http-equiv="refresh" content="0; url=../new/start.html#part"' in text
    assert '<link rel="canonical" href="../new/start.html#part">' in text
    assert "<script" not in text
    assert made.find("old/place.html") == made.find("old/place") == RedirectTarget("new/start", "#part")
    assert codes(made) == []


def test_the_root_and_other_hosts_may_be_led_to() -> None:
    """Red when / or https is refused."""
    made = redirects(("/a", "/"), ("/b", "https://example.com/x?y=1"), ("/c", "/f.pdf"), files=("f.pdf",))
    pages = {path: content.decode() for path, content in made.pages()}
    assert "url=index.html" in pages["a.html"]
    assert "url=https://example.com/x?y=1" in pages["b.html"]
    assert "url=f.pdf" in pages["c.html"]
    assert codes(made) == []


@pytest.mark.parametrize(
    "destination", ["javascript:alert(1)", "data:text/html,x", "mailto:a@b.c", "../../up", "vbscript:x", "http://["]
)
def test_what_a_page_must_not_lead_to_is_refused(destination: str) -> None:
    """Red when a scheme gets into a page."""
    made = redirects(("/a", destination))
    assert list(made.pages()) == []
    assert codes(made) == ["LINK011"]


@pytest.mark.parametrize("source", ["", "/", "https://example.com/a", "//host/a", "/../x", "a\\b", "/a\nb"])
def test_what_is_no_path_cannot_be_led_from(source: str) -> None:
    """Red when a file is written out of the folder."""
    made = redirects((source, "/new/start"))
    assert list(made.pages()) == []
    assert codes(made) == ["LINK011"]


def test_markup_in_a_target_stays_text() -> None:
    """Red when a target is not escaped."""
    made = redirects(("/a", 'https://example.com/"><script>alert(1)</script>'))
    text = next(content for _, content in made.pages()).decode()
    assert "<script" not in text


def test_a_page_goes_before_a_redirect() -> None:
    """Red when a redirect overwrites a page."""
    made = redirects(("/guides/a", "/new/start"))
    assert list(made.pages()) == []
    assert codes(made) == ["LINK012"]


def test_a_wildcard_is_written_out_for_the_pages_there_are() -> None:
    """Red when a folder has no page for what a server would answer."""
    made = redirects(("/old/:slug*", "/new/:slug*"))
    assert [path for path, _ in made.pages()] == ["old/deep/end.html", "old/start.html"]
    assert made.find("old/deep/end") == RedirectTarget("new/deep/end")
    assert made.find("old/nothing") == RedirectTarget("new/nothing")
    assert codes(made) == []


def test_a_wildcard_that_cannot_be_listed_is_reported() -> None:
    """Red when it is lost without a word."""
    made = redirects(("/old/:slug*", "/new/start"))
    assert list(made.pages()) == []
    assert made.find("old/any/thing") == RedirectTarget("new/start")
    assert codes(made) == ["LINK013"]


def test_a_part_of_the_path_may_be_named() -> None:
    """Red when a hole takes more than one segment."""
    made = redirects(("/v1/:page/end", "/new/:page/end"))
    assert made.find("v1/deep/end") == RedirectTarget("new/deep/end")
    assert made.find("v1/a/b/end") is None


def test_chains_end_and_circles_lead_nowhere() -> None:
    """Red when a circle is followed for ever."""
    made = redirects(("/a", "/b"), ("/b", "/new/start"), ("/c", "/d"), ("/d", "/c"))
    assert made.find("a") == RedirectTarget("new/start")
    assert made.find("c") is None


def test_a_missing_destination_is_reported() -> None:
    """Red when it is not looked for."""
    made = redirects(("/a", "/nw/start"))
    assert codes(made) == ["LINK010"]
    assert "new/start" in made.diagnostics[0].fix
    assert made.diagnostics[0].pointer == "/redirects/0/destination"


def test_a_hostile_file_does_not_make_the_square_of_its_pages() -> None:
    """Red when patterns are not counted."""
    rules = [(f"/o{number}/:a*", "/:a*") for number in range(500)]
    made = redirects(*rules)
    assert len(list(made.pages())) <= 2000
    assert made.find("o99/guides/a") == RedirectTarget("guides/a")
    assert made.find("o100/guides/a") is None
    assert codes(made).count("LINK014") == 400


@given(st.text(), st.text(), st.text())
def test_any_text_is_taken(source: str, destination: str, address: str) -> None:
    """Nothing is raised, and nothing is written out of the folder."""
    made = redirects((source, destination), ("/" + source, "/" + destination))
    made.find(address)
    for path, content in made.pages():
        assert ".." not in path.split("/")
        assert b"javascript:" not in content.lower()


@given(st.text(alphabet="/:*ab", max_size=12), st.text(alphabet="/ab", max_size=12))
def test_any_pattern_can_be_matched(text: str, path: str) -> None:
    """What matches fills back to what was matched, where each hole has one value."""
    made = parse_pattern(f"/{text}")
    holes = made.match(path)
    if holes and "*" not in made.names and "//" not in text:
        assert made.match(made.fill(holes)) is not None
