"""Which origins a list of hosts lets embed, as browsers read the same list in ``frame-ancestors``."""

from __future__ import annotations

import pytest

from tenantry.dashboards.embedding.frame_ancestors import is_allowed

OWN = "https://dash.example.com"


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        ("https://app.example.com", "https://app.example.com", True),
        ("https://app.example.com", "HTTPS://App.Example.com:443", True),
        ("http://localhost:3000", "http://localhost:3000", True),
        ("https://a.b.example.com", "https://*.example.com", True),
        ("https://a.example.com:8443", "https://*.example.com:8443", True),
        (OWN, "'self'", True),
        ("http://app.example.com", "https://app.example.com", False),
        ("https://app.example.com:8443", "https://app.example.com", False),
        ("https://app.example.com.evil.test", "https://app.example.com", False),
        ("https://example.com", "https://*.example.com", False),
        ("https://evilexample.com", "https://*.example.com", False),
        ("https://.example.com", "https://*.example.com", False),
        ("http://a.example.com", "https://*.example.com", False),
        ("https://evil.test", "'self'", False),
        ("null", "https://app.example.com", False),
        ("", "https://*.example.com", False),
    ],
)
def test_an_origin_matches_as_in_frame_ancestors(origin: str, host: str, allowed: bool) -> None:
    """Red when a name below is found by its end alone, or the scheme or the port is not compared."""
    assert is_allowed(origin, [host], OWN) is allowed
    assert is_allowed(origin, ["https://other.test", host], OWN) is allowed
    assert not is_allowed(origin, [], OWN)
