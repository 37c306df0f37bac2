"""What the server of the SQL editor needs for the requests of a page while an author types.

``make bench TABLES=editor_language``: a text of 4 KiB, a catalogue of 10,000 columns, 10,000 groups. Each request has
another text, as after a keystroke. The times are processor times of the whole process, because the requests compile in
threads and the load of the machine must not count.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx2
from starlette.applications import Starlette

from benchmarks.harness.table import Aim, Table
from tenantry.backends.memory import MemoryStore
from tenantry.datasources import DataSources
from tenantry.editor import EditorAuthor, mount_editor
from tenantry.groups import GroupDraft, SourceDraft, Tag
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.tokens import KeyRing, SigningKey

GROUPS: Final = 10_000
RUNS: Final = 21
AIM_MILLISECONDS: Final = 50.0
TABLES: Final = {"tables": {"flights": {"carrier": "{{ user_group.properties.carrier }}"}, "routes": "shared"}}
SUMS: Final = ",\n  ".join(
    f"sum(case when b.kind = 'kind number {n}' then b.seats else 0 end) as seats_of_kind_{n}" for n in range(38)
)
TEXT: Final = f"""with base as (
  select f.day, f.carrier, f.seats, r.kind,
    case when f.seats > 200 then 'wide' when f.seats > 100 then 'narrow' else 'small' end as body
  from flights f join routes r on r.id = f.route_id
  where f.carrier = {{{{ user_group.properties.carrier }}}} [[ and f.day >= {{{{ params.since }}}} ]]
), totals as (
  select day, count(*) as flights, sum(seats) as seats, avg(seats) as mean, max(seats) as most from base group by day
)
select t.day, t.flights,
  {SUMS}
from totals t left join base b on b.day = t.day
where t.flights > 3 group by t.day, t.flights order by t.day desc limit 100
"""
GROUP: Final = {"environment": "production", "group": "g0", "schema": "main"}
FILE: Final = {"path": "queries/typed.sql", "drafts": {}}


def table() -> Table:
    """Runs it."""
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-editor-") as scratch:
        return asyncio.run(_measure(Path(scratch)))


async def _measure(folder: Path) -> Table:
    result = Table(f"{len(TEXT):,} characters, {GROUPS:,} groups", ["request", "ms (median)", "ms (worst)"])
    _prepare(folder)
    store, keys = MemoryStore(), KeyRing([SigningKey("k1", secrets.token_bytes(32))])
    environment = await store.environments.create("production", Tag.CUSTOMER)
    for name, tables in (("guarded", TABLES), ("open", None)):
        url = f"sqlite:///{folder}/wide.db"
        await store.sources.create(environment, f"ds_{name}", SourceDraft(name, url, tables=tables))
    provisioner, mapping = Provisioner(store, keys), {"main": "guarded", "open": "open"}
    for number in range(GROUPS):
        properties = {"carrier": "X", **{f"p{at}": number for at in range(20)}}
        draft = GroupDraft(f"g{number}", f"Group {number}", properties, mapping)
        await provisioner.get_or_create(environment, draft)
    app = Starlette()
    async with DataSources(store, keys=keys) as sources:
        mount_editor(
            app, folder / "dashboards", Resolver(store, keys=keys), sources, authors=lambda _: EditorAuthor("ann")
        )
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            await _run(client, result)
    return result


async def _run(client: httpx2.AsyncClient, result: Table) -> None:
    async def ask(path: str, body: dict[str, Any]) -> Any:
        answer = await client.post(f"/editor/-/{path}", json=body, headers={"X-Tenantry-Editor": "1"})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def measure(what: str, path: str, body: Callable[[], dict[str, Any]]) -> Any:
        times = []
        for _ in range(RUNS):
            asked, started = body(), time.process_time()
            found = await ask(path, asked)
            times.append(1000 * (time.process_time() - started))
        result.add(what, f"{statistics.median(times):.1f}", f"{max(times):.1f}")
        result.aims.append(Aim(f"ms of {what}", statistics.median(times), AIM_MILLISECONDS))
        return found

    while (await ask("variables", {**FILE, **GROUP, "viewer": None, "text": "select 1"}))["groups"] is None:  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    typed = count()

    def text() -> str:
        return TEXT.replace("> 3", f"> {next(typed)}")

    opened = {**GROUP, "schema": "open"}
    await measure("check, guarded tables", "check", lambda: {**FILE, **GROUP, "text": text()})
    await measure("check, no declaration", "check", lambda: {**FILE, **opened, "text": text()})
    last = {**FILE, **GROUP, "text": text()}
    await ask("check", last)
    await measure("meaning, after the check", "meaning", lambda: {**last, "viewer": None, "params": {}})
    await measure("variables", "variables", lambda: {**FILE, **GROUP, "viewer": None, "text": text()})
    found = await measure("catalogue", "catalogue", lambda: {**GROUP, "viewer": None, "refresh": False})
    assert sum(len(each["columns"]) for each in found["tables"]) > 10_000
    dashboard = "title: A\nrows:\n" + "  - {line: flights, by: day, query: typed}\n" * 20
    await measure(
        "check of a dashboard, 20 panels",
        "check",
        lambda: {**GROUP, "path": "dashboards/a.yaml", "text": f"{dashboard}# {next(typed)}\n", "drafts": {}},
    )


def _prepare(folder: Path) -> None:
    (folder / "queries").mkdir()
    (folder / "dashboards").mkdir()
    (folder / "queries/typed.sql").write_text(TEXT)
    with closing(sqlite3.connect(folder / "wide.db")) as database:
        database.execute("create table flights (day text, carrier text, seats integer, route_id integer)")
        database.execute("create table routes (id integer, kind text)")
        for number in range(100):
            columns = ", ".join(f"column_{number}_{at} text" for at in range(100))
            database.execute(f"create table t{number} ({columns})")
