"""What is shown of requests to the provisioning API."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import httpx2

from engines.warm_python import run
from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Tag
from tenantry.provisioning import issue_api_token
from tenantry.server.app import compose
from tenantry.tokens import KeyRing, SigningKey
from tests.server.metrics.conftest import samples


async def test_requests_are_counted_by_what_became_of_them() -> None:
    """Operation, status and code; the label holds nothing that a caller chose. Red when refusals are not counted."""
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    secret, _ = await issue_api_token(store.api_tokens, production)
    app = compose(store, KeyRing([SigningKey("k1", b"k1" * 16)]), metrics=True)
    headers = {"Authorization": f"Token {secret}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://api.test") as client:
        made = await client.request("GET", "/api/user", json={"user_group_id": "acme-canary"}, headers=headers)
        token = made.json()["user_group"]["token"]
        await client.post("/api/user", json={"current_token": token}, headers=headers)
        await client.post("/api/user", json={"current_token": token}, headers=headers)
        await client.put("/api/user", json={"user_group_id": "nobody-canary"}, headers=headers)
        await client.put("/api/user", json={"user_group_id": "nobody-canary"})
        text = (await client.get("/metrics")).text
    shown = samples(text)
    for operation, status, code in (
        ("get_or_create", "200", "ok"),
        ("rotate", "200", "ok"),
        ("rotate", "409", "token_already_rotated"),
        ("update", "404", "unknown_group"),
        ("none", "401", "unauthorized"),
    ):
        labels = (("code", code), ("operation", operation), ("status", status))
        assert shown["tenantry_api_requests_total", labels] == 1
    assert shown["tenantry_api_request_duration_seconds_count", (("operation", "rotate"),)] == 2
    for canary in (token, secret, "canary", "ugtc_", "ugkc_"):
        assert canary not in text


async def test_metrics_are_served_only_when_asked_for() -> None:
    """They ask nobody for a token, so they are off. Red when the route is always there."""
    app = compose(MemoryStore(), KeyRing([SigningKey("k1", b"k1" * 16)]))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://api.test") as client:
        assert (await client.get("/metrics")).status_code == 404


def test_workers_add_up(tmp_path: Path) -> None:
    """Two processes with one folder: either shows the sum. Red when each shows its own."""
    code = """
import asyncio
from tenantry.provisioning.http import RequestRecord
from tenantry.server.metrics import ApiMetrics, metrics_app
api = ApiMetrics()
api(RequestRecord("rotate", 200, "ok", 0.01))
sent = []
async def send(message): sent.append(message)
asyncio.run(metrics_app(api=api)({"method": "GET", "headers": []}, None, send))
print(sent[1]["body"].decode())
"""
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(2):
        done = run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    labels = (("code", "ok"), ("operation", "rotate"), ("status", "200"))
    assert samples(done.stdout)["tenantry_api_requests_total", labels] == 2
