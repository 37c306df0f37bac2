"""What a cached request with one query costs: calls into our code, in the event loop and in the thread of the query."""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import MutableMapping
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.requests import Request

import tenantry
from tenantry import DataSources, Resolver, UserGroupMiddleware, user_group, variables
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import GroupDraft, SourceDraft, Tag
from tenantry.sql import SQLTemplate
from tenantry.tokens import draft_token
from tests.datasources.conftest import sqlite_file
from tests.datasources.hosts import KEYS, NO_POLL

MOST_CALLS = 48
MOST_CALLS_OF_THE_QUEUE = 11
"""The time that each group has used is kept, and which groups are long-running."""
MOST_CALLS_OF_THE_WATCH = 9
"""Whether the group and the source are still those that the query was bound with."""
MOST_CALLS_OF_THE_COUNTERS = 11
"""What operators see: the counters of a source and of a group, the times, and for whom a query runs."""
MOST_CALLS_OF_THE_IN_FLIGHT_QUERY = 11
OURS = str(Path(tenantry.__file__).parent)
ORDERS = SQLTemplate("select id, owner from orders where region = {{ region }}")


class CallCounter:
    """Lists the functions of ours that are called while it is ``on``, in every thread that starts after it was made."""

    def __init__(self) -> None:
        self.on = False
        self.calls: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if self.on and event == "call" and frame.f_code.co_filename.startswith(OURS):
            self.calls.append(f"{frame.f_code.co_filename[len(OURS) + 1 :]}:{frame.f_code.co_qualname}")


async def test_a_cached_request_with_one_query(tmp_path: Path) -> None:
    """The middleware finds a cached group, the view takes it and its variables, and runs one query on SQLite.

    Red when the registration is read for every query: 16 calls more.
    """
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    store = SQLStore(url, run_dir=tmp_path / "run")
    environment = await store.environments.create("production", Tag.CUSTOMER)
    path = sqlite_file(tmp_path / "orders.db", "acme")
    await store.sources.create(environment, "ds_1", SourceDraft("warehouse", path))
    token = draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)
    await store.groups.get_or_create(
        environment, GroupDraft("acme", "Acme", {"region": "eu"}, {"main": "warehouse"}), token
    )
    raw = KEYS.mint(token).encode()
    resolver, sources = Resolver(store, keys=KEYS, staleness=NO_POLL), DataSources(store)
    counter = CallCounter()

    async def app(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        request = Request(scope)
        rows = await sources.fetch(user_group(request), "main", ORDERS, variables(request))
        assert len(rows) == 3
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> dict[str, Any]:
        return {}

    async def send(message: MutableMapping[str, Any]) -> None:
        return

    middleware = UserGroupMiddleware(app, resolver=resolver)

    async def request() -> None:
        headers = [(b"host", b"x"), (b"x-user-group-token", raw)]
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/",
            "raw_path": b"/",
            "query_string": b"",
            "headers": headers,
        }
        await middleware(scope, receive, send)

    before = sys.getprofile()
    threading.setprofile(counter)
    try:
        for _ in range(2 * 5):  # each of the five threads of the source has begun, and the first poll is over
            await request()
        sys.setprofile(counter)
        counter.on = True
        await request()
    finally:
        counter.on = False
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]  # as its documentation has it
    assert any("SQLiteDriver.fetch" in call for call in counter.calls), "the thread of the query was not counted"
    queued = ("datasources/pool/fair_queue", "datasources/pool/group_queue")
    queue = [call for call in counter.calls if call.startswith(queued)]
    assert len(queue) <= MOST_CALLS_OF_THE_QUEUE, "\n".join(queue)
    watched = ("datasources/query_watch", "datasources/source_lookup.py:SourceLookup.staleness", "backends/audit")
    watch = [call for call in counter.calls if call.startswith(watched)]
    assert len(watch) <= MOST_CALLS_OF_THE_WATCH, "\n".join(watch)
    in_flight = [call for call in counter.calls if call.startswith("datasources/caching/")]
    assert len(in_flight) <= MOST_CALLS_OF_THE_IN_FLIGHT_QUERY, "\n".join(in_flight)
    observed = ("datasources/activity", "durations", "usage/", "datasources/query_label")
    counters = [call for call in counter.calls if call.startswith(observed)]
    assert len(counters) <= MOST_CALLS_OF_THE_COUNTERS, "\n".join(counters)
    rest = len(counter.calls) - len(queue) - len(watch) - len(in_flight) - len(counters)
    assert rest <= MOST_CALLS, "\n".join(counter.calls)
    await sources.aclose()
    await resolver.aclose()
    await store.aclose()
