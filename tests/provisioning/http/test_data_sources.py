"""``/api/data-sources``: list, register, change and delete, with the store in memory and PostgreSQL as the source."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from engines.postgres import Postgres
from tenantry.datasources import DataSources
from tenantry.errors import DataSourceError, TemplateError
from tenantry.groups import Scope, SourceDraft
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_caller, make_service
from tests.provisioning.http.test_table import assert_always, code_of

PATH = "/api/data-sources"
NOWHERE = "mysql://reader@db.example.com/shop"
SECRET = "s3cret-0123456789"
TABLES = {"tables": {"orders": "customer_id", "countries": "shared"}}


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    """It allows db.example.com, where nothing answers, and this machine. Callers have the scope ``sources``."""
    made = await make_service(source_hosts=["db.example.com", "127.0.0.1"])
    made.caller = await make_caller(made.store, made.production, Scope.SOURCES)
    async with made.http:
        yield made


@pytest.fixture
def shop(postgres: Postgres) -> str:
    """The URL of a database with tables."""
    url = postgres.create_database()
    postgres.execute(
        "create table orders (id int, customer_id text); create table countries (code text);"
        "insert into orders values (1, 'acme'), (2, 'bolt'); insert into countries values ('at')",
        url=url,
    )
    return url


async def ask(service: Service, method: str, body: Any = None, query: str = "") -> httpx2.Response:
    content, headers = (b"", {}) if body is None else (json.dumps(body).encode(), JSON_TYPE)
    answer = await service.send(method, content, headers, path=PATH + query)
    assert_always(answer)
    assert SECRET not in answer.text
    return answer


async def done(service: Service, method: str, body: Any = None, query: str = "") -> Any:
    answer = await ask(service, method, body, query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refused(service: Service, method: str, body: Any, status: int, code: str, field: str | None = None) -> str:
    """The message."""
    answer = await ask(service, method, body)
    assert code_of(answer) == (status, code), answer.text
    assert answer.json()["error"].get("field") == field
    return str(answer.json()["error"]["message"])


def group(service: Service, name: str, mapping: dict[str, str]) -> Any:
    return service.ask("POST", {"user_group_id": name, "mapping": mapping}, caller=service.tester)


async def test_a_data_source_is_registered_and_shown(service: Service, shop: str) -> None:
    """With its declaration, and the password masked in every answer, and encrypted in the store."""
    url = shop.replace("postgres@", f"postgres:{SECRET}@")
    made = (await done(service, "POST", {"name": "warehouse", "url": url, "tables": TABLES}))["data_source"]
    assert made == {
        "id": made["id"],
        "name": "warehouse",
        "environment": "production",
        "engine": "postgresql",
        "url": url.replace(SECRET, "***"),
        "secrets": "encrypted",
        "trusted": False,
        "session": {},
        "groups": 0,
        "tables": TABLES,
    }
    for query in ("", "?name=warehouse", f"?name={made['id']}"):
        assert await done(service, "GET", query=query) == {"success": 1, "data_sources": [made], "next": None}
    assert (await done(service, "GET", query="?name=other"))["data_sources"] == []
    (stored,) = await service.store.sources.list(service.production)
    assert SECRET not in stored.url
    assert SECRET not in repr(await service.store.audit.list())


async def test_guarded_tables_hold_at_the_first_query(service: Service, shop: str) -> None:
    """A query that forgets the customer reads only the rows of its own. Red when the declaration is not stored."""
    await done(service, "POST", {"name": "warehouse", "url": shop, "tables": TABLES})
    caller = await make_caller(service.store, service.production, Scope.PROVISION)
    await service.ask("POST", {"user_group_id": "acme", "mapping": {"main": "warehouse"}}, caller=caller)
    issued = await service.store.groups.get(service.production, "acme")
    async with DataSources(service.store, keys=service.keys) as sources:
        rows = await sources.query(issued.group, "main", "select id, customer_id from orders")
        assert [tuple(row) for row in rows.rows] == [(1, "acme")]
        await done(service, "PATCH", {"name": "warehouse", "tables": {"tables": {"countries": "shared"}}})
        with pytest.raises((DataSourceError, TemplateError), match="orders"):
            await sources.query(issued.group, "main", "select id from orders")


async def test_a_declaration_that_the_source_does_not_fit(service: Service, shop: str) -> None:
    """Nothing is written. Red when only the text of a declaration is read."""
    wrong = {"tables": {"orders": "tenant"}}
    for method, body in (("POST", {"url": shop}), ("PATCH", {})):
        body = {"name": "warehouse", "tables": wrong, **body}
        said = await refused(service, method, body, 422, "data_source_test_failed", "/tables")
        assert "tenant" in said
        assert "Nothing was changed" in said
        found = (await done(service, "GET"))["data_sources"]
        assert [each["tables"] for each in found] == [None] * len(found)
        if method == "POST":
            assert found == []
            await done(service, "POST", {"name": "warehouse", "url": shop})
    await done(service, "PATCH", {"name": "warehouse", "tables": wrong, "test": False})


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"url": "postgresql://u@evil.example/x"}, "/url"),
        ({"url": "sqlite:////etc/tenantry.db"}, "/url"),
        ({"url": f"postgresql://u:{SECRET}@[x/x"}, "/url"),
        ({"url": f"mysql://u:{SECRET}@db.example.com"}, "/url"),
        ({"password": "file:/etc/tenantry.keys"}, "/password"),
        ({"url": "mysql://db.example.com/x", "password": SECRET}, "/password"),
        ({"session": {"app.tenant": "{{ user_group.id }}"}}, "/session"),
        ({"name": "ds_1"}, "/name"),
        ({"tables": {"tables": {"orders": 5}}}, "/tables/tables/orders"),
        ({"tables": {"tables": {"a/b": "{{ x"}}}, "/tables/tables/a~1b"),
        ({"tables": {"functions": ["f"]}}, "/tables"),
    ],
)
async def test_what_a_body_cannot_say(service: Service, fields: dict[str, Any], field: str) -> None:
    """422 with a pointer to the field, and nothing of the value."""
    body = {"name": "warehouse", "url": NOWHERE, "test": False, **fields}
    await refused(service, "POST", body, 422, "invalid_source", field)
    assert (await done(service, "GET"))["data_sources"] == []


@pytest.mark.parametrize(
    ("method", "body", "field"),
    [
        ("POST", {"name": "warehouse"}, "/url"),
        ("POST", {"name": "", "url": NOWHERE}, "/name"),
        ("POST", {"name": "w", "url": NOWHERE, "trusted": True}, "/trusted"),
        ("POST", {"name": "w", "url": NOWHERE, "test": "no"}, "/test"),
        ("PATCH", {"url": NOWHERE}, "/name"),
        ("PATCH", {"name": "w"}, ""),
        ("PATCH", {"name": "w", "url": None}, "/url"),
        ("PATCH", {"name": "w", "new_name": ""}, "/new_name"),
        ("PATCH", {"name": "w", "trusted": True}, "/trusted"),
    ],
)
async def test_a_body_of_another_shape(service: Service, method: str, body: Any, field: str) -> None:
    await refused(service, method, body, 422, "invalid_body", field)


async def test_a_source_that_does_not_answer(service: Service, shop: str, caplog: pytest.LogCaptureFixture) -> None:
    """422 within the time of the test; the message names the cause and no password. ``test`` false writes it. Red when
    a new password alone is not tested."""
    port = urlsplit(shop).port
    url = f"postgresql://nobody:{SECRET}@127.0.0.1:{port}/none"
    await refused(service, "POST", {"name": "warehouse", "url": url}, 422, "data_source_test_failed", "/url")
    assert (await done(service, "GET"))["data_sources"] == []
    await done(service, "POST", {"name": "warehouse", "url": url, "test": False})
    password = {"name": "warehouse", "password": SECRET}
    await refused(service, "PATCH", password, 422, "data_source_test_failed", "/url")
    assert SECRET not in caplog.text


async def test_a_name_that_is_taken_or_unknown(service: Service) -> None:
    body = {"name": "warehouse", "url": NOWHERE, "test": False}
    await done(service, "POST", body)
    await refused(service, "POST", body, 409, "already_exists", "/name")
    await refused(service, "PATCH", {"name": "other", "tables": None}, 404, "data_source_not_found", "/name")
    answer = await ask(service, "DELETE", query="?name=other")
    assert code_of(answer) == (404, "data_source_not_found")
    assert (await ask(service, "DELETE")).status_code == 400


async def test_a_source_moves_and_its_password_changes(service: Service, shop: str) -> None:
    """The old password does not go to a new address. Red when PATCH of the URL kept it."""
    await done(service, "POST", {"name": "w", "url": shop.replace("postgres@", f"postgres:{SECRET}@")})
    changed = (await done(service, "PATCH", {"name": "w", "password": SECRET + "2"}))["data_source"]
    assert (changed["url"], changed["secrets"]) == (shop.replace("postgres@", "postgres:***@"), "encrypted")
    moved = (await done(service, "PATCH", {"name": "w", "url": shop}))["data_source"]
    assert (moved["id"], moved["url"], moved["secrets"]) == (changed["id"], shop, None)
    both = {"name": "w", "url": shop, "password": SECRET}
    assert (await done(service, "PATCH", both))["data_source"]["secrets"] == "encrypted"
    fields = [each.details["fields"] for each in await service.store.audit.list() if "updated" in each.action]
    assert fields == ["url"] * 3
    assert SECRET not in repr(await service.store.audit.list())


async def test_a_source_gets_another_name_and_session_variables(service: Service, shop: str) -> None:
    """Refused while a group maps to the old name. Red when the name changed below its groups."""
    service.caller = await make_caller(service.store, service.testing, Scope.SOURCES)
    made = (await done(service, "POST", {"name": "w", "url": shop, "test": False}))["data_source"]
    await done(service, "POST", {"name": "other", "url": NOWHERE, "test": False})
    assert (await group(service, "a", {"x": "w"})).status_code == 200
    renaming = {"name": "w", "new_name": "sales"}
    await refused(service, "PATCH", renaming, 409, "data_source_in_use", "/new_name")
    await refused(service, "PATCH", {"name": "other", "new_name": "w"}, 409, "already_exists", "/new_name")
    await refused(service, "PATCH", {"name": "other", "new_name": "ds_1"}, 422, "invalid_source", "/new_name")
    session = {"app.tenant": "{{ user_group.id }}"}
    changed = (await done(service, "PATCH", {"name": "w", "session": session, "test": False}))["data_source"]
    assert (changed["name"], changed["session"]) == ("w", session)
    assert (await done(service, "PATCH", {"name": "w", "session": None}))["data_source"]["session"] == {}
    await refused(service, "PATCH", {"name": "other", "session": session}, 422, "invalid_source", "/session")
    renamed = (await done(service, "PATCH", {"name": "other", "new_name": "sales"}))["data_source"]
    assert (renamed["name"], renamed["id"] == made["id"]) == ("sales", False)
    assert [each["name"] for each in (await done(service, "GET"))["data_sources"]] == ["sales", "w"]


async def test_a_declaration_that_is_required_stays(service: Service) -> None:
    body = {"name": "w", "url": NOWHERE, "test": False, "tables": {**TABLES, "guard": "required"}}
    await done(service, "POST", body)
    await refused(service, "PATCH", {"name": "w", "tables": None}, 422, "invalid_source", "/tables")


async def test_a_source_in_use_is_deleted_by_force(service: Service) -> None:
    """Groups that name it by either id count once. The deletion names its author. Red without the count."""
    service.caller = await make_caller(service.store, service.testing, Scope.SOURCES)
    made = (await done(service, "POST", {"name": "w", "url": NOWHERE, "test": False}))["data_source"]
    await done(service, "POST", {"name": "unused", "url": NOWHERE, "test": False})
    for name, mapping in (("a", {"x": "w"}), ("b", {"x": made["id"], "y": "w"}), ("c", {"x": "unused", "y": "w"})):
        assert (await group(service, name, mapping)).status_code == 200
    shown = {each["name"]: each["groups"] for each in (await done(service, "GET"))["data_sources"]}
    assert shown == {"w": 3, "unused": 1}
    answer = await ask(service, "DELETE", query="?name=w")
    assert code_of(answer) == (409, "data_source_in_use")
    assert "3 user groups map to data source 'w'" in answer.text
    assert (await done(service, "DELETE", query="?name=w&force=true&dry_run=true"))["data_source"]["groups"] == 3
    assert (await done(service, "DELETE", query="?name=w&force=true"))["data_source"]["id"] == made["id"]
    assert [each["name"] for each in (await done(service, "GET"))["data_sources"]] == ["unused"]
    again = (await done(service, "POST", {"name": "w", "url": NOWHERE, "test": False}))["data_source"]
    assert again["groups"] == 3, "mappings by the caller's name survive"
    (gone,) = [each for each in await service.store.audit.list() if each.action == "data_source.deleted"]
    assert gone.subject == made["id"]
    assert gone.author.name.startswith("api token ")


async def test_a_dry_run_connects_and_writes_nothing(service: Service, shop: str) -> None:
    async def rehearse(method: str, body: Any) -> Any:
        answer = await ask(service, method, body, "?dry_run=true")
        assert answer.headers.get("dry-run") == ("true" if answer.status_code == 200 else None)
        return answer.json()

    body = {"name": "w", "url": shop, "tables": TABLES}
    rehearsed = (await rehearse("POST", {**body, "password": SECRET}))["data_source"]
    assert (rehearsed["tables"], rehearsed["secrets"], rehearsed["id"]) == (TABLES, "encrypted", "")
    assert (await rehearse("POST", {**body, "tables": {"tables": {"none": "x"}}}))["success"] == 0
    assert (await done(service, "GET"))["data_sources"] == []
    await done(service, "POST", body)
    assert (await rehearse("POST", body))["error"]["code"] == "already_exists"
    assert (await rehearse("PATCH", {"name": "w", "tables": None}))["data_source"]["tables"] is None
    assert (await done(service, "GET"))["data_sources"][0]["tables"] == TABLES


async def test_pages_follow_each_other(service: Service) -> None:
    names = ["a", "b", "c", "ä"]
    for name in names:
        await done(service, "POST", {"name": name, "url": NOWHERE, "test": False})
    seen: list[str] = []
    query = "?limit=2"
    for _ in range(2):
        page = await done(service, "GET", query=query)
        seen += [each["name"] for each in page["data_sources"]]
        query = f"?limit=2&after={page['next']}"
    assert (seen, page["next"]) == (names, None)


async def test_an_environment_sees_its_own_sources_only(service: Service) -> None:
    await done(service, "POST", {"name": "w", "url": NOWHERE, "test": False})
    service.caller = await make_caller(service.store, service.testing, Scope.SOURCES)
    assert (await done(service, "GET"))["data_sources"] == []
    await refused(service, "PATCH", {"name": "w", "tables": None}, 404, "data_source_not_found", "/name")


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
async def test_another_scope_is_not_enough(service: Service, method: str) -> None:
    """Not even the two of provisioning. Nothing connects before the scope is checked."""
    every = [scope for scope in Scope if scope is not Scope.SOURCES]
    service.caller = await make_caller(service.store, service.production, *every)
    body = {"name": "w", "url": "postgresql://u@127.0.0.1:1/x"} if method in ("POST", "PATCH") else None
    answer = await ask(service, method, body, "?name=w" if method in ("GET", "DELETE") else "")
    assert code_of(answer) == (403, "missing_scope")


async def test_without_hosts_declarations_still_change() -> None:
    """The default of a service: no URL is accepted, but the operator's sources can be listed, guarded and deleted."""
    service = await make_service()
    service.caller = await make_caller(service.store, service.production, Scope.SOURCES)
    async with service.http:
        body = {"name": "w", "url": NOWHERE, "test": False}
        assert "api_source_hosts" in await refused(service, "POST", body, 422, "invalid_source", "/url")
        await service.store.sources.create(service.production, "ds_1", SourceDraft("w", NOWHERE))
        assert "api_source_hosts" in await refused(service, "PATCH", body, 422, "invalid_source", "/url")
        changed = await done(service, "PATCH", {"name": "w", "tables": TABLES, "test": False})
        assert changed["data_source"]["tables"] == TABLES
        await done(service, "DELETE", query="?name=w")
