"""``GET /api/users``: pages of user groups, for whoever may provision; nothing is created and no token is shown."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tenantry.errors import StoreUnavailable
from tenantry.tokens import TOKEN_PATTERN
from tests.provisioning.http.conftest import Service, make_service
from tests.provisioning.http.test_table import ACME, assert_always, code_of


async def ask(service: Service, query: str = "", *, method: str = "GET", caller: str | None = None) -> httpx2.Response:
    return await service.send(method, b"", {}, path="/api/users" + query, caller=caller)


async def ids(service: Service, query: str) -> list[str]:
    answer = await ask(service, query)
    assert answer.status_code == 200, answer.text
    return [group["provided_id"] for group in answer.json()["user_groups"]]


@pytest.fixture
async def five(service: Service) -> Service:
    for number in range(5):
        await service.ask("GET", {"user_group_id": f"g{number}", "name": f"Group {number} Ltd"})
    return service


async def test_a_list_has_the_documented_fields(service: Service) -> None:
    """Everything that callers set, and no token. Red when the answer of GET /api/user is used."""
    body = {**ACME, "name": "Acme", "properties": {"region": "eu", "n": 1.0}, "mapping": {"main": "own"}}
    made = await service.ask("GET", body, caller=service.tester)
    answer = await ask(service, caller=service.tester)
    assert_always(answer)
    group = {
        "team_id": made.json()["user_group"]["team_id"],
        "name": "Acme",
        "provided_id": "acme",
        "properties": {"region": "eu", "n": 1.0},
        "mapping": {"main": "own"},
        "api_environment_tag": "Testing",
        "expires_at": None,
        "suspended": False,
    }
    assert answer.json() == {"success": 1, "user_groups": [group], "next": None}
    assert not TOKEN_PATTERN.search(answer.text)
    assert (await ask(service)).json()["user_groups"] == [], "the group is of another environment"


async def test_pages_follow_each_other(five: Service) -> None:
    """``next`` leads from page to page, each group is there once, and the last page says that it is the last, also when
    it is full. Red when ``next`` is made of a full page alone."""
    seen: list[str] = []
    query = "?limit=2"
    for _ in range(3):
        document = (await ask(five, query)).json()
        seen += [group["provided_id"] for group in document["user_groups"]]
        query = f"?limit=2&after={document['next']}"
    assert seen == ["g0", "g1", "g2", "g3", "g4"]
    assert document["next"] is None
    assert (await ask(five, "?limit=5")).json()["next"] is None
    assert (await ask(five, "?limit=4")).json()["next"] is not None
    assert await ids(five, "?after=100") == []


async def test_a_group_deleted_between_pages_loses_no_other(five: Service) -> None:
    """The cursor is a number that the next groups are above, not a position. Red with an offset."""
    first = (await ask(five, "?limit=2")).json()
    await five.store.groups.delete(five.production, "g0")
    await five.store.groups.delete(five.production, "g1")
    assert await ids(five, f"?limit=2&after={first['next']}") == ["g2", "g3"]


async def test_groups_are_matched_by_id_and_name(five: Service) -> None:
    """Ids that begin with the text, names that contain it; with the other parameters, and percent-encoded."""
    await five.ask("GET", {"user_group_id": "group-x", "name": "é&x"})
    assert await ids(five, "?match=g3") == ["g3"]
    assert await ids(five, "?match=group") == ["g0", "g1", "g2", "g3", "g4", "group-x"]
    assert await ids(five, "?match=group&limit=1&after=2") == ["g2"]
    assert await ids(five, "?match=%C3%A9%26x") == ["group-x"]
    assert await ids(five, "?match=3+Ltd") == ["g3"]


async def test_one_group_by_its_id(five: Service) -> None:
    """Without creating it where there is none: no group, no entry in the audit trail."""
    before = await five.store.audit.list()
    assert await ids(five, "?user_group_id=g3") == ["g3"]
    assert await ids(five, "?user_group_id=g") == []
    assert (await ask(five, "?user_group_id=g3")).json()["next"] is None
    assert await ids(five, "?user_group_id=g3&match=GROUP+3&after=3&limit=1") == ["g3"]
    assert await ids(five, "?user_group_id=g3&match=g4") == await ids(five, "?user_group_id=g3&after=4") == []
    assert await five.store.audit.list() == before
    assert len(await five.store.groups.list(five.production)) == 5


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("?limit=0", "limit"),
        ("?limit=501", "limit"),
        ("?limit=-1", "limit"),
        ("?limit=%D9%A3", "limit"),
        ("?limit=1.0", "limit"),
        ("?limit=" + "9" * 5000, "limit"),
        ("?after=x", "after"),
        ("?after=9007199254740992", "after"),
        ("?match=", "match"),
        ("?match=%00", "match"),
        ("?match=" + "x" * 256, "match"),
        ("?user_group_id=", "user_group_id"),
        ("?limit=1&limit=1", "each at most once"),
        ("?offset=1", "limit"),
        ("?dry_run=true", "limit"),
        ("?match=%FF", "UTF-8"),
        ("?match=%ED%A0%80", "UTF-8"),
    ],
)
async def test_a_parameter_that_cannot_be_used(service: Service, query: str, named: str) -> None:
    """400 that names it and the rule; one that is not known is never passed over, for it may have been a filter."""
    answer = await ask(service, query)
    assert code_of(answer) == (400, "bad_request")
    assert named in answer.json()["error"]["message"]


async def test_a_token_in_the_address_is_not_repeated(service: Service) -> None:
    """Red when the value is part of the message."""
    token = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    for name in ("match", "user_group_id"):
        answer = await ask(service, f"?{name}={token}")
        assert code_of(answer) == (400, "bad_request")
        assert token not in answer.text


async def test_who_may_list(service: Service) -> None:
    """401 before all that is wrong with the address, 403 after it."""
    assert code_of(await ask(service, "?limit=0", caller="ugkc_" + "A" * 49)) == (401, "unauthorized")
    assert code_of(await ask(service, "?limit=0", caller=service.reader)) == (400, "bad_request")
    assert code_of(await ask(service, caller=service.reader)) == (403, "missing_scope")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "QUERY"])
async def test_it_only_reads(service: Service, method: str) -> None:
    """405 with what it answers."""
    answer = await ask(service, method=method)
    assert code_of(answer) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, OPTIONS"


async def test_a_store_that_is_down() -> None:
    """503, as everywhere."""
    service = await make_service()

    async def groups(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("down")

    service.store.groups.list = groups  # type: ignore[method-assign]
    async with service.http:
        answer = await ask(service)
    assert code_of(answer) == (503, "store_unavailable")
    assert "retry-after" in answer.headers
