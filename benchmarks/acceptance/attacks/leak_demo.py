"""The demo for canary groups: its app, its two data sources with rows of canaries alone, and twenty templates."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
from starlette.applications import Starlette

from tenantry.backends.memory import MemoryStore
from tenantry.datasources import DataSources
from tenantry.demo.app import COOKIE, demo_app
from tenantry.demo.queries import KEY_FIGURES, MONTHS, ROUTES
from tenantry.demo.sources import AIRLINES, DUCKDB, SCHEMA, SQLITE, TABLES
from tenantry.groups import Tag, UserGroup
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.sql import SQLTemplate
from tenantry.testing import CanaryGroups, Leaks, canary_groups
from tenantry.tokens import KeyRing, SigningKey

_OWN: Final = "from flights where carrier = {{ carrier }}"
_MORE: Final = (
    "select * from airlines where carrier = {{ carrier }}",
    "select name from airlines where carrier like '{{ carrier }}%'",
    "select name from airlines where carrier = '{{ carrier }}' limit {{ params.limit }}",
    f"select * {_OWN}",
    f"select distinct origin {_OWN} and origin in {{{{ home_airports }}}}",
    f"select distinct dest {_OWN} and origin not in {{{{ home_airports }}}}",
    f"select dest {_OWN} [[ and flight_date >= {{{{ params.from }}}} ]] [[ and flight_date <= {{{{ params.to }}}} ]]",
    f"select dest {_OWN} [[ and dest = {{{{ params.dest }}}} ]] order by dest",
    f"select count(*) as flights, max(dest) as last {_OWN} [[ and month in {{{{ params.months }}}} ]]",
    f"select month, count(*) as flights {_OWN} group by month having count(*) > 0 order by month",
    f"select sum(dep_delay) * {{{{ delay_cost }}}} as cost {_OWN}",
    f"select airports.name {_OWN.replace('flights', 'flights join airports on airport = dest')}",
    f"with own as (select * {_OWN}) select dest, count(*) as flights from own group by dest",
    f"select name from airports where airport in (select dest {_OWN})",
    f"select origin as airport {_OWN} union all select dest {_OWN}",
    f"select case when distance > 500 then dest else origin end as airport {_OWN}",
    "select '{{ user_group.name }}' as owner, '{{ currency }}' as currency",
)
TEMPLATES: Final = (KEY_FIGURES, MONTHS, ROUTES, *map(SQLTemplate, _MORE))
"""The demo's own three, and what else such a dashboard asks of these tables: twenty."""

PARAMS: Final = {"from": "2013-01-01", "to": "2013-12-31", "months": [1, 2], "limit": 5}
"""What a viewer sends to all of them."""


@dataclass(frozen=True)
class LeakDemo:
    """The app, its data sources, the checks with its groups, and the token of each group by its id."""

    app: Starlette
    sources: DataSources
    leaks: Leaks
    tokens: dict[str, str]

    async def check_app(self) -> None:
        """Every route, with real tokens: the address that leads to the dashboard, and the dashboard by its cookie."""
        await self.leaks.check_app(self.app, self.routes(), credentials=self._cookie, not_checked=_WITHOUT_GROUP)

    def routes(self) -> list[Callable[[UserGroup], str]]:
        """The paths of a group."""

        def opened(group: UserGroup) -> str:
            return f"/?{COOKIE}={self.tokens[group.provided_id]}"

        def dashboard(group: UserGroup) -> str:
            return f"/d/{group.handle.hex()}/?from=2013-01-01&to=2013-12-31"

        return [opened, dashboard]

    def _cookie(self, group: UserGroup) -> dict[str, str]:
        return {"Cookie": f"{COOKIE}={self.tokens[group.provided_id]}"}


_WITHOUT_GROUP: Final = frozenset({"GET /assets/{address}", "GET /accent/{colour}.css"})  # they serve everybody


@asynccontextmanager
async def leak_demo(folder: Path, count: int) -> AsyncIterator[LeakDemo]:
    """The demo of ``count`` groups of canaries, with its databases in ``folder``: half in SQLite, half in DuckDB."""
    store = MemoryStore()
    environment = await store.create_environment("demo", Tag.TESTING)
    groups = canary_groups(
        count,
        like=AIRLINES[0].properties,
        values={"locale": "en-US", "currency": "USD"},
        mapping=lambda number: {SCHEMA: (SQLITE, DUCKDB)[number % 2]},
        environment=environment,
    )
    for name, url in _make_databases(folder, groups).items():
        await store.create_data_source(environment, source_id=f"ds_{name}", provided_id=name, url=url)
    keys = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
    tokens = await groups.provision(Provisioner(store, keys), environment)
    async with DataSources(store) as sources:
        app = demo_app(Resolver(store, keys=keys), sources)
        yield LeakDemo(app, sources, Leaks(groups), tokens)


def _make_databases(folder: Path, groups: CanaryGroups) -> dict[str, str]:
    """Both files with the demo's tables. Every text in them is a canary, or a date."""
    with closing(sqlite3.connect(folder / "flights.sqlite")) as lite, lite:
        lite.executescript(TABLES)
        _fill(lite, groups, 0)
    with closing(duckdb.connect(str(folder / "flights.duckdb"))) as duck:
        for statement in TABLES.strip().rstrip(";").split(";"):
            duck.execute(statement)
        _fill(duck, groups, 1)
    return {SQLITE: f"sqlite:///{folder / 'flights.sqlite'}", DUCKDB: f"duckdb:///{folder / 'flights.duckdb'}"}


def _fill(connection: Any, groups: CanaryGroups, source: int) -> None:
    own = [(number, groups[number]) for number in range(source, len(groups), 2)]
    connection.executemany("insert into airlines values (?, ?)", [_airline(group) for _, group in own])
    airports, flights = [], []
    for number, group in own:
        dest, name = groups.add(number, "a destination"), groups.add(number, "an airport's name")
        airports.append((dest, name))
        flights += list(_flights(group, dest))
    connection.executemany("insert into airports values (?, ?)", airports)
    connection.executemany("insert into flights values (?, ?, ?, ?, ?, ?, ?, ?)", flights)


def _airline(group: UserGroup) -> tuple[str, str]:
    return group.variables["carrier"], group.name


def _flights(group: UserGroup, dest: str) -> Iterator[tuple[Any, ...]]:
    for month, origin in enumerate((*group.variables["home_airports"], dest), 1):
        yield group.variables["carrier"], origin, dest, 400 * month, month, f"2013-{month:02}-10", 10 * month, 20
