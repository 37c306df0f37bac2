"""API tokens over HTTP: what each scope reaches, when one ends, and that its use is stored beside the request."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.backends.memory.api_tokens import MemoryApiTokens
from tenantry.backends.memory.store import MemoryStore
from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.sql import SQLStore
from tenantry.clock import utc_now
from tenantry.database.migrations import migrate
from tenantry.errors import StoreUnavailable
from tenantry.groups import ApiToken, Scope, SourceDraft, Tag
from tenantry.provisioning import issue_api_token
from tenantry.provisioning.http import api_token_uses
from tenantry.testing import FrozenClock
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_app, make_caller, make_keys, make_service
from tests.provisioning.http.test_table import ACME, code_of

USER = {"get", "put", "patch", "post", "query", "delete", "rotate", "revoke"}
REACHED = {
    Scope.PROVISION: {*USER, "list"},
    Scope.PROVISION_READ: {"list"},
    Scope.PROVISION_WRITE: USER,
    Scope.INTROSPECT: {"introspect"},
    Scope.PREVIEW: set(),
    Scope.PASSES: {"pass"},
    Scope.SOURCES: {"sources", "unregister"},
}
NEEDED = {
    **dict.fromkeys(USER, "provision:write"),
    "list": "provision:read",
    "introspect": "introspect",
    "pass": "passes",
    "sources": "sources",
    "unregister": "sources",
}


async def _call(service: Service, name: str, caller: str, token: str) -> httpx2.Response:
    headers = {"Authorization": f"Token {caller}"}
    match name:
        case "list":
            return await service.http.get("/api/users", headers=headers)
        case "sources":
            return await service.http.get("/api/data-sources", headers=headers)
        case "unregister":
            return await service.http.delete("/api/data-sources?name=warehouse&dry_run=true", headers=headers)
        case "introspect":
            return await service.http.post("/oauth/introspect", data={"token": token}, headers=headers)
        case "delete":
            return await service.http.delete("/api/user?user_group_id=acme&dry_run=true", headers=headers)
        case "rotate":
            path, method, body = "/api/user/rotate", "POST", {"current_token": token}
        case "pass":
            path, method, body = "/api/user/passes", "POST", ACME
        case "revoke":
            path, method, body = "/api/user/viewers/revoke", "POST", {**ACME, "viewer_id": "ann"}
        case _:
            path, method, body = "/api/user", name.upper(), ACME
    return await service.http.request(method, f"{path}?dry_run=true", json=body, headers=headers)


@pytest.mark.parametrize("scope", Scope)
async def test_what_a_scope_reaches(service: Service, scope: Scope) -> None:
    """Each call with an API token of one scope is answered, or refused with 403 and the scope that it lacks.

    Red when GET of ``/api/user``, which shows tokens, is enough for ``provision:read``; and when ``provision:write``
    lists.
    """
    token = (await service.ask("GET", ACME)).json()["user_group"]["token"]
    caller = await make_caller(service.store, service.production, scope)
    await service.store.sources.create(service.production, "ds_1", SourceDraft("warehouse", "x://"))
    for name, needed in NEEDED.items():
        answer = await _call(service, name, caller, token)
        if name in REACHED[scope]:
            assert answer.status_code == 200, (name, answer.text)
        else:
            assert answer.status_code == 403
            assert f"lacks the scope {needed}: " in answer.text
            assert f"--scope {needed}" in answer.text


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


async def test_an_api_token_that_has_ended(clock: FrozenClock) -> None:
    """401 with a code of its own on every address, before anything else is said; no message has any of the secret.

    Red when only the look-up with a group looks at the end.
    """
    service = await make_service(MemoryStore(clock=clock))
    secret, made = await issue_api_token(
        service.store.api_tokens, service.production, scopes=list(Scope), expires_at=clock() + timedelta(hours=1)
    )
    async with service.http:
        assert (await service.ask("GET", ACME, caller=secret)).status_code == 200
        clock.advance(3_600)
        for name in NEEDED:
            answer = await _call(service, name, secret, "ugtc_x")
            assert answer.status_code == 401
            assert "api_token_expired" in answer.text
            assert "expired at 2026-01-01T01:00:00+00:00: create another with tenantry api-token create" in answer.text
            assert "www-authenticate" in answer.headers
            assert not any(part in answer.text for part in (secret, secret[5:20], made.hint))
        assert code_of(await service.send("GET", b"{", JSON_TYPE, caller=secret)) == (401, "api_token_expired")


async def test_an_end_needs_a_time_zone(service: Service) -> None:
    """Red when a time of nowhere is taken for one of UTC."""
    with pytest.raises(ValueError, match="time zone"):
        await issue_api_token(service.store.api_tokens, service.production, expires_at=utc_now().replace(tzinfo=None))


# --- the last use ---


class RecordingTokens(MemoryApiTokens):
    """Their records of uses take until they are let go, and fail as told."""

    def __init__(self, tables: MemoryTables) -> None:
        super().__init__(tables)
        self.begun = 0
        self.go = asyncio.Event()
        self.failure: Exception | None = None

    async def record_use(self, token: ApiToken) -> None:
        self.begun += 1
        await self.go.wait()
        if self.failure is not None:
            raise self.failure
        await super().record_use(token)


class Recording(MemoryStore):
    """``api_tokens`` are RecordingTokens."""

    def __init__(self) -> None:
        super().__init__()
        self.api_tokens: RecordingTokens = RecordingTokens(self._tables)


async def _last_use(service: Service) -> Any:
    (found,) = [
        each for each in await service.store.api_tokens.list(service.production) if Scope.PROVISION in each.scopes
    ]
    return found.last_used_at


async def test_no_request_waits_for_the_record_of_its_use() -> None:
    """Both are answered while the first record is under way, and the second begins none. Red when it is awaited, and
    when each request begins one."""
    service = await make_service(Recording())
    async with service.http, asyncio.timeout(60):
        for _ in range(2):
            assert (await service.ask("GET", ACME)).status_code == 200
        await asyncio.sleep(0)
        assert (service.store.api_tokens.begun, await _last_use(service)) == (1, None)
        service.store.api_tokens.go.set()
        while await _last_use(service) is None:
            await asyncio.sleep(0.01)
        assert utc_now() - await _last_use(service) < timedelta(minutes=5)
        assert (await service.ask("GET", ACME)).status_code == 200
        assert service.store.api_tokens.begun == 1


@pytest.mark.parametrize("failure", [StoreUnavailable("the store is read-only"), None])
async def test_no_request_fails_with_the_record_of_its_use(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A store that refuses, or never answers, is asked again ten minutes later; the log says why, and no secret."""
    monkeypatch.setattr(api_token_uses, "_PATIENCE", 0.01)
    service = await make_service(Recording())
    service.store.api_tokens.failure = failure
    if failure is not None:
        service.store.api_tokens.go.set()
    with caplog.at_level("INFO", "tenantry.api"):
        async with service.http, asyncio.timeout(60):
            assert (await service.ask("GET", ACME)).status_code == 200
            while not caplog.records:
                await asyncio.sleep(0.01)
            assert (await service.ask("GET", ACME)).status_code == 200
    assert (service.store.api_tokens.begun, await _last_use(service)) == (1, None)
    assert "the use of API token" in caplog.text
    assert service.caller not in caplog.text


async def test_a_store_that_nobody_can_write_to(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Groups are listed at once while another program holds the lock of the file; the record of the use is given up at
    the deadline of the store. One of some answers has to come before that: a busy machine may hold up the others. Red
    when the record is part of the request."""
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    store = SQLStore(url, run_dir=tmp_path / "run")
    production = await store.environments.create("production", Tag.CUSTOMER)
    secrets = [(await issue_api_token(store.api_tokens, production))[0] for _ in range(5)]
    store._runner._timeout = 0.3
    transport = httpx2.ASGITransport(make_app(store, make_keys()))
    with closing(sqlite3.connect(tmp_path / "store.db")) as file, caplog.at_level("INFO", "tenantry.api"):
        file.execute("begin immediate")
        async with httpx2.AsyncClient(transport=transport, base_url="http://tenantry.test") as http:
            for secret in secrets:
                caplog.clear()
                answer = await http.get("/api/users", headers={"Authorization": f"Token {secret}"})
                at_once = not caplog.records
                assert answer.json()["user_groups"] == []
                async with asyncio.timeout(60):
                    while "was not stored: " not in caplog.text:
                        await asyncio.sleep(0.01)
                if at_once:
                    break
        assert at_once
    await store.aclose()
