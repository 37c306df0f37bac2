"""The promises of a fleet, held against what the model of it did."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.groups import UserGroup
from tests.cache.parts import Ask, Store, Worker, handle_of

STALENESS = 5.0


class Violation(AssertionError):
    """A promise was broken."""


class Promises:
    """Each answer goes through ``_check``."""

    now: float
    store: Store
    served: int

    def _check(
        self, worker: Worker, number: int, version: int, group: UserGroup | None, waiting: Sequence[Ask]
    ) -> None:
        for ask in waiting:
            self.served += 1
            if group is None:
                self._check_refusal(number, version, ask)
                continue
            if group.handle != handle_of(number) or group.token_version != version:
                raise Violation(f"the token of group {number}, version {version}, was answered with {group}")
            state = int(group.name)
            if state < ask.floor:
                raise Violation(
                    f"promise 1: state {state} of group {number} was shown; a write on this host that returned before "
                    f"the request had made it {ask.floor}"
                )
            end = self._end_of(number, state)
            if end is not None and end <= self.now - STALENESS:
                raise Violation(
                    f"promise 2: state {state} of group {number} was shown {self.now - end} s after its end"
                )
        known = worker.cache.newest(handle_of(number), self.now)
        if group is not None and known is not None and known.revision > group.revision and not self._restored():
            raise Violation(f"worker went back from revision {known.revision} of group {number} to {group.revision}")

    def _check_refusal(self, number: int, version: int, ask: Ask) -> None:
        """Promise 3: a token that was live from the request to the answer is good, while the store answers."""
        live = self.store.now(number)
        if live.group is None or live.group.token_version != version or self._restored():
            return
        since = next(s.at for s in self.store.past[number] if s.group is not None and s.group.token_version == version)
        if since <= ask.at:
            raise Violation(f"promise 3: the live token of group {number}, version {version}, was refused")

    def _end_of(self, number: int, state: int) -> float | None:
        past = self.store.past[number]
        return past[state + 1].at if state + 1 < len(past) else None

    def _restored(self) -> bool:
        return self.now - self.store.restored_at < STALENESS
