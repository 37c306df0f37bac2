"""The parts of the model of a fleet: the store of record with all that it ever held, writers, loads and workers.

Times are seconds of one clock. Every write makes a new *state* of its group, numbered in the order of the commits; the
name of a group is the number of its state, so that an answer shows which one it is of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tenantry.cache import GroupCache, PendingLoad, PollSnapshot, slot_index
from tenantry.groups import Change, Changes, UserGroup

GROUPS = 3
SLOTS = 2
LOG = 6
"""So few changes does the store keep, and the history of a worker not many more: lists are trimmed all the time."""


@dataclass(frozen=True)
class State:
    """What the store of record held for a group; ``group`` is None once it is deleted."""

    number: int
    at: float
    group: UserGroup | None


@dataclass
class Store:
    """Generation, changes and groups, written together. ``past`` holds every state that a group ever had."""

    store_id: str = "first"
    generation: int = 0
    log: list[Change] = field(default_factory=list)
    past: dict[int, list[State]] = field(default_factory=dict)
    alive: bool = True
    restored_at: float = -1e9

    def now(self, number: int) -> State:
        return self.past[number][-1]

    def commit(self, number: int, group: UserGroup | None, at: float) -> State:
        state = State(len(self.past[number]), at, group)
        self.past[number].append(state)
        self.generation += 1
        self.log = [*self.log, Change(self.generation, handle_of(number))][-LOG:]
        return state

    def changes(self, since: int | None) -> Changes:
        first = max(self.generation - len(self.log), -1 if since is None else since)
        return Changes(
            self.store_id, self.generation, first, tuple(change for change in self.log if change.generation > first)
        )


@dataclass(eq=False)
class HostSlots:
    """The versions of a host, in a file that was made at this time. Who has it mapped sees it also when it is gone."""

    made_at: float
    versions: list[int] = field(default_factory=lambda: [0] * SLOTS)


class Host:
    """What is at the path of the table: ``open`` gives it, and makes one where none is."""

    def __init__(self, now: float) -> None:
        self.table: HostSlots | None = HostSlots(now)

    def open(self, now: float) -> HostSlots:
        if self.table is None:
            self.table = HostSlots(now)
        return self.table


@dataclass
class Write:
    """A writer on a host: it has announced itself; then it commits, then it announces that it is done and returns, at
    ``returns_at`` if it had to wait."""

    host: int
    number: int
    kind: int
    table: HostSlots
    state: State | None = None
    returns_at: float = -1e9


@dataclass
class Ask:
    """One request that waits: when it was made, and the oldest state that promise 1 lets it see."""

    at: float
    floor: int


@dataclass
class Load:
    """A load under way for a token, and who waits for it."""

    number: int
    version: int
    pending: PendingLoad
    started: float
    fresh: bool
    waiting: list[Ask]
    answer: tuple[UserGroup | None, int] | None = None
    again: bool = False


class Worker:
    """A real GroupCache, driven as the resolver drives it. ``cache`` may be a class that lacks a defence."""

    def __init__(self, host: int, cache: type[GroupCache]) -> None:
        self.host = host
        self.table: HostSlots | None = None
        """None until its first poll was applied."""
        self.found: HostSlots | None = None
        self.cache = cache(3, unknown_capacity=2)
        self.loads: dict[tuple[int, int], list[Load]] = {}
        self.snapshot: PollSnapshot | None = None
        self.changes: Changes | None = None
        self.lesson: Iterator[list[float]] | None = None
        self.inbox: list[tuple[bytes, int]] = []


def handle_of(number: int) -> bytes:
    """Two of the three groups share a slot."""
    return bytes([0, number % SLOTS, number]) + b"-----"


def key_of(number: int, version: int) -> bytes:
    return b"ugtc_k1_----" + bytes([number, version]) + b"-------"


assert [slot_index(handle_of(number)) for number in range(GROUPS)] == [0, 1, 0]
