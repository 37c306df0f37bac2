"""A writer that dies between its commit and the version that shows it."""

from __future__ import annotations

import pytest

from benchmarks.acceptance.fleet.cross_host import warm
from benchmarks.acceptance.fleet.host import Caller, Dashboards
from benchmarks.acceptance.fleet.site import Site
from engines.postgres import Postgres

pytestmark = pytest.mark.slow

STALENESS = 600.0
"""So long that no poll comes meanwhile: only the slots can end it."""


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_death_around_the_commit(engine: str, moment: str, request: pytest.FixtureRequest) -> None:
    """The workers of the host ask the store, whatever they keep: the old token is refused if the commit was done.

    Red when the writer stores no odd version before it begins.
    """
    postgres: Postgres | None = request.getfixturevalue("postgres") if engine == "postgres" else None
    with Site(postgres and postgres.create_database()) as site:
        host = site.host(dashboards=Dashboards(site.database, workers=2, staleness=STALENESS))
        operator = site.operator(host)
        server = host.serve(site.database, failing=True)
        old = operator.create("acme")
        warm(host.workers, [old])
        host.failpoint.write_text(f"die {moment} commit")
        with Caller(server.port, operator.secret) as caller, pytest.raises(OSError, match="connection"):
            caller.rotate(old)
        server.kill()
        done = operator.live("acme") != old
        assert done == (moment == "after")
        assert [worker.show(old).status for worker in host.workers * 2] == [401 if done else 200] * 4
