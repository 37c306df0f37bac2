"""Which file of a site an address means."""

from __future__ import annotations

from urllib.parse import unquote, urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry_site.app.routes import FileMatch, RedirectMatch, match, relative

FILES = {
    "index.html",
    "guides/start.html",
    "guides/start.md",
    "guides/index.html",
    "api.html",
    "api/users.html",
    "a.css",
}


def found(address: str) -> str | None:
    """The file, or where the redirect ends as a browser resolves it, after an arrow."""
    got = match(address, FILES.__contains__)
    if isinstance(got, RedirectMatch):
        return "-> " + urljoin(f"http://host/mount/{address}", got.location)
    return got.path if isinstance(got, FileMatch) else None


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        ("", "index.html"),
        ("index", "index.html"),
        ("index.html", "index.html"),
        ("guides/start", "guides/start.html"),
        ("guides/start.html", "guides/start.html"),
        ("guides/start.md", "guides/start.md"),
        ("a.css", "a.css"),
        ("guides/start/", "-> http://host/mount/guides/start"),
        ("guides/", "guides/index.html"),
        ("guides", "-> http://host/mount/guides/"),
        ("api", "api.html"),
        ("api/", "-> http://host/mount/api"),
        ("api/users", "api/users.html"),
        ("nowhere", None),
        ("nowhere/", None),
        ("guides/start//", None),
        ("//evil.example/", None),
        ("/guides/start", None),
    ],
)
def test_each_spelling(address: str, meant: str | None) -> None:
    """Red when a redirect is relative to the wrong folder: under a mount it would lead out of it."""
    assert found(address) == meant


@given(st.text(alphabet=st.sampled_from("ab/.:\\%?#@\n ü"), max_size=30), st.sampled_from(sorted(FILES)))
def test_a_redirect_stays_on_its_host_and_below_its_mount(address: str, target: str) -> None:
    """For any address. Red when a path that begins with two slashes, or a colon, is written as it is."""
    location = relative(address, f"{target}:b")
    here = "http://host/mount/" + "".join(each if each.isalnum() or each in "/.:@" else "x" for each in address)
    assert location.isascii()
    assert location.isprintable()
    assert not location.startswith(("/", "\\"))
    assert "://" not in location
    if "//" not in f"/{address}" and "." not in address:  # urljoin drops what is empty, a browser does not
        assert unquote(urljoin(here, location)) == f"http://host/mount/{target}:b"
