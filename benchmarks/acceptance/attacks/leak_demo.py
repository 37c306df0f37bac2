"""The demo for canary groups: its app, its two data sources with rows of canaries alone, and twenty templates."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import duckdb
from starlette.applications import Starlette

from tenantry import DashboardFolder, mount_dashboards
from tenantry.backends.memory.store import MemoryStore
from tenantry.dashboards.embedding.routes import Embedding
from tenantry.datasources import DataSources
from tenantry.demo import DASHBOARDS
from tenantry.demo.sources import AIRLINES, DUCKDB, SQLITE, tables
from tenantry.groups import SourceDraft, Tag, UserGroup
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.sql import SQLTemplate
from tenantry.testing import Call, CanaryGroups, Leaks, canary_groups
from tenantry.tokens import KeyRing, SigningKey


def _asked() -> dict[str, SQLTemplate]:
    """The queries of the demo's dashboards by their names; one that several dashboards ask is there once."""
    found: dict[str, SQLTemplate] = {}
    for saved in DashboardFolder(DASHBOARDS).values():
        for panel in saved.dashboard.panels:
            queries = saved.queries.panels[panel.id]
            for use, template in ((panel.query, queries.rows), (panel.sparkline, queries.sparkline)):
                if use is not None and template is not None:
                    found[use.name] = template
        found |= saved.queries.choices
    return found


_OWN: Final = "from flights where carrier = {{ carrier }}"
_MORE: Final = (
    f"select * {_OWN}",
    f"select distinct dest {_OWN} and origin not in {{{{ home_airports }}}}",
    f"select dest {_OWN} [[ and flight_date >= {{{{ params.from }}}} ]] [[ and flight_date <= {{{{ params.to }}}} ]]",
    f"select dest {_OWN} [[ and dest = {{{{ params.dest }}}} ]] order by dest",
    f"select count(*) as flights, max(dest) as last {_OWN} [[ and month in {{{{ params.months }}}} ]]",
    f"select airports.name {_OWN.replace('flights', 'flights join airports on airport = dest')}",
    "select '{{ user_group.name }}' as owner, '{{ currency }}' as currency",
)


@cache
def templates() -> dict[str, SQLTemplate]:
    """The demo's own thirteen by name, and what else such a dashboard asks of these tables: twenty."""
    return {**_asked(), **{f"more {number}": SQLTemplate(text) for number, text in enumerate(_MORE)}}


PARAMS: Final = {
    "period": "last 12 months",
    "step": "month",
    "from": "2013-01-01",
    "to": "2013-12-31",
    "months": [1, 2],
}
"""What a viewer sends to all of them."""
_BODY: Final = json.dumps({"definition": True, "filters": {"period": {"preset": "last-12-months"}}}).encode()
_SECONDS: Final = 120.0
"""How long an answer may take on a busy machine."""
_JSON: Final = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class LeakDemo:
    """The app, its data sources, the checks with its groups, and the token of each group by its id."""

    app: Starlette
    sources: DataSources
    leaks: Leaks
    tokens: dict[str, str]

    async def check_app(self) -> None:
        """Every route that a group's token opens: all panels of each dashboard, a file of a table, and a code."""
        await self.leaks.check_app(
            self.app, self.routes(), credentials=self._token, not_checked=_WITHOUT_GROUP, seconds=_SECONDS
        )

    def routes(self) -> list[Call]:
        """The requests, which are the same for each group; the token that is sent with them selects the group."""
        panels = [Call(f"/dashboards/{each.stem}/-/panels", "POST", _JSON, _BODY) for each in DASHBOARDS.iterdir()]
        file = Call("/dashboards/overview/-/panels/5-1/download", "POST", _JSON, b'{"format": "csv"}')
        return [*panels, file, Call("/dashboards/overview/-/embed-code", "POST", _JSON, b"{}")]

    def _token(self, group: UserGroup) -> dict[str, str]:
        return {"X-User-Group-Token": self.tokens[group.provided_id]}


_WITHOUT_GROUP: Final = frozenset(
    {
        "GET /dashboards/{name:path}",
        "GET /dashboards/-/assets/{address}",
        *(
            f"GET /dashboards/-/{folder}{name}"
            for folder in ("v1/", "")
            for name in ("embed.js", "embed.d.ts", "embed-react.js", "embed-react.d.ts", "embed.tgz")
        ),
        "GET /dashboards/-/download/{code}",
        "POST /dashboards/-/redeem",
        "GET /dashboards/-/preview",
        "POST /dashboards/{name:path}/-/panels/{panel}/explanation",
    }
)
"""They serve everybody, whoever has a code for one use, callers with an API token, or a preview alone."""


@asynccontextmanager
async def leak_demo(folder: Path, count: int) -> AsyncIterator[LeakDemo]:
    """The demo of ``count`` groups of canaries, with its databases in ``folder``: half in SQLite, half in DuckDB."""
    store = MemoryStore()
    environment = await store.environments.create("demo", Tag.TESTING)
    groups = canary_groups(
        count,
        like=AIRLINES["9E"].properties,
        values={"locale": "en-US", "currency": "USD"},
        mapping=lambda number: {"flights": (SQLITE, DUCKDB)[number % 2]},
        environment=environment,
    )
    for name, url in _make_databases(folder, groups).items():
        await store.sources.create(environment, f"ds_{name}", SourceDraft(name, url))
    keys = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
    tokens = await groups.provision(Provisioner(store, keys), environment)
    async with DataSources(store) as sources:
        app = Starlette()
        mount_dashboards(app, DASHBOARDS, Resolver(store, keys=keys), sources, embedding=Embedding(store, keys))
        yield LeakDemo(app, sources, Leaks(groups), tokens)


def _make_databases(folder: Path, groups: CanaryGroups) -> dict[str, str]:
    """Both files with the demo's tables. Every text in them is a canary, or a date."""
    with closing(sqlite3.connect(folder / "flights.sqlite")) as lite, lite:
        lite.executescript(tables("sqlite"))
        _fill(lite, groups, 0)
    with closing(duckdb.connect(str(folder / "flights.duckdb"))) as duck:
        duck.execute(tables("duckdb"))
        _fill(duck, groups, 1)
    return {SQLITE: f"sqlite:///{folder / 'flights.sqlite'}", DUCKDB: f"duckdb:///{folder / 'flights.duckdb'}"}


def _fill(connection: Any, groups: CanaryGroups, source: int) -> None:
    own = [(number, groups[number]) for number in range(source, len(groups), 2)]
    airports, flights = [], []
    for number, group in own:
        dest, name = groups.add(number, "a destination"), groups.add(number, "an airport's name")
        airports.append((dest, name))
        flights += list(_flights(group, dest))
    connection.executemany("insert into airports values (?, ?)", airports)
    connection.executemany("insert into flights values (?, ?, ?, ?, ?, ?, ?, ?)", flights)


def _flights(group: UserGroup, dest: str) -> Iterator[tuple[Any, ...]]:
    for month, origin in enumerate((*group.variables["home_airports"], dest), 1):
        yield group.variables["carrier"], origin, dest, 400 * month, month, f"2013-{month:02}-10", 10 * month, 20
