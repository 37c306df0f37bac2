"""Why connections were closed: counted for metrics, and told in the log when a limit of their number is met."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Final

_log = logging.getLogger("tenantry.connections")

WARNING_SECONDS: Final = 30.0
"""Between two warnings about the same limit: an attack must not fill the disk with lines of log."""


class Closed(StrEnum):
    """Why a server ended a connection that its client would have kept."""

    HEADER_TIMEOUT = "header_timeout"
    HEADERS_TOO_LARGE = "headers_too_large"
    SLOW_BODY = "slow_body"
    SLOW_READER = "slow_reader"
    MAX_CONNECTIONS = "max_connections"
    MAX_CONNECTIONS_PER_ADDRESS = "max_connections_per_address"


_LIMITS: Final = {
    Closed.MAX_CONNECTIONS: "--max-connections",
    Closed.MAX_CONNECTIONS_PER_ADDRESS: "--max-connections-per-address",
}

_ADVICE: Final = {
    Closed.MAX_CONNECTIONS: "; with a higher limit of open files (ulimit -n) there could be more",
    Closed.MAX_CONNECTIONS_PER_ADDRESS: "; if that is a proxy, name it with --proxy-address",
}


class ConnectionCounters:
    """``closed`` counts by reason; ``observer`` hears of each at once. ``clock`` gives seconds."""

    def __init__(
        self, observer: Callable[[Closed], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.closed: Counter[Closed] = Counter()
        self._observer = observer
        self._clock = clock
        self._unsaid: Counter[Closed] = Counter()
        self._said: dict[Closed, float] = {}

    def count(self, reason: Closed) -> None:
        self.closed[reason] += 1
        if self._observer is not None:
            self._observer(reason)

    def limit_met(self, reason: Closed, most: int, address: str | None = None) -> None:
        """The same for a limit of the number of connections, with a warning, at most one in WARNING_SECONDS."""
        self.count(reason)
        self._unsaid[reason] += 1
        now = self._clock()
        if now - self._said.get(reason, float("-inf")) < WARNING_SECONDS:
            return
        self._said[reason] = now
        whose = "" if address is None else f" from {address}"
        _log.warning(
            "%d connections%s are open, the most that %s allows: since the last such line %d were closed or refused, "
            "those first that had not sent a whole request%s",
            most,
            whose,
            _LIMITS[reason],
            self._unsaid.pop(reason),
            _ADVICE[reason],
        )
