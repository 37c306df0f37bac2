"""S1: on one host, an old token after rotate() has returned."""

from __future__ import annotations

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.faults.postgres import PostgresServer
from benchmarks.acceptance.fleet.host import Dashboards
from benchmarks.acceptance.fleet.same_host import Tally, at_once
from benchmarks.acceptance.fleet.site import Site

WORKERS = 4


def _dashboards(site: Site, workers: int) -> Dashboards:
    """No store is down here: a busy machine may take its time, as the operator may."""
    return Dashboards(site.database, workers=workers, supervised=True, deadline=60)


def rotate(database: str | None, rotations: int, seed: int, workers: int = WORKERS) -> Tally:
    """So many rotations before one ``uvicorn --workers``."""
    with Site(database) as site:
        host = site.host()
        operator = site.operator(host)
        host.start(_dashboards(site, workers))
        return at_once(operator, host, rotations=rotations, seed=seed)


def control(seed: int, workers: int = WORKERS) -> Tally:
    """The same with slots that are not shared: the operator works on another host, and no bus is there."""
    with Site() as site:
        host = site.host()
        operator = site.operator(site.host("b"))
        host.start(_dashboards(site, workers))
        return at_once(operator, host, rotations=200, seed=seed)


def measure(effort: Effort) -> Measured:
    """Both stores, and the control that must find stale answers."""
    on_sqlite = rotate(None, effort.pick(10_000, 90_000), effort.seed)
    effort.say(f"SQLite: {on_sqlite}")
    with PostgresServer() as postgres:
        on_postgres = rotate(postgres.create_database(), effort.pick(1_000, 10_000), effort.seed)
    effort.say(f"PostgreSQL: {on_postgres}")
    found = control(effort.seed)
    tallies = (on_sqlite, on_postgres)
    stale, refused = (sum(getattr(tally, name) for tally in tallies) for name in ("stale", "refused"))
    rotations, asked = (sum(getattr(tally, name) for tally in tallies) for name in ("rotations", "asked"))
    figure = (
        f"{stale} of {asked:,} answers after {rotations:,} rotations on {WORKERS} workers; "
        f"{refused} new tokens refused (control: {found.stale} stale)"
    )
    numbers = {"stale": stale, "refused": refused, "asked": asked, "rotations": rotations, "control_stale": found.stale}
    return Measured(figure, stale == 0 and refused == 0 and found.stale > 0, numbers)


CHECKS = (Check("S1", "Old token or old properties after the write returned, same host", "0", measure, (180, 900)),)
