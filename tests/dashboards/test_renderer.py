"""dashboard(): any renderer becomes an endpoint. What it is given, and what it gives back."""

from __future__ import annotations

import asyncio
import functools
import threading
from datetime import date
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse

from tenantry.dashboards.endpoint import dashboard
from tenantry.groups import Record, UserGroup
from tenantry.html import HTMLTemplate
from tests.dashboards.helpers import GROUP, get


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
    with pytest.raises(TypeError, match="also has"):
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
    """A renderer that forgot to return gets an error that says so."""
    with pytest.raises(TypeError, match=type(result).__name__):
        get(lambda: result)


def test_an_unknown_exception_passes() -> None:
    """It belongs to the host program's own handlers."""

    def broken() -> str:
        raise ZeroDivisionError("renderer")

    with pytest.raises(ZeroDivisionError, match="renderer"):
        get(broken)
