"""``tenantry serve --listen-database``: whether apps that listen there receive the server's writes."""

from __future__ import annotations

import time
from pathlib import Path

import httpx2
import pytest

from engines.pgbouncer import PgBouncer
from engines.postgres import Postgres
from tenantry.errors import InvalidSettings
from tenantry.server.app import make_app
from tenantry.server.settings import load_settings
from tenantry.tokens.keys import create_key_file
from tests.cli.conftest import Terminal
from tests.cli.serving import Server, serving


def _until(server: Server, wanted: bool) -> tuple[dict[str, object], str]:
    """What /readyz and /metrics say once the bus is known to receive, or not to."""
    for _ in range(600):
        ready = httpx2.get(f"{server.url}/readyz", timeout=30)
        metrics = httpx2.get(f"{server.url}/metrics", timeout=30).text
        assert ready.status_code == 200
        if ("degraded" not in ready.json()) == wanted and f'PostgresBus"}} {float(wanted)}' in metrics:
            return ready.json(), metrics
        time.sleep(0.05)
    raise AssertionError((ready.json(), metrics))


@pytest.mark.slow
def test_serve_says_whether_notifications_arrive(
    ready: Terminal, folder: Path, postgres: Postgres, transaction_pooler: PgBouncer
) -> None:
    """At the direct address they do; through the pooler they do not, and the log, /readyz and /metrics say so."""
    database = postgres.create_database()
    pooled = transaction_pooler.url(database)
    options = ("--database", pooled, "--metrics", "--listen-database")
    with serving(folder, *options, database) as server:
        answer, _ = _until(server, wanted=True)
        assert answer == {"success": 1, "status": "ready"}
    assert "is deaf" not in server.log()
    with serving(folder, *options, pooled) as server:
        answer, metrics = _until(server, wanted=False)
        assert answer["degraded"] == ["PostgresBus: deaf"]
        assert "tenantry_bus_deaf_total" in metrics
    assert server.log().count("is deaf") == 1


def test_an_sqlite_store_has_nothing_to_listen_to(tmp_path: Path) -> None:
    """The wrong kind of URL is refused before anything starts."""
    keys = tmp_path / "tenantry.keys"
    create_key_file(keys)
    for store, listen in (("sqlite:///t.db", "postgresql://u@h/d"), ("postgresql://u@h/d", "redis://h")):
        with pytest.raises(InvalidSettings, match="postgresql:"):
            make_app(load_settings(database=store, keys=keys, listen_database=listen), lambda: False)
