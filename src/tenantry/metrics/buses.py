"""BusCollector: what the buses heard."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Protocol

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.core import Metric

    from tenantry.buses.hearing import BusCounters

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
        for bus in self._buses:
            name = type(bus).__name__
            losses[name] += bus.counters.losses
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
        lost = CounterMetricFamily("tenantry_bus_losses", "How often the connection of a bus broke.", labels=["bus"])
        for name, count in losses.items():
            lost.add_metric([name], count)
        yield lost
