"""S3: kill -9 of the server in the middle of rotations, and what becomes of them."""

from __future__ import annotations

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.faults.postgres import PostgresServer
from benchmarks.acceptance.fleet.killing import Ledger, kill_cycles
from benchmarks.acceptance.fleet.site import Site


def kill(database: str | None, cycles: int, seed: int) -> Ledger:
    """So many cycles of ``tenantry serve`` on this database; None is a new SQLite file."""
    with Site(database) as site:
        host = site.host()
        operator = site.operator(host)
        return kill_cycles(operator, host.serve(site.database), cycles, seed=seed)


def measure(effort: Effort) -> Measured:
    """Both stores."""
    on_sqlite = kill(None, effort.pick(17, 100), effort.seed)
    effort.say(f"SQLite: {on_sqlite}")
    with PostgresServer() as postgres:
        on_postgres = kill(postgres.create_database(), effort.pick(3, 20), effort.seed)
    effort.say(f"PostgreSQL: {on_postgres}")
    both = (on_sqlite, on_postgres)
    cycles, acknowledged, lost, replies, recovered = (
        sum(getattr(ledger, name) for ledger in both)
        for name in ("cycles", "acknowledged", "lost", "replies_lost", "recovered")
    )
    figure = f"{lost} lost of {acknowledged:,} in {cycles} kills; {recovered} of {replies} lost replies recovered"
    ok = all(ledger.clean and ledger.acknowledged for ledger in both)
    numbers = {"cycles": cycles, "acknowledged": acknowledged, "lost": lost, "recovered": recovered, "replies": replies}
    return Measured(figure, ok, numbers)


CHECKS = (
    Check(
        "S3",
        "kill -9 of the server under load: acknowledged writes lost",
        "0; all replies recovered",
        measure,
        (150, 500),
    ),
)
