"""BusCollector: what the buses heard."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.core import Metric

    from tenantry.buses.subscription import BusCounters

_OUTCOMES: Final = ("heard", "ignored", "held_back")


class CountingBus(Protocol):
    """A PostgresBus or a RedisBus, or one of yours that counts alike."""

    @property
    def counters(self) -> BusCounters: ...


class BusCollector(Collector):
    """Reads the counters of buses; those of one class together."""

    def __init__(self, buses: Sequence[CountingBus]) -> None:
        self._buses = buses

    def collect(self) -> Iterator[Metric]:
        notices: Counter[tuple[str, str]] = Counter()
        losses: Counter[str] = Counter()
        deaf: Counter[str] = Counter()
        receiving: dict[str, bool] = {}
        for bus in self._buses:
            name = type(bus).__name__
            losses[name] += bus.counters.losses
            deaf[name] += bus.counters.deaf
            if bus.counters.status != "idle":
                receiving[name] = receiving.get(name, True) and bus.counters.status == "receiving"
            notices.update({(name, outcome): getattr(bus.counters, outcome) for outcome in _OUTCOMES})
        told = CounterMetricFamily(
            "tenantry_bus_notices",
            "Messages of a bus, by outcome: heard (and passed on), ignored (no notices of ours), held_back (too many "
            "at once, for which the cache was flushed).",
            labels=["bus", "outcome"],
        )
        for place, count in notices.items():
            told.add_metric(place, count)
        yield told
        yield _by_bus("tenantry_bus_losses", "How often a bus lost its connection, or was found deaf.", losses)
        yield _by_bus("tenantry_bus_deaf", "How often a connected bus did not get a message of its own.", deaf)
        works = GaugeMetricFamily(
            "tenantry_bus_receiving", "1 while a bus gets its own messages, 0 while it is lost or deaf.", labels=["bus"]
        )
        for name, yes in receiving.items():
            works.add_metric([name], int(yes))
        yield works


def _by_bus(name: str, documentation: str, counts: Counter[str]) -> Metric:
    family = CounterMetricFamily(name, documentation, labels=["bus"])
    for bus, count in counts.items():
        family.add_metric([bus], count)
    return family
