"""dashboard(): any renderer becomes an endpoint that knows its group, refuses in words, and can be embedded."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tenantry.dashboards.http import dashboard
from tenantry.errors import InvalidSettings, MiddlewareMissing, StoreUnavailable, TemplateError
from tenantry.groups import Record, UserGroup
from tenantry.html import HTMLTemplate
from tenantry.testing import make_group

App = Callable[[Any, Any, Any], Awaitable[None]]
GROUP = make_group(properties={"region": "<eu>", "n": 3})
HTML = {"Accept": "text/html,application/xhtml+xml"}


def client(app: App, group: UserGroup | None = GROUP, *, raises: bool = True) -> TestClient:
    """A client of the app, behind a stand-in for the middleware."""

    async def with_group(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "user_group": group}, receive, send)

    return TestClient(with_group, raise_server_exceptions=raises)


def get(
    renderer: Any, path: str = "/?q=1", *, group: UserGroup | None = GROUP, headers: Any = None, **options: Any
) -> Any:
    return client(dashboard(renderer, **options), group).get(path, headers=headers)


# --- what a renderer is given -----------------------------------------------------------------------------------------


def show(*values: Any) -> str:
    """Which of the three things a renderer was given, in order."""
    kinds = {UserGroup: "group", Record: "variables", Request: "request"}
    return " ".join(kinds[type(value)] for value in values)


async def all_three(group: Any, variables: Any, request: Any) -> str:
    return show(group, variables, request)


async def any_order(request: Any, *, user_group: Any) -> str:
    return show(request, user_group)


async def by_position(variables: Any, group: Any, /) -> str:
    return show(variables, group)


async def mixed(group: Any, /, request: Any, limit: int = 5, *, variables: Any) -> str:
    return show(group, request, variables)


async def keywords(**given: Any) -> str:
    return " ".join(sorted(given)) + " " + show(given["group"])


async def group_and_keywords(group: Any, **given: Any) -> str:
    return show(group) + " " + " ".join(sorted(given))


async def old_endpoint(req: Any) -> str:
    return show(req)


async def annotated(tenant: UserGroup) -> str:
    return show(tenant)


async def annotated_variables(v: Record) -> str:
    return show(v)


async def only_default(limit: int = 5) -> str:
    return str(limit)


class Callee:
    """A renderer that is an object."""

    async def __call__(self, variables: Any) -> str:
        return show(variables)

    def method(self, group: Any) -> str:
        return show(group)


@pytest.mark.parametrize(
    ("renderer", "text"),
    [
        (all_three, "group variables request"),
        (any_order, "request group"),
        (by_position, "variables group"),
        (mixed, "group request variables"),
        (keywords, "group request variables group"),
        (group_and_keywords, "group request variables"),
        (old_endpoint, "request"),
        (annotated, "group"),
        (annotated_variables, "variables"),
        (only_default, "5"),
        (Callee(), "variables"),
        (Callee().method, "group"),
        (functools.partial(all_three, group=GROUP), "group variables request"),
        (functools.partial(mixed, limit=1), "group request variables"),
        (lambda group: show(group), "group"),
        (lambda: "nothing", "nothing"),
        (lambda request: old_endpoint(request), "request"),
    ],
)
def test_a_renderer_is_given_what_it_asks_for(renderer: Any, text: str) -> None:
    """By name, in any order and kind of parameter; one of another name by its annotation, else the request."""
    assert get(renderer).text == text


@pytest.mark.parametrize(
    "renderer",
    [
        lambda a, b: "",
        lambda group, ctx: "",
        lambda variables, *, limit: "",
        lambda *, ctx: "",
        lambda group, /, ctx: "",
    ],
)
def test_a_parameter_that_cannot_be_filled_is_told_at_once(renderer: Any) -> None:
    """When the dashboard is declared, not when the first viewer comes."""
    with pytest.raises(TypeError, match="also asks for"):
        dashboard(renderer)


def test_a_renderer_without_a_signature_is_told() -> None:
    """Some builtins have none."""
    with pytest.raises(TypeError, match="no signature"):
        dashboard(dict.pop)


def test_variables_hold_the_group_and_the_viewers_input_apart() -> None:
    """The Record of ``variables(request)``."""
    page = HTMLTemplate("{{ user_group.name }} {{ region }} {{ params.q }} {{ params.region }}")
    answer = get(lambda variables: page.render(variables), "/?q=1&region=evil")
    assert answer.text == "Acme &lt;eu&gt; 1 evil"


async def test_a_plain_function_does_not_hold_up_the_loop() -> None:
    """Red when it is called in the loop: the thread would be the loop's own. An async one stays in the loop."""
    seen: dict[str, int] = {}

    def plain() -> str:
        seen["plain"] = threading.get_ident()
        return ""

    async def asynchronous() -> str:
        seen["async"] = threading.get_ident()
        return ""

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [], "user_group": GROUP}

    async def receive() -> Any:
        raise AssertionError("no body is read")

    async def send(message: Any) -> None:
        await asyncio.sleep(0)

    await dashboard(plain)(scope, receive, send)
    await dashboard(asynchronous)(scope, receive, send)
    assert seen["plain"] != threading.get_ident()
    assert seen["async"] == threading.get_ident()


# --- what it gives back -----------------------------------------------------------------------------------------------


def test_text_is_html() -> None:
    """With its character set."""
    answer = get(lambda: "<p>é")
    assert (answer.status_code, answer.headers["content-type"], answer.text) == (
        200,
        "text/html; charset=utf-8",
        "<p>é",
    )


def test_dicts_lists_and_records_are_json() -> None:
    """Dates and records inside too."""
    answer = get(lambda variables: {"v": variables["user_group"], "day": date(2013, 1, 2), "s": "é</script>"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "v": {"id": "acme", "name": "Acme", "environment": "production", "properties": {"region": "<eu>", "n": 3}},
        "day": "2013-01-02",
        "s": "é</script>",
    }
    assert get(lambda: [1]).json() == [1]
    assert get(lambda variables: variables["user_group"]["properties"]).json() == {"region": "<eu>", "n": 3}


def test_a_response_is_sent_as_it_is() -> None:
    """Status, type and headers are the renderer's, a stream included."""
    answer = get(lambda: PlainTextResponse("no tea", 418, {"X-Mine": "1"}))
    assert (answer.status_code, answer.text, answer.headers["x-mine"]) == (418, "no tea", "1")
    answer = get(lambda: StreamingResponse(iter(["a", "b"]), media_type="text/csv"))
    assert (answer.text, answer.headers["x-content-type-options"]) == ("ab", "nosniff")


@pytest.mark.parametrize("result", [None, 3, b"bytes", {1, 2}])
def test_anything_else_is_the_renderers_mistake(result: Any) -> None:
    """A renderer that forgot to return is told so."""
    with pytest.raises(TypeError, match=type(result).__name__):
        get(lambda: result)


def test_an_unknown_exception_passes() -> None:
    """It belongs to the host program's own handlers."""

    def broken() -> str:
        raise ZeroDivisionError("renderer")

    with pytest.raises(ZeroDivisionError, match="renderer"):
        get(broken)


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_no_token_is_401_and_the_renderer_is_not_called() -> None:
    """Red when the group may be None: a renderer would then show everybody's rows."""

    def renderer() -> str:
        raise AssertionError("called")

    answer = get(renderer, group=None)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "missing_token")
    assert "no-store" in answer.headers["cache-control"]
    page = get(renderer, group=None, headers=HTML)
    assert page.status_code == 401
    assert page.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "renderer",
    [
        lambda variables: HTMLTemplate("<p>{{ user_group.properties.nope }}").render(variables),
        lambda variables: {"x": variables["user_group"]["properties"]["nope"]},
        lambda group: group.properties["nope"],
    ],
    ids=["template", "variables", "group"],
)
def test_a_missing_variable_is_named(renderer: Any) -> None:
    """As JSON and as a page; red when Record raises a bare KeyError: the viewer would get a stack trace or a 500."""
    answer = get(renderer)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "missing_variable")
    assert "nope" in answer.json()["error"]["message"]
    page = get(renderer, headers=HTML)
    assert page.status_code == 422
    assert "nope" in page.text
    assert "Traceback" not in page.text


def test_a_template_error_is_told_without_a_stack_trace(caplog: pytest.LogCaptureFixture) -> None:
    """The viewer gets the line, the log gets the trace."""
    answer = get(lambda: HTMLTemplate("\n{{ a b }}").render({}), headers=HTML)
    assert answer.status_code == 500
    assert "line 2" in answer.text
    assert "Traceback" not in answer.text
    assert "test_http.py" not in answer.text
    assert [record.name for record in caplog.records if record.levelname == "ERROR"] == ["tenantry.dashboards"]


def test_a_store_that_is_down_is_503() -> None:
    """Any error of the tree is answered with its own status."""

    def renderer() -> str:
        raise StoreUnavailable("db1.internal is down", retry_after=2)

    answer = get(renderer)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "db1" not in answer.text


def test_without_the_middleware_it_is_a_mistake_of_the_host() -> None:
    """500, and the message says what to install."""
    answer = TestClient(dashboard(lambda: "")).get("/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, MiddlewareMissing.code)


def test_no_property_value_in_any_refusal(caplog: pytest.LogCaptureFixture) -> None:
    """Red when an error names a computed key: neither answer nor log holds a value."""
    group = make_group(properties={"secret": "hunter2", "list": ["hunter2"]})
    for text in ("{{ {}[secret] }}", "{{ list }}", "{{ secret.nope }}", "{{ secret|format }}{{ nope }}"):
        answer = get(lambda variables, text=text: HTMLTemplate(text).render(variables), group=group)
        assert answer.status_code == 422
        assert "hunter2" not in answer.text
    assert "hunter2" not in caplog.text


# --- embedding --------------------------------------------------------------------------------------------------------


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
    """Red when the renderer's word is simply kept: a CDN would show one customer's rows to the next."""
    answer = get(lambda: Response("", headers={"Cache-Control": theirs}))
    assert answer.headers["cache-control"] == sent


def test_one_response_handed_out_again_and_again() -> None:
    """The policy does not pile up on it."""
    shared = HTMLResponse("x")
    app = client(dashboard(lambda: shared))
    app.get("/")
    assert policies(app.get("/")) == ["frame-ancestors 'none'"]


# --- mounting ---------------------------------------------------------------------------------------------------------


async def sales(group: UserGroup, request: Request) -> str:
    """What we sold."""
    return f"{group.name} {request.path_params.get('year', '')}"


def test_as_a_route_of_starlette() -> None:
    """Named after the renderer; path parameters reach it; methods are the route's."""
    app = Starlette(routes=[Route("/sales/{year}", dashboard(sales), methods=["GET"]), Mount("/m", dashboard(sales))])
    browser = client(app)
    assert browser.get("/sales/2013").text == "Acme 2013"
    assert browser.get("/m/").text == "Acme "
    assert browser.post("/sales/2013").status_code == 405
    assert app.url_path_for("sales", year="2013") == "/sales/2013"
    assert dashboard(sales).__doc__ == "What we sold."


def test_in_fastapi() -> None:
    """Mounted and as a route."""
    app = FastAPI()
    app.mount("/mounted", dashboard(sales))
    app.add_route("/routed/{year}", dashboard(sales))
    browser = client(app)
    assert browser.get("/mounted/").text == "Acme "
    assert browser.get("/routed/2013").text == "Acme 2013"


def test_a_websocket_at_a_mount_is_closed() -> None:
    """A dashboard speaks HTTP only."""
    browser = client(Starlette(routes=[Mount("/m", dashboard(sales))]))
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect("/m/"):
        pass


def test_renderers_with_the_same_dashboard_do_not_mix() -> None:
    """One endpoint serves every group, each with its own variables."""
    endpoint = dashboard(lambda variables: variables["region"])
    for region in ("eu", "us"):
        assert client(endpoint, make_group(properties={"region": region})).get("/").text == region


def test_template_error_is_ours() -> None:
    """A renderer may raise it itself."""

    def renderer() -> str:
        raise TemplateError("line 7")

    assert get(renderer).json()["error"]["message"] == "line 7"
