"""user_group() and variables(): what a view reads, and what it gets when there is nothing to read."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import SimpleNamespace
from typing import get_type_hints

import pytest
from starlette.requests import HTTPConnection, Request

from tenantry.errors import MiddlewareMissing, MissingToken
from tenantry.groups import RecordList
from tenantry.http.accessors import user_group, variables
from tenantry.testing import make_group
from tests.middleware.asgi import http


def test_the_group_of_a_request_or_a_scope() -> None:
    """A Starlette request, anything with a scope, or the scope itself."""
    group = make_group()
    scope = http(user_group=group)
    for connection in (scope, Request(scope), SimpleNamespace(scope=scope)):
        assert user_group(connection) is group


@pytest.mark.parametrize("accessor", [user_group, variables])
def test_nothing_to_read(accessor: type) -> None:
    """None is a missing token (401); no key, or a foreign object under it, is a missing middleware (500)."""
    with pytest.raises(MissingToken):
        accessor(http(user_group=None))
    with pytest.raises(MiddlewareMissing, match="add_middleware"):
        accessor(http())
    with pytest.raises(MiddlewareMissing, match="another middleware"):
        accessor(http(user_group="admin"))


def test_viewer_input_lives_under_params_only() -> None:
    """A query parameter never shadows a property. Red when params are merged into the top."""
    group = make_group(properties={"region": "eu", "params": "mine"})
    found = variables(http(user_group=group, query=b"region=us&user_group=x&a=1&a=2&empty=&%C3%A4=%FF+b&flag"))
    assert found["region"] == "eu"
    assert found["user_group"]["name"] == "Acme"
    assert found["user_group"]["properties"]["params"] == "mine"
    params = found["params"]
    assert params["region"] == "us"
    assert params["a"] == RecordList(["1", "2"])
    assert (params["empty"], params["ä"], params["flag"]) == ("", "\ufffd b", "")
    assert len(variables(http(user_group=group))["params"]) == 0


def test_the_package_loads_no_web_framework() -> None:
    """``from tenantry import user_group, UserGroupMiddleware`` loads neither Starlette nor SQLAlchemy."""
    code = (
        "import sys; from tenantry import Resolver, UserGroupMiddleware, user_group, variables; "
        "print(sorted({'starlette', 'sqlalchemy', 'fastapi', 'uvicorn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("accessor", [user_group, variables])
def test_annotations_can_be_evaluated(accessor: object) -> None:
    """FastAPI and others ask for them at runtime: Starlette's HTTPConnection, the one type that FastAPI fills for
    requests and websockets. Red when it is any other."""
    assert get_type_hints(accessor)["connection"] is HTTPConnection
    assert inspect.signature(accessor, eval_str=True).parameters["connection"].annotation is HTTPConnection  # type: ignore[arg-type]
