"""S2: on another host, how long an old token goes on being accepted: with the bus up, and with everything dead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.acceptance.check import Check, Effort, Measured, quantile, spread
from benchmarks.acceptance.faults.postgres import PostgresServer
from benchmarks.acceptance.faults.proxy import FaultProxy, Mode
from benchmarks.acceptance.faults.valkey import ValkeyServer
from benchmarks.acceptance.fleet.cross_host import Staleness, follow, warm
from benchmarks.acceptance.fleet.host import Dashboards, Host
from benchmarks.acceptance.fleet.live import closing
from benchmarks.acceptance.fleet.operator import Operator
from benchmarks.acceptance.fleet.site import Site
from tenantry.middleware.token_watch import REVOKED, TRY_AGAIN_LATER

STALENESS = 5.0


@dataclass
class TwoHosts:
    """An operator on one host, dashboards on the other; ``store`` and ``bus`` are the other's ways to both."""

    operator: Operator
    there: Host
    store: FaultProxy
    bus: FaultProxy | None
    valkey: ValkeyServer


@contextmanager
def two_hosts(
    postgres: PostgresServer, valkey: ValkeyServer, bus: str, *, staleness: float, without: str | None = None
) -> Iterator[TwoHosts]:
    """``bus``: ``valkey``, ``postgres`` or ``none``. Only the other host goes through the proxies."""
    direct = postgres.create_database()
    with ExitStack() as stack:
        store = stack.enter_context(FaultProxy("127.0.0.1", postgres.port))
        target = {"valkey": valkey.port, "postgres": postgres.port}.get(bus)
        line = None if target is None else stack.enter_context(FaultProxy("127.0.0.1", target))
        site = stack.enter_context(Site(store.url(direct), direct=direct))
        urls = {"valkey": valkey.url, "postgres": direct}
        here = site.host("a")
        operator = site.operator(here)
        if bus == "valkey":
            _publish(operator, valkey.url)
        buses = () if line is None else (line.url(urls[bus]),)
        how = Dashboards(site.database, workers=1, staleness=staleness, buses=buses, without=without)
        yield TwoHosts(operator, site.host("b", how), store, line, valkey)


def _publish(operator: Operator, url: str) -> None:
    from tenantry.backends.buses import RedisBus

    operator.announce_on(RedisBus(url))


def _on_bus(mode: Mode) -> Callable[[TwoHosts], None]:
    def break_it(hosts: TwoHosts) -> None:
        if hosts.bus is not None:
            hosts.bus.set(mode)

    return break_it


BROKEN: dict[str, tuple[str, Callable[[TwoHosts], None]]] = {
    "no bus": ("none", lambda _: None),
    "bus black-holed": ("valkey", _on_bus(Mode.BLACK_HOLE)),
    "bus half open": ("valkey", _on_bus(Mode.HALF_OPEN)),
    "bus reset": ("valkey", _on_bus(Mode.RESET)),
    "NOTIFY black-holed": ("postgres", _on_bus(Mode.BLACK_HOLE)),
    "Valkey frozen": ("valkey", lambda hosts: hosts.valkey.freeze()),
    "Valkey killed": ("valkey", lambda hosts: hosts.valkey.kill()),
}
"""By name: the bus, and what happens to it. The store is well."""


def bus_broken(
    postgres: PostgresServer, valkey: ValkeyServer, name: str, *, staleness: float, rounds: int, groups: int
) -> Staleness:
    """The staleness while the bus is broken in this way; Valkey is well again afterwards."""
    bus, break_it = BROKEN[name]
    with two_hosts(postgres, valkey, bus, staleness=staleness) as hosts:
        warm(hosts.there.workers, [hosts.operator.create()])
        break_it(hosts)
        try:
            return follow(hosts.operator, hosts.there.workers, rounds=rounds, groups=groups, bound=staleness)
        finally:
            valkey.thaw()
            valkey.kill()
            valkey.start()


def store_dead(
    postgres: PostgresServer,
    valkey: ValkeyServer,
    mode: Mode,
    *,
    staleness: float,
    groups: int,
    bus: str = "none",
    without: str | None = None,
) -> Staleness:
    """The staleness while the other host's store is cut off, and its bus, which would notice its own silence."""
    with two_hosts(postgres, valkey, bus, staleness=staleness, without=without) as hosts:
        tokens = [hosts.operator.create() for _ in range(groups)]
        warm(hosts.there.workers, tokens)
        hosts.store.set(mode)
        _on_bus(mode)(hosts)
        return follow(
            hosts.operator,
            hosts.there.workers,
            rounds=1,
            groups=groups,
            bound=staleness,
            store_is_down=True,
            tokens=tokens,
        )


def sockets(
    postgres: PostgresServer, valkey: ValkeyServer, *, staleness: float, groups: int, dead: bool = False
) -> list[tuple[int | None, float]]:
    """Code and seconds of the end of a live websocket for each group. ``dead``: the store is cut off before."""
    with two_hosts(postgres, valkey, "none", staleness=staleness) as hosts:

        def rotate(token: str) -> None:
            if dead:
                hosts.store.set(Mode.BLACK_HOLE)
            hosts.operator.rotate(token)

        return closing(hosts.there.front(0), [hosts.operator.create() for _ in range(groups)], rotate)


def measure(effort: Effort) -> Measured:
    """The bus up, each way to break it, and the store dead."""
    with PostgresServer() as postgres, ValkeyServer() as valkey:
        up: list[float] = []
        connecting: list[float] = []
        for bus in ("valkey", "postgres"):
            with two_hosts(postgres, valkey, bus, staleness=STALENESS) as hosts:
                rounds = effort.pick(200, 1_000)
                found = follow(hosts.operator, hosts.there.workers, rounds=1 + rounds, groups=1, bound=STALENESS)
            first, *rest = found.seconds  # the bus may still be connecting at the first
            effort.say(f"{bus} bus up: {spread(rest)}; the first {first:.2f} s")
            up += rest
            connecting.append(first)
        dead: list[Staleness] = []
        for name in BROKEN:
            rounds = effort.pick(1, 3)
            dead.append(
                bus_broken(postgres, valkey, name, staleness=STALENESS, rounds=rounds, groups=effort.pick(30, 100))
            )
            effort.say(f"{name}: {spread(dead[-1].seconds)}")
        for mode, bus in ((Mode.BLACK_HOLE, "none"), (Mode.RESET, "none"), (Mode.HALF_OPEN, "valkey")):
            dead.append(store_dead(postgres, valkey, mode, staleness=STALENESS, groups=10, bus=bus))
            effort.say(f"store {mode}, bus {bus}: {spread(dead[-1].seconds)}")
        with ThreadPoolExecutor() as pool:  # these do little but wait
            without = pool.submit(
                store_dead, postgres, valkey, Mode.BLACK_HOLE, staleness=STALENESS, groups=5, without="lease"
            )
            well = pool.submit(sockets, postgres, valkey, staleness=STALENESS, groups=20)
            live_dead = sockets(postgres, valkey, staleness=STALENESS, groups=20, dead=True)
            control, live = without.result(), well.result()
    effort.say(f"live websockets: {_ends(live)}; the store dead: {_ends(live_dead)}")
    closed = max(seconds for _, seconds in live + live_dead)
    rightly = {code for code, _ in live} == {REVOKED} and {code for code, _ in live_dead} <= {REVOKED, TRY_AGAIN_LATER}
    cut = [seconds for each in dead for seconds in each.seconds]
    beyond = sum(each.beyond(STALENESS) for each in dead) + sum(seconds > STALENESS for seconds in up + connecting)
    wrong = sum(each.wrong for each in dead)
    figure = (
        f"bus up {spread(up)}; dead {spread(cut)}; {beyond} beyond the bound "
        f"(control without lease: max {max(control.seconds):.1f} s); live websockets closed in {closed:.1f} s"
    )
    ok = (
        not beyond
        and not wrong
        and quantile(up, 0.99) <= 0.05
        and control.beyond(STALENESS) > 0
        and rightly
        and closed <= STALENESS
    )
    numbers = {
        "up": sorted(up)[-20:],
        "dead_max": max(cut),
        "beyond": beyond,
        "control_max": max(control.seconds),
        "live": [seconds for _, seconds in live],
        "live_store_dead": [seconds for _, seconds in live_dead],
    }
    return Measured(figure, ok, numbers)


def _ends(sockets: list[tuple[int | None, float]]) -> str:
    codes = sorted({str(code) for code, _ in sockets})
    return f"{', '.join(codes)} within {max(seconds for _, seconds in sockets):.1f} s"


_TARGET = f"bus up p99 ≤ 50 ms; dead, and live websockets, never beyond the staleness bound of {STALENESS:.0f} s"
CHECKS = (Check("S2", "Old token accepted on another host", _TARGET, measure, (240, 600)),)
