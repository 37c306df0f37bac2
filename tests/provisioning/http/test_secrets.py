"""A token that was pasted where something else belongs is neither stored nor shown."""

from __future__ import annotations

import logging
import secrets
from typing import Any

import pytest

from tenantry.errors import InvalidBody
from tenantry.groups import GroupDraft, Tag
from tenantry.provisioning import Provisioner
from tenantry.provisioning.limits import pointer_of
from tenantry.testing import make_token
from tenantry.tokens import mint_api_token
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_keys
from tests.provisioning.http.test_table import code_of

API = [mint_api_token(tag, secrets.token_bytes) for tag in Tag]
GROUP = [make_keys().mint(make_token(tag=tag)) for tag in Tag]
SECRETS = {
    "API token": API[0],
    "API token of a test": API[1],
    "group token": GROUP[0],
    "group token of a test": GROUP[1],
    "header": f"Token {API[0]}",
    "in a sentence": f"my id is {GROUP[0]}, I think",
    "one character short": API[0][:-1],
    "one character too many": API[0] + "x",
    "two thirds": GROUP[0][:64],
}
POINTERS: dict[str, Any] = {
    "/user_group_id": lambda secret: {"user_group_id": secret},
    "/name": lambda secret: {"user_group_id": "acme", "name": secret},
    "/properties/a": lambda secret: {"user_group_id": "acme", "properties": {"a": secret}},
    "/properties/a/1/b": lambda secret: {"user_group_id": "acme", "properties": {"a": [1, {"b": secret}]}},
    "/mapping/main": lambda secret: {"user_group_id": "acme", "mapping": {"main": secret}},
}
NAMES: dict[str, Any] = {
    "/properties/": lambda secret: {"user_group_id": "acme", "properties": {secret: 1}},
    "/mapping/": lambda secret: {"user_group_id": "acme", "mapping": {secret: "warehouse"}},
    "/": lambda secret: {"user_group_id": "acme", secret: 1},
}


def assert_nowhere(secret: str, *texts: str) -> None:
    """Nothing of its random part: a token's kind and last characters may be shown."""
    for text in texts:
        assert secret[10:40] not in text


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("pointer", POINTERS)
async def test_a_secret_as_a_value(service: Service, pointer: str, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """422, which points at it and does not repeat it; nothing is stored, by no method.

    Red, for each pointer, without the check of its texts: 200, and the secret is in lists and dashboards; or 404 for
    the id of a PUT, as if it were only unknown.
    """
    with caplog.at_level(logging.DEBUG):
        for method in ("GET", "POST", "QUERY", "PUT"):
            answer = await service.ask(method, POINTERS[pointer](SECRETS[kind]))
            assert code_of(answer) == (422, "invalid_body")
            assert answer.json()["error"]["field"] == pointer
            assert_nowhere(SECRETS[kind], answer.text, caplog.text)
    assert await service.store.groups.list(service.production) == []
    assert_nowhere(SECRETS[kind], repr(await service.store.audit.list()))


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("pointer", NAMES)
async def test_a_secret_as_a_name(service: Service, pointer: str, kind: str) -> None:
    """The pointer would repeat it. Red without the mask in ``pointer_of``."""
    for method in ("GET", "PUT"):
        answer = await service.ask(method, NAMES[pointer](SECRETS[kind]))
        assert answer.status_code == 422
        assert answer.json()["error"]["field"].startswith(pointer)
        assert_nowhere(SECRETS[kind], answer.text)


async def test_a_secret_as_an_idempotency_key(service: Service) -> None:
    """400: a store keeps the key. Red when only its characters are looked at."""
    for secret in (*API, *GROUP):
        answer = await service.ask("POST", {"user_group_id": "acme"}, Idempotency_Key=secret)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
        assert_nowhere(secret, answer.text)
    assert await service.store.groups.list(service.production) == []


async def test_a_secret_in_an_address(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """The log of requests names the path. Red without the mask there."""
    with caplog.at_level(logging.INFO, logger="tenantry.access"):
        await service.http.get(f"/api/user/{GROUP[0]}")
    assert "/api/user/ugtc_" in caplog.text
    assert_nowhere(GROUP[0], caplog.text, *(repr(vars(record)) for record in caplog.records))


@pytest.mark.parametrize("text", ["ugtc_", "ugkc_acme", "ugtc_customer_0001", "debugkc_", "UGKC_" + "A" * 49])
async def test_what_only_begins_alike_is_taken(service: Service, text: str) -> None:
    """An id is the customer's own affair. Red when the prefix alone is refused."""
    assert (await service.ask("GET", {"user_group_id": text})).status_code == 200


async def test_a_group_from_before_is_found_and_changed_by_a_program(service: Service) -> None:
    """What was stored when nobody looked can be read, and deleted: the checks are of what is written."""
    await service.store.groups.get_or_create(service.production, GroupDraft(API[0], "Acme"), make_token())
    provisioner = Provisioner(service.store, service.keys)
    assert await provisioner.get(service.production, API[0]) is not None
    with pytest.raises(InvalidBody):
        await provisioner.get_or_create(service.production, GroupDraft(API[0], "Acme"))
    await provisioner.delete(service.production, API[0])


def test_a_pointer_shows_no_token() -> None:
    assert pointer_of(["properties", API[0]]) == f"/properties/ugkc_…{API[0][-4:]}"


async def test_bytes_around_a_secret(service: Service) -> None:
    """A body that is broken after a secret is not repeated either."""
    answer = await service.send("GET", b'{"user_group_id": "' + API[0].encode(), JSON_TYPE)
    assert answer.status_code == 400
    assert_nowhere(API[0], answer.text)
