"""dashboard() refuses with a reason: without a token, a variable or a store, and for a template's mistake."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tenantry.dashboards.endpoint import dashboard
from tenantry.errors import MiddlewareMissing, StoreUnavailable
from tenantry.html import HTMLTemplate
from tenantry.testing import make_group
from tests.dashboards.helpers import HTML, get

pytestmark = pytest.mark.usefixtures("mount")


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
    assert "test_refusals.py" not in answer.text
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


@pytest.mark.parametrize(("given", "returned"), [("req-1", True), ("a'b", False), ("x" * 65, False)])
def test_an_error_returns_the_request_id(given: str, returned: bool) -> None:
    """As a header, and in JSON; one that is not plain is dropped."""
    answer = get(lambda: {"a": 1}, group=None, headers={"X-Request-Id": given})
    assert answer.status_code == 401
    assert answer.headers.get("x-request-id") == answer.json().get("request_id") == (given if returned else None)
