"""``/api/user`` with a contract: 409 and 422 with codes of their own; without one nothing changes."""

from __future__ import annotations

import httpx2

from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Tag
from tenantry.groups.property_schema import PropertySchema
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.contract import QueryContract
from tests.provisioning.http.conftest import Service, assert_documented, make_app, make_caller, make_keys

CONTRACT = QueryContract(
    {"sales/by_day": SQLTemplate("select 1 from t where region = {{ region }}")},
    {"production": PropertySchema({"properties": {"seats": {"type": "integer"}}})},
)
ACME = {"user_group_id": "acme", "properties": {"region": "eu"}}


async def test_put_is_refused_with_the_query_and_the_variable() -> None:
    """By the code of the case, in JSON and as a problem; the group stays as it was. Red when the contract is not given
    on to the provisioner."""
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.CUSTOMER)
    caller = await make_caller(store, environment)
    transport = httpx2.ASGITransport(app=make_app(store, make_keys(), contract=CONTRACT))
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as http:

        async def ask(method: str, properties: object, **headers: str) -> httpx2.Response:
            body = {"user_group_id": "acme", "properties": properties}
            answer = await http.request(
                method, "/api/user", json=body, headers={"Authorization": f"Token {caller}", **headers}
            )
            assert_documented(answer)
            return answer

        wrong = await ask("POST", {"seats": "many"})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "invalid_properties")
        assert wrong.json()["error"]["field"] == "/properties/seats"
        assert (await ask("GET", {"region": "eu"})).status_code == 200
        broken = await ask("PUT", {"regoin": "eu"})
        assert broken.status_code == 409
        assert broken.json()["error"] == {
            "code": "breaks_saved_query",
            "message": "with these properties 1 saved query could not run: sales/by_day needs region, which is missing",
            "field": "/properties",
        }
        problem = await ask("PUT", None, Accept="application/problem+json")
        assert (problem.status_code, problem.json()["error"]["code"]) == (409, "breaks_saved_query")
        found = (await ask("GET", None)).json()["user_group"]
        assert found["properties"] == {"region": "eu"}
        assert (await ask("PUT", {"region": "us"})).status_code == 200


async def test_it_is_off_by_default(service: Service) -> None:
    """Red when a service that nobody gave a contract refuses properties."""
    assert (await service.ask("GET", ACME)).status_code == 200
    assert (await service.ask("PUT", {**ACME, "properties": {"seats": "many"}})).status_code == 200
