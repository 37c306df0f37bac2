"""The Content-Security-Policy, and the addresses of a repository."""

from __future__ import annotations

import pytest

from tenantry_site.options import SiteOptions
from tenantry_site.theme import csp
from tenantry_site.theme.links import parse_repository, short_name
from tenantry_site.theme.policy import origin


def rules(policy: str) -> dict[str, str]:
    return dict(rule.split(" ", 1) for rule in policy.split("; "))


def test_by_default_everything_stays_at_home() -> None:
    """Nothing inline, nothing of another host, no frame around it."""
    policy = rules(csp(SiteOptions(), header=True))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'self'"
    assert "unsafe" not in csp(SiteOptions())
    assert "frame-ancestors" not in csp(SiteOptions())


def test_what_the_options_open() -> None:
    """Pictures and frames of other hosts; one host for the star count; the API where it is called without a relay."""
    assert rules(csp(SiteOptions(external_media=True)))["img-src"] == "'self' data: https: http:"
    assert rules(csp(SiteOptions(repository_facts=True)))["connect-src"] == "'self' https://api.github.com"
    assert rules(csp(SiteOptions(), connect=["https://a.example", ""]))["connect-src"] == "'self' https://a.example"
    assert rules(csp(SiteOptions(external_media=True)))["script-src"] == "'self'"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://api.example.com/v1?x", "https://api.example.com"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("https://user:word@api.example.com", "https://api.example.com"),
        ("https://a.example; script-src *", ""),
        ("https://*.example", ""),
        ("https://a.example:x", ""),
        ("javascript:alert(1)", ""),
        ("/users", ""),
        ("https://[", ""),
    ],
)
def test_an_origin_cannot_begin_another_rule(url: str, found: str) -> None:
    """Red when the host is written as it was found."""
    assert origin(url) == found


@pytest.mark.parametrize(
    ("url", "edit", "issue"),
    [
        (
            "https://github.com/o/n/tree/dev/docs/",
            "https://github.com/o/n/edit/dev/docs/a/b%20c.mdx",
            "https://github.com/o/n/issues/new?title=",
        ),
        (
            "https://github.com/o/n",
            "https://github.com/o/n/edit/main/a/b%20c.mdx",
            "https://github.com/o/n/issues/new?title=",
        ),
        (
            "https://gitlab.com/g/s/n/-/tree/main/docs",
            "https://gitlab.com/g/s/n/-/edit/main/docs/a/b%20c.mdx",
            "https://gitlab.com/g/s/n/-/issues/new?issue[title]=",
        ),
        (
            "https://code.example/o/n/src/branch/main",
            "https://code.example/o/n/_edit/main/a/b%20c.mdx",
            "https://code.example/o/n/issues/new?title=",
        ),
    ],
)
def test_the_feedback_leads_to_the_file_and_to_a_new_issue(url: str, edit: str, issue: str) -> None:
    """In the form of the host."""
    found = parse_repository(url)
    assert found is not None
    assert found.edit("a/b c.mdx") == edit
    assert found.issue("Ti&tle", "a.mdx") == f"{issue}Docs%3A%20Ti%26tle%20%28a.mdx%29"


def test_an_address_that_is_no_repository() -> None:
    assert parse_repository("javascript:alert(1)") is None
    assert parse_repository("https://[") is None


def test_the_short_name_of_a_repository() -> None:
    """Owner and name; an address that has none without its scheme."""
    assert short_name("https://github.com/o/n.git") == "o/n"
    assert short_name("https://github.com/o/n/tree/main") == "o/n"
    assert short_name("https://code.example") == "code.example"
