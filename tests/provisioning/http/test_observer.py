"""What the observer is given, and when: what was done is counted, whatever becomes of the answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tenantry.provisioning.http import RequestRecord
from tenantry.provisioning.http.request import DRAIN_SECONDS
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_app
from tests.provisioning.http.test_table import ACME

Message = dict[str, Any]


def _scope(service: Service, body: bytes, *, caller: str | None = None) -> dict[str, Any]:
    headers = {**JSON_TYPE, "Authorization": f"Token {caller or service.caller}", "Content-Length": str(len(body))}
    given = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "POST", "path": "/api/user", "root_path": "", "headers": given}


async def test_a_client_that_is_gone_when_it_is_answered_is_counted(service: Service) -> None:
    """The group was made. Red when the observer is called after the answer was sent."""
    served: list[RequestRecord] = []
    body = json.dumps(ACME).encode()

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        assert served, "the answer goes out, and nothing was counted"
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await make_app(service.store, service.keys, observer=served.append)(_scope(service, body), receive, send)
    assert [(each.operation, each.status, each.code) for each in served] == [("get_or_create", 200, "ok")]


async def test_the_time_of_a_client_that_goes_on_sending_is_not_counted(service: Service) -> None:
    """It was refused at once; then the rest of its body had time to come. Red when that time is counted too."""
    served: list[RequestRecord] = []
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("never")

    async def send(message: Message) -> None:
        sent.append(message)

    scope = _scope(service, b"x" * 10_000, caller="no token")
    await make_app(service.store, service.keys, observer=served.append)(scope, receive, send)
    assert sent[0]["status"] == 401
    assert [(each.operation, each.status, each.code) for each in served] == [("none", 401, "unauthorized")]
    assert served[0].seconds < DRAIN_SECONDS
