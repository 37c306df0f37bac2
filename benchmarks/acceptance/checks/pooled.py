"""S1 to S5 again, through a real PgBouncer in transaction mode with its default settings: every process of the fleet
reaches PostgreSQL through it, migrations too, and buses alone listen past it.

There is no such S4: its power fails on an SQLite file. The rows need the distribution's packages (apt-get, dpkg).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from benchmarks.acceptance.check import Check, Effort, Measured, quantile, spread
from benchmarks.acceptance.checks import cross_host, killed, races, same_host
from benchmarks.acceptance.faults.postgres import PostgresServer
from benchmarks.acceptance.faults.proxy import FaultProxy, Mode
from benchmarks.acceptance.fleet.cross_host import Staleness, follow, warm
from benchmarks.acceptance.fleet.host import Dashboards
from benchmarks.acceptance.fleet.site import Site
from engines.pgbouncer import PgBouncer, pooled
from tenantry.database.migrations import migrate

STALENESS = cross_host.STALENESS


@contextmanager
def pooled_postgres() -> Iterator[tuple[PostgresServer, PgBouncer]]:
    """A PostgreSQL, and a PgBouncer before it."""
    with PostgresServer() as postgres, pooled(postgres.url(), "transaction") as pooler:
        yield postgres, pooler


class Databases(Protocol):
    """A PostgreSQL, of the scorecard or of the tests."""

    def create_database(self) -> str: ...


def on_another_host(
    postgres: Databases, pooler: PgBouncer, *, direct_bus: bool, rounds: int, groups: int = 1
) -> Staleness:
    """``direct_bus``: the other host's bus listens at the database; else through the pooler, where it is deaf."""
    direct = postgres.create_database()
    with Site(pooler.url(direct)) as site:
        operator = site.operator(site.host("a"))
        bus = (site.database,)
        how = Dashboards(
            site.database, workers=1, staleness=STALENESS, buses=bus, listen=direct if direct_bus else None
        )
        return follow(operator, site.host("b", how).workers, rounds=rounds, groups=groups, bound=STALENESS)


def without_store(postgres: PostgresServer, pooler: PgBouncer, *, groups: int) -> Staleness:
    """The other host's way to the pooler is a black hole, and its bus goes on."""
    direct = postgres.create_database()
    through = pooler.url(direct)
    with FaultProxy("127.0.0.1", pooler.port) as line, Site(line.url(through), direct=through) as site:
        operator = site.operator(site.host("a"))
        there = site.host("b", Dashboards(site.database, workers=1, staleness=STALENESS))
        tokens = [operator.create() for _ in range(groups)]
        warm(there.workers, tokens)
        line.set(Mode.BLACK_HOLE)
        return follow(
            operator, there.workers, rounds=1, groups=groups, bound=STALENESS, store_is_down=True, tokens=tokens
        )


def same_host_check(effort: Effort) -> Measured:
    """S1; its control is that of S1 itself."""
    with pooled_postgres() as (postgres, pooler):
        found = same_host.rotate(pooler.url(postgres.create_database()), effort.pick(1_000, 10_000), effort.seed)
    figure = (
        f"{found.stale} of {found.asked:,} answers after {found.rotations:,} rotations on {same_host.WORKERS} workers; "
        f"{found.refused} new tokens refused"
    )
    numbers = {"stale": found.stale, "refused": found.refused, "asked": found.asked, "rotations": found.rotations}
    return Measured(figure, found.stale == 0 and found.refused == 0, numbers)


def cross_host_check(effort: Effort) -> Measured:
    """S2. A deaf bus is no bus: then the polls bound it."""
    with pooled_postgres() as (postgres, pooler):
        up = on_another_host(postgres, pooler, direct_bus=True, rounds=1 + effort.pick(100, 500))
        first, *rest = up.seconds  # the bus may still be connecting at the first
        effort.say(f"bus with a direct address: {spread(rest)}; the first {first:.2f} s")
        deaf = on_another_host(postgres, pooler, direct_bus=False, rounds=effort.pick(4, 10), groups=5)
        effort.say(f"deaf bus: {spread(deaf.seconds)}")
        dead = without_store(postgres, pooler, groups=10)
        effort.say(f"way to the pooler black-holed: {spread(dead.seconds)}")
    all_three = (up, deaf, dead)
    beyond, wrong = sum(each.beyond(STALENESS) for each in all_three), sum(each.wrong for each in all_three)
    slow = spread([*deaf.seconds, *dead.seconds])
    figure = f"bus direct {spread(rest)}; deaf or store dead {slow}; {beyond} beyond the bound"
    ok = not beyond and not wrong and quantile(rest, 0.99) <= 0.05
    numbers = {"up": sorted(rest)[-20:], "deaf_max": max(deaf.seconds), "dead_max": max(dead.seconds), "beyond": beyond}
    return Measured(figure, ok, numbers)


def killed_check(effort: Effort) -> Measured:
    """S3."""
    with pooled_postgres() as (postgres, pooler):
        ledger = killed.kill(pooler.url(postgres.create_database()), effort.pick(3, 20), effort.seed)
    figure = (
        f"{ledger.lost} lost of {ledger.acknowledged:,} in {ledger.cycles} kills; "
        f"{ledger.recovered} of {ledger.replies_lost} lost replies recovered"
    )
    numbers = {"cycles": ledger.cycles, "acknowledged": ledger.acknowledged, "lost": ledger.lost}
    return Measured(figure, ledger.clean and ledger.acknowledged > 0, numbers)


def races_check(effort: Effort) -> Measured:
    """S5."""
    rounds = effort.pick(1_000, 5_000)
    with pooled_postgres() as (postgres, pooler), TemporaryDirectory(prefix="tenantry-races-") as name:
        url = pooler.url(postgres.create_database())
        migrate(url)
        wrong = asyncio.run(races.race(url, rounds, Path(name)))
    return Measured(f"{wrong} in {rounds:,} rounds of 4", wrong == 0, {"wrong": wrong, "rounds": rounds})


CHECKS = (
    Check("S1p", "S1 through PgBouncer, transaction mode", "0", same_host_check, (150, 600)),
    Check(
        "S2p",
        "S2 through PgBouncer, transaction mode",
        "bus with a direct address p99 ≤ 50 ms; deaf, or store dead, "
        f"never beyond the staleness bound of {STALENESS:.0f} s",
        cross_host_check,
        (150, 400),
    ),
    Check("S3p", "S3 through PgBouncer, transaction mode", "0; all replies recovered", killed_check, (100, 300)),
    Check("S5p", "S5 through PgBouncer, transaction mode", "0 in 1,000 rounds", races_check, (100, 300)),
)
