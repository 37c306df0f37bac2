"""What is promised beyond single answers: one group of many calls, no secret in any output, an answer to every bug."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import httpx2
import pytest

from tenantry.errors import InvalidKeys, MissingVariable
from tests.provisioning.http.conftest import Service
from tests.provisioning.http.test_table import ACME, assert_always, code_of

CANARY = "canary-property-value"


async def test_32_calls_at_once_give_one_group(service: Service) -> None:
    """One of them learns that it created the group; all have the same token."""
    answers = [
        answer.json()
        for answer in await asyncio.gather(*[service.ask(method, ACME) for method in ["GET", "QUERY"] * 16])
    ]
    assert sum(answer["new_user_group"] for answer in answers) == 1
    assert len({answer["user_group"]["token"] for answer in answers}) == 1


async def test_of_many_rotations_one_wins(service: Service) -> None:
    """The others get the error that it was rotated already."""
    token = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    answers = await asyncio.gather(*[service.ask("POST", {"current_token": token}) for _ in range(16)])
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 15


async def test_a_key_in_flight(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second request with the same key gets 409 while the first runs, and the replay afterwards.

    Red when the key is not claimed: the second request waits as the first does.
    """
    entered, leave = asyncio.Event(), asyncio.Event()
    create = service.store.groups.get_or_create

    async def slow(*given: Any, **named: Any) -> Any:
        entered.set()
        await leave.wait()
        return await create(*given, **named)

    monkeypatch.setattr(service.store.groups, "get_or_create", slow)
    first = asyncio.ensure_future(service.ask("POST", ACME, Idempotency_Key="k"))
    await entered.wait()
    async with asyncio.timeout(120):
        second = await service.ask("POST", ACME, Idempotency_Key="k")
    assert code_of(second) == (409, "idempotency_in_flight")
    invalid = await service.ask("POST", {**ACME, "properties": {"a": "\0"}}, Idempotency_Key="k")
    assert code_of(invalid) == (422, "invalid_body")  # red when the key is looked at before the body's shape
    leave.set()
    assert (await first).status_code == 200
    replay = await service.ask("POST", ACME, Idempotency_Key="k")
    assert replay.headers["idempotency-replayed"] == "true"


@pytest.mark.parametrize(
    "error", [RuntimeError(CANARY), InvalidKeys(CANARY), KeyError(CANARY), AssertionError(), RecursionError(CANARY)]
)
async def test_a_bug_is_500_with_the_request_id_only(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    """The log has where it happened and not what was being handled.

    Red when the log is given exc_info: the message of the error is the property.
    """

    async def fail(*given: Any, **named: Any) -> None:
        raise error

    monkeypatch.setattr(service.store.groups, "get_or_create", fail)
    with caplog.at_level(logging.DEBUG):
        answer = await service.ask("GET", {**ACME, "properties": {"a": CANARY}}, X_Request_Id="req-7")
    assert code_of(answer) == (500, "internal")
    assert_always(answer)
    assert CANARY not in answer.text
    log = "\n".join(_whole(record) for record in caplog.records)
    assert "req-7" in log
    assert "in fail" in log
    assert CANARY not in log


async def test_other_errors_of_the_tree_keep_their_code(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is not a bug is answered as itself, whatever raised it."""

    async def fail(*given: Any, **named: Any) -> None:
        raise MissingVariable("x is missing", names=["x"])

    monkeypatch.setattr(service.store.groups, "get_or_create", fail)
    headers = {"Authorization": f"Token {service.caller}"}
    assert code_of(await service.http.post("/api/user", json=ACME, headers=headers)) == (422, "missing_variable")


async def test_no_secret_in_logs_and_errors(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """API token, group token and property values are in no error and in no log, at any level.

    Red when the text of a JSON error, or the input of a validation error, is put into the message.
    """
    properties = {"a": CANARY}
    with caplog.at_level(logging.DEBUG):
        token = (await service.ask("GET", {**ACME, "properties": properties})).json()["user_group"]["token"]
        secrets_ = (service.caller, service.reader, token, CANARY)
        refused: list[httpx2.Response] = [
            await service.ask("GET", ACME, caller=service.caller + "x"),
            await service.ask("GET", ACME, Authorization=f"Bearer {service.caller}"),
            await service.ask("GET", {**ACME, "properties": properties}, caller=service.reader),
            await service.ask("PUT", {"user_group_id": "nobody", "properties": properties}),
            await service.ask("PUT", {**ACME, "properties": [CANARY]}),
            await service.ask("PUT", {**ACME, "properties": {"a": CANARY * 2_000}}),
            await service.ask("PUT", {**ACME, "properties": {"a": [CANARY + "\0"]}}),
            await service.ask("PUT", {**ACME, "name": CANARY * 100}),
            await service.ask("PUT", {**ACME, "name": {"a": CANARY}}),
            await service.ask("POST", {"current_token": token + "x"}),
            await service.ask("POST", {"current_token": [token]}),
            await service.ask("POST", {"current_token": token, "user_group_id": CANARY}),
            await service.ask("POST", {"current_token": token}, Idempotency_Key=f"{CANARY} x"),
            await service.send("GET", f'{{"a":"{CANARY}",}}'.encode(), {"Content-Type": "application/json"}),
            await service.send("GET", f'{{"{CANARY}":1,"{CANARY}":2}}'.encode(), {"Content-Type": "application/json"}),
            await service.send("GET", f'{{"a":"{CANARY}'.encode() + b'\xff"}', {"Content-Type": "application/json"}),
            await service.send("GET", b"{}", {"Content-Type": CANARY}),
        ]
    assert all(answer.status_code >= 400 for answer in refused)
    output = "\n".join(answer.text + str(answer.headers) for answer in refused)
    output += "\n".join(_whole(record) for record in caplog.records)
    output += repr(service.keys)
    for secret in secrets_:
        assert secret not in output


def _whole(record: logging.LogRecord) -> str:
    formatted = logging.Formatter("%(message)s").format(record)
    return formatted + json.dumps({name: repr(value) for name, value in vars(record).items()})
