"""What a role of PostgreSQL must be allowed: an app that resolves tokens writes to no group."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.errors import StoreUnavailable
from tenantry.groups import HourlyUsage, Usage, UsageBatch, UsageKey
from tests.backends.store.acme import acme

READS = "grant select on all tables in schema public to {}"
COUNTS = (
    "grant insert, update on usage_by_hour, usage_by_viewer to {}",
    "grant insert, update, delete on usage_writers to {}",
)
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
NOTES = "grant update (run_name, longest_lease) on generation to {}"


def _app(postgres: Postgres, url: str, *grants: str) -> str:
    name = f"app{secrets.token_hex(4)}"
    postgres.execute("; ".join([f"create role {name} login", *(grant.format(name) for grant in grants)]), url=url)
    return url.replace("postgres@", f"{name}@", 1)


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(tmp_path / "run"))


@pytest.mark.usefixtures("own_folder")
async def test_the_rights_of_the_docs_are_enough_to_follow_changes(postgres_url: str, postgres: Postgres) -> None:
    """Red when the note of a lease touches another column, or another table is read for a lock."""
    writer = SQLStore(postgres_url)
    issued = await acme(writer)
    app = SQLStore(_app(postgres, postgres_url, READS, NOTES))
    assert (await app.changes(None, lease=5.0)).generation == 0
    assert await app.find(issued.token) == issued.group
    for store in (app, writer):
        await store.aclose()


async def test_the_rights_of_the_docs_are_enough_to_count(
    postgres_url: str, postgres: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    """What groups and viewers use is added by a role that has them; one without them says so once, and nothing else
    fails.

    Red without the right to delete writers that have ended."""
    owner = SQLStore(postgres_url)
    await owner.usage.set_viewer_usage((await acme(owner)).group.environment, True)
    await owner.aclose()
    keys = [UsageKey("production", "acme", ""), UsageKey("production", "acme", "", "ann")]
    batch = UsageBatch(b"w" * 16, 1, [HourlyUsage(NOON, key, Usage(resolves=1)) for key in keys])
    app = SQLStore(_app(postgres, postgres_url, READS, *COUNTS))
    for number in (1, 2):
        await app.usage.add(replace(batch, number=number))
    for by_viewer in (False, True):
        found = await app.usage.sums(NOON, NOON + timedelta(hours=1), by_viewer=by_viewer)
        assert list(found.values()) == [Usage(resolves=2)]
    await app.aclose()
    reader = SQLStore(_app(postgres, postgres_url, READS))
    assert reader.usage_recorder is not None
    reader.usage_recorder.add("production", "acme", resolves=1)
    for _ in range(2):
        await reader.usage_recorder.flush()
    await reader.aclose()
    assert caplog.text.count("permission denied") == 1


@pytest.mark.usefixtures("own_folder")
async def test_a_missing_right_is_named(postgres_url: str, postgres: Postgres) -> None:
    """The driver's own error came through: a log line without a cause, and no cache. Red when SQLSTATE 42501 is not
    among those that are known."""
    app = SQLStore(_app(postgres, postgres_url, READS))
    with pytest.raises(StoreUnavailable, match=r"permission denied for table generation.*rights"):
        await app.changes(None, lease=5.0)
    await app.aclose()
    no_rights = SQLStore(_app(postgres, postgres_url))
    with pytest.raises(StoreUnavailable, match="permission denied"):
        await no_rights.environments.list()
    await no_rights.aclose()
