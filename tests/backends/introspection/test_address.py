"""Where tokens may be sent."""

from __future__ import annotations

import pytest

from tenantry.backends.introspection import IntrospectionBackend
from tests.backends.introspection.test_backend import API_TOKEN, KEYS


@pytest.mark.parametrize(
    "url",
    [
        "https://tenantry.example.com/oauth/introspect",
        "https://tenantry.example.com:8443/prefix/oauth/introspect/",
        "http://127.0.0.1:8000/oauth/introspect",
        "http://127.8.9.1/oauth/introspect",
        "http://[::1]:8000/oauth/introspect",
        "http://localhost:8000/oauth/introspect",
    ],
)
def test_https_or_this_very_host(url: str) -> None:
    """These are taken as they are."""
    assert url in repr(IntrospectionBackend(url, api_token=API_TOKEN, keys=KEYS))


@pytest.mark.parametrize(
    "url",
    [
        "http://tenantry.example.com/oauth/introspect",
        "http://10.0.0.1/oauth/introspect",
        "http://127.0.0.1.example.com/oauth/introspect",
        "http://localhost.example.com/oauth/introspect",
        "http://0.0.0.0/oauth/introspect",
    ],
)
def test_clear_text_over_a_network(url: str) -> None:
    """Refused, unless the host program allows it. Red without the check: tokens travel in the clear."""
    with pytest.raises(ValueError, match="allow_http"):
        IntrospectionBackend(url, api_token=API_TOKEN, keys=KEYS)
    IntrospectionBackend(url, api_token=API_TOKEN, keys=KEYS, allow_http=True)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "tenantry.example.com/oauth/introspect",
        "https://",
        "https://tenantry.example.com",
        "https://tenantry.example.com/",
        "https://tenantry.example.com:port/oauth/introspect",
        "https://tenantry.example.com:0/oauth/introspect",
        "https://[::1/oauth/introspect",
        "ftp://tenantry.example.com/oauth/introspect",
        "file:///oauth/introspect",
        "https://reader:s3cret@tenantry.example.com/oauth/introspect",
        "https://s3cret@tenantry.example.com/oauth/introspect",
        "https://tenantry.example.com/oauth/introspect?token=s3cret",
        "https://tenantry.example.com/oauth/introspect#s3cret",
    ],
)
def test_what_is_no_address(url: str) -> None:
    """Refused when the backend is made, and not at the first viewer; a password in it is not repeated."""
    with pytest.raises(ValueError, match="url must") as caught:
        IntrospectionBackend(url, api_token=API_TOKEN, keys=KEYS, allow_http=True)
    assert "s3cret" not in str(caught.value)


def test_other_settings() -> None:
    """An API token of another shape, and a time that is none; the API token is not repeated."""
    url = "https://tenantry.example.com/oauth/introspect"
    with pytest.raises(ValueError, match="api_token must be") as caught:
        IntrospectionBackend(url, api_token=API_TOKEN[:-1], keys=KEYS)
    assert API_TOKEN[:-1] not in str(caught.value)
    for timeout in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            IntrospectionBackend(url, api_token=API_TOKEN, keys=KEYS, timeout=timeout)
