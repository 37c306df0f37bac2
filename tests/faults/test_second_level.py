"""A second-level cache that holds an old answer: restored from a dump, or never notified of the rotation."""

from __future__ import annotations

import time

from benchmarks.acceptance.faults.postgres import PostgresServer
from benchmarks.acceptance.faults.valkey import ValkeyServer
from benchmarks.acceptance.fleet.cross_host import warm
from benchmarks.acceptance.fleet.host import Dashboards
from benchmarks.acceptance.fleet.site import Site

STALENESS = 1.0


def test_an_entry_of_an_old_dump_is_not_believed() -> None:
    """Workers of another host refuse the old token after the staleness bound although Valkey still says that it is
    good: one that had it, and one that never saw it.

    Red when an entry is taken without asking whether its group has changed since its generation.
    """
    with PostgresServer() as postgres, ValkeyServer() as valkey, Site(postgres.create_database()) as site:
        operator = site.operator(site.host("a"))
        there = site.host("b", Dashboards(site.database, workers=2, staleness=STALENESS, redis=valkey.url))
        token, other = operator.create(), operator.create()
        warm(there.workers, [other])
        warm(there.workers[:1], [token])  # which writes it to Valkey
        valkey.dump()
        new = operator.rotate(token)
        valkey.kill()
        valkey.start()
        assert valkey.ask("DBSIZE") >= 1
        end = time.monotonic() + STALENESS
        while time.monotonic() < end:
            warm(there.workers, [other])  # they are in use, so they poll
            time.sleep(0.05)
        assert [worker.show(token).status for worker in there.workers * 3] == [401] * 6
        assert [worker.show(new).status for worker in there.workers] == [200] * 2
