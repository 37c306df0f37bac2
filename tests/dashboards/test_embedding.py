"""dashboard(): who may embed a page, and who may keep a copy of it."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.responses import HTMLResponse, Response

from tenantry.dashboards.endpoint import dashboard
from tenantry.errors import InvalidSettings
from tenantry.testing import make_group
from tests.dashboards.helpers import client, get

pytestmark = pytest.mark.usefixtures("mount")


def policies(answer: Any) -> list[str]:
    return list(answer.headers.get_list("content-security-policy"))


def test_nobody_may_embed_a_dashboard_by_default() -> None:
    """Red when no policy is sent: any page could lay the dashboard under its own buttons."""
    answer = get(lambda: "")
    assert policies(answer) == ["frame-ancestors 'none'"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "private, no-store"


def test_the_listed_origins_may() -> None:
    """Hosts, a wildcard below a host, a port, 'self'."""
    origins = ["https://app.example.com", "https://*.example.org", "http://localhost:3000", "'self'"]
    answer = get(lambda: "", frame_ancestors=origins)
    assert policies(answer) == [
        "frame-ancestors https://app.example.com https://*.example.org http://localhost:3000 'self'"
    ]
    assert policies(get(lambda: "", frame_ancestors=["'none'"])) == ["frame-ancestors 'none'"]


def test_origins_may_come_from_the_group() -> None:
    """One function for all customers."""
    group = make_group(properties={"site": "https://acme.example"})
    answer = get(lambda: "", group=group, frame_ancestors=lambda group: [group.properties["site"]])
    assert policies(answer) == ["frame-ancestors https://acme.example"]


BAD_ORIGINS = [
    "*",
    "https:",
    "https://*",
    "app.example.com",
    "https://app.example.com/",
    "https://app.example.com/path",
    "https://a.example; script-src *",
    "https://a.example, default-src *",
    "https://a.example https://b.example",
    "https://a.example\r\nSet-Cookie: a=b",
    "https://a.example\n",
    "https://user@a.example",
    "javascript:alert(1)",
    "data:",
    "'unsafe-inline'",
    "'none'",
    "self",
    "https://exämple.com",
    "https://-a.example",
    "",
]


@pytest.mark.parametrize("origin", BAD_ORIGINS)
def test_what_is_not_an_origin_is_refused(origin: str) -> None:
    """Red when origins are joined unread: one with ``;`` or a line break begins a directive or a header of its own."""
    with pytest.raises(InvalidSettings, match="frame_ancestors"):
        dashboard(lambda: "", frame_ancestors=["https://a.example", origin])
    answer = get(lambda: "secret rows", frame_ancestors=lambda group: ["https://a.example", origin])
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "invalid_settings")
    assert "set-cookie" not in answer.headers


def test_one_text_is_not_a_list() -> None:
    """Red without the check: a text is a sequence of its letters."""
    with pytest.raises(InvalidSettings, match=r"write \['https://a\.example'\]"):
        dashboard(lambda: "", frame_ancestors="https://a.example")


def test_a_policy_of_the_renderer_stays() -> None:
    """Both are sent, and a browser obeys both: ours cannot loosen the renderer's, nor the renderer's ours."""
    theirs = "default-src 'self'; frame-ancestors *"
    answer = get(lambda: HTMLResponse("", headers={"Content-Security-Policy": theirs, "Referrer-Policy": "origin"}))
    assert policies(answer) == [theirs, "frame-ancestors 'none'"]
    assert answer.headers["referrer-policy"] == "origin"


@pytest.mark.parametrize(
    ("theirs", "sent"),
    [
        ("private, max-age=60", "private, max-age=60"),
        ("no-store", "no-store"),
        ("public, max-age=60", "private, no-store"),
        ("max-age=60", "private, no-store"),
        ("private, s-maxage=60", "private, no-store"),
    ],
)
def test_no_shared_cache_may_keep_a_dashboard(theirs: str, sent: str) -> None:
    """Red when the renderer's header stays as it is: a CDN would show one customer's rows to the next."""
    answer = get(lambda: Response("", headers={"Cache-Control": theirs}))
    assert answer.headers["cache-control"] == sent


def test_one_response_handed_out_again_and_again() -> None:
    """The policy does not pile up on it."""
    shared = HTMLResponse("x")
    app = client(dashboard(lambda: shared))
    app.get("/")
    assert policies(app.get("/")) == ["frame-ancestors 'none'"]
