"""A viewer's parameters over HTTP: what the address says, as typed values, or 422."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry import error_handler
from tenantry.dashboards.endpoint import dashboard
from tenantry.errors import TenantryError
from tenantry.http.accessors import variables as request_variables
from tenantry.sql import SQLTemplate
from tests.dashboards.helpers import HTML, client, get

NOW = datetime(2026, 5, 20, tzinfo=UTC)
ORDERS = SQLTemplate(
    """
    select id from orders where region = {{ region }}
    [[ and status in {{ params.status }} ]] [[ and day >= {{ params.period.start }} and day < {{ params.period.end }} ]]
    limit {{ params.rows }}
""",
    params={
        "status": "list of text",
        "period": "date range",
        "rows": {"type": "integer", "min": 1, "max": 1000, "default": 100},
    },
)


def renderer(variables: Any) -> dict[str, Any]:
    return {"params": json.loads(json.dumps(ORDERS.bind(variables, now=NOW).params, default=str))}


@pytest.mark.parametrize(
    ("address", "params"),
    [
        ("/", ["<eu>", 100]),
        ("/?rows=5", ["<eu>", 5]),
        ("/?rows=&status=&period=", ["<eu>", 100]),
        ("/?status=open", ["<eu>", "open", 100]),
        ("/?status=open&status=paid", ["<eu>", "open", "paid", 100]),
        ("/?period=2026-01-01..2026-01-31", ["<eu>", "2026-01-01", "2026-02-01", 100]),
        ("/?period.start=2026-01-01&period.end=2026-01-31", ["<eu>", "2026-01-01", "2026-02-01", 100]),
        ("/?period=last+month", ["<eu>", "2026-04-01", "2026-05-01", 100]),
        ("/?period=last%207%20days", ["<eu>", "2026-05-14", "2026-05-21", 100]),
        ("/?region=us&params.rows=5&user_group=x", ["<eu>", 100]),
    ],
)
def test_an_address(address: str, params: Sequence[Any]) -> None:
    """By the one accessor of requests. Red when one value for a list stays a text."""
    assert get(renderer, address).json() == {"params": params}


def test_a_bad_value_is_422_and_is_not_repeated() -> None:
    """As JSON and as a page, by the one error response; each parameter and what it takes. Red when the error is a
    ValueError: the viewer would get a 500."""
    address = "/?rows=%3Cscript%3E&period=2026-01-31..2026-01-01&status=open"
    answer = get(renderer, address)
    message = (
        "params.period ends before it begins, and takes two dates such as 2026-01-01..2026-01-31, or last 30 days; "
    )
    message += "params.rows takes a whole number from 1 to 1000"
    assert answer.status_code == 422
    assert answer.json() == {"success": 0, "error": {"code": "invalid_parameter", "message": message}}
    page = get(renderer, address, headers=HTML)
    assert page.status_code == 422
    assert "params.rows takes" in page.text
    assert "script" not in page.text


def test_in_an_app_of_ones_own() -> None:
    """error_handler answers the same. Red when InvalidParameter is no TenantryError."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def rows(request: Request) -> JSONResponse:
        return JSONResponse(renderer(request_variables(request)))

    app = Starlette(routes=[Route("/", rows)], exception_handlers={TenantryError: error_handler})
    viewer = client(app)
    assert viewer.get("/?rows=5").json() == {"params": ["<eu>", 5]}
    assert viewer.get("/?rows=0").json() == get(renderer, "/?rows=0").json()
    assert client(dashboard(renderer)).get("/?rows=0").status_code == 422
