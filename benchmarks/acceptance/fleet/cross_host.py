"""Promise 2: for how long a worker of another host goes on accepting a token that was rotated away.

A token is asked for again and again after its rotation, and the new one never: it would tell the worker by itself. What
counts is when the last question was *sent* that was answered with the group: a bound of it is a bound of the cache's,
however slow this machine is.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.acceptance.fleet.host import Worker
from benchmarks.acceptance.fleet.operator import Operator

_PAUSE = 0.0005


@dataclass
class Staleness:
    """``seconds``: for each rotation and worker, how long after it the last accepted question was sent; 0 is never.
    ``unanswered`` counts 503s, and ``wrong`` any other answer."""

    seconds: list[float] = field(default_factory=list)
    asked: int = 0
    unanswered: int = 0
    wrong: int = 0

    def beyond(self, bound: float) -> int:
        """How many were accepted later than that."""
        return sum(seconds > bound for seconds in self.seconds)


def follow(
    operator: Operator,
    workers: Sequence[Worker],
    *,
    rounds: int,
    groups: int,
    bound: float,
    store_is_down: bool = False,
    tokens: Sequence[str] | None = None,
) -> Staleness:
    """Rotates ``groups`` tokens at a time, ``rounds`` times, and asks for the old ones until all are refused, or, where
    the workers' store is down, until ``bound`` and a little more has passed. ``tokens``: groups that are cached."""
    found = Staleness()
    for _ in range(rounds):
        held = list(tokens) if tokens is not None else [operator.create() for _ in range(groups)]
        if tokens is None:
            warm(workers, held)
        returned = {}
        for token in held:
            operator.rotate(token)
            returned[token] = time.monotonic()
        _watch(found, workers, returned, bound, store_is_down=store_is_down)
    return found


def warm(workers: Sequence[Worker], tokens: Sequence[str]) -> None:
    """Has every worker keep them. Raises RuntimeError if one is not accepted."""
    for worker in workers:
        for token in tokens:
            for _ in range(2):
                answer = worker.show(token)
                if answer.status != 200:
                    raise RuntimeError(f"a live token was answered {answer.status}: {answer.body!r}")


def _watch(
    found: Staleness, workers: Sequence[Worker], returned: dict[str, float], bound: float, *, store_is_down: bool
) -> None:
    last = {(worker.process, token): 0.0 for worker in workers for token in returned}
    going = set(last)
    end = time.monotonic() + 1.5 * bound + 4
    while going and time.monotonic() < end:
        for worker in workers:
            for token, since in returned.items():
                if (worker.process, token) not in going:
                    continue
                answer = worker.show(token)
                found.asked += 1
                if answer.status == 200:
                    last[worker.process, token] = answer.sent - since
                    if answer.sent - since > 1.2 * bound:
                        going.discard((worker.process, token))  # it has failed already
                elif answer.status == 401:
                    going.discard((worker.process, token))
                elif answer.status == 503:
                    found.unanswered += 1
                    if store_is_down and answer.sent - since > bound * 1.2:
                        going.discard((worker.process, token))
                else:
                    found.wrong += 1
        time.sleep(_PAUSE)
    found.seconds += last.values()
