"""GroupCache: the groups of tokens that were resolved before, and whether they may be used now.

It decides everything and does nothing: no I/O and no clock. Times are the boot clock's seconds, given as arguments;
``words`` are this host's (ports.Slots), looked at and never written.

An answer is used only while three things hold. *The lease*: the store was asked for its changes less than X ago, and
none of them was of this group. *The word*: it is the even word that was read before the store was asked, so no write on
this host has begun since. *Its own deadline*, if it has one. An answer is kept only if the list of changes is unbroken
since its snapshot and does not hold its group; so what arrives late is not kept, wherever it comes from.

Bounded by CLOCK (second chance): an insert into a full cache looks at a few seats and evicts at most two entries. No
call walks the whole cache, and no table in it is large (index.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from threading import Lock

from tenantry.cache.entry import STILL, UNTOLD, Answer, Entry, Fill, Lease
from tenantry.cache.history import History
from tenantry.cache.index import ROW_BYTE, TABLE_BYTE, new_index
from tenantry.cache.place import place_of
from tenantry.cache.question import Question
from tenantry.cache.refusals import Refusals
from tenantry.cache.ring import CHANCES, Ring
from tenantry.groups import Changes, UserGroup

FAMILIES = 512
"""How many tables the handles are in. A handle is random: its second byte and a bit of its first choose one."""

SLICE = 25
"""How many changes are learned at a time: some 300 µs, if each of them evicts what no cache of the processor holds."""


class GroupCache:
    """At most ``capacity`` tokens with groups, and apart from them at most ``unknown_capacity`` handles with refusals.

    ``followed``: answers need a generation and a lease (the default); else they need neither, and live until their
    deadlines. Reading ``index`` needs no lock; every method takes one, so that evictions may come from any thread.
    """

    __slots__ = (
        "_asked_at", "_families", "_fills", "_followed", "_highest", "_lock", "_odd", "_quiet", "_refusals", "_ring",
        "flushes", "history", "index", "lease",
    )  # fmt: skip

    def __init__(self, capacity: int, *, unknown_capacity: int = 1_024, followed: bool = True) -> None:
        if capacity < 1 or unknown_capacity < 1:
            raise ValueError("capacity and unknown_capacity must be at least 1")
        self.index = new_index()
        self.lease = Lease(STILL, -inf if followed else inf)
        self.history = History()
        self.flushes = 0
        self._followed = followed
        self._ring = Ring(capacity)
        self._families: tuple[dict[bytes, Entry | tuple[Entry, ...]], ...] = tuple({} for _ in range(FAMILIES))
        self._refusals = Refusals(unknown_capacity)
        self._fills: dict[bytes, set[Fill]] = {}
        self._odd: dict[int, tuple[int, float]] = {}
        self._quiet: Sequence[int] | None = None
        self._asked_at = -inf
        self._highest = UNTOLD
        self._lock = Lock()

    def __len__(self) -> int:
        """Entries that take up room. Some may be dead, and go when the hand of the ring comes to them."""
        return len(self._ring)

    def entry(self, key: bytes) -> Entry | None:
        return self.index[key[ROW_BYTE]][key[TABLE_BYTE]].get(key)

    def newest(self, handle: bytes, now: float) -> UserGroup | None:
        """The most recent group of this handle that may be used now, whatever token brought it in."""
        with self._lock:
            return max((entry.group for entry in self._siblings(handle) if entry.alive(now)), key=_age, default=None)

    def refused(self, key: bytes, handle: bytes, now: float) -> bool:
        """True if this token was answered by "no such group" and that answer may be used now."""
        with self._lock:
            return self._refusals.has(key, handle, now)

    # --- filling ------------------------------------------------------------------------------------------------------

    def begin(self, handle: bytes, now: float) -> Fill:
        """To be called before the backend is asked; the answer goes to ``store`` or ``refuse``, then to ``end``."""
        with self._lock:
            fill = Fill(handle, self.lease, place_of(handle))
            self._fills.setdefault(handle, set()).add(fill)
            if fill.word & 1 and self._odd.get(fill.place, (0, 0.0))[0] != fill.word:
                self._odd[fill.place] = (fill.word, now)
        return fill

    def unsure(self, fill: Fill, now: float) -> bool:
        """True if only the store of record may be asked: without a lease, or if a write on this host may have come
        after the last poll began. What a second-level cache holds could be from before it, and the list not know.

        The word of the fill is compared, and no later one: its answer is kept under that."""
        with self._lock:
            quiet, lease = self._quiet, self.lease
            if quiet is None or fill.lease is not lease or now >= lease.until:
                return True
            return fill.word != quiet[fill.place]

    def end(self, fill: Fill) -> None:
        """The load is over, however it went. Only loads under way are remembered, so this memory is bounded by them."""
        with self._lock:
            fills = self._fills.get(fill.handle)
            if fills is not None:
                fills.discard(fill)
                if not fills:
                    del self._fills[fill.handle]

    def stands(self, fill: Fill, now: float) -> bool:
        """True if whoever asks now may share this load: nothing is known to have been written since it began.

        Without a lease that cannot be known. A process that has just started has not found the host's words yet, and
        one whose lease has run out may look at the words of a file that was replaced."""
        return fill.lease is self.lease and now < fill.lease.until and fill.stands()

    def believes(self, handle: bytes, generation: int | None, now: float) -> bool:
        """True if an answer from a second-level cache, of this generation, may be used: under a lease, and if the
        unbroken list of changes since does not hold the group."""
        with self._lock:
            return generation is not None and now < self.lease.until and self._clears(handle, generation)

    def store(
        self, fill: Fill, key: bytes, group: UserGroup, generation: int | None, deadline: float, now: float
    ) -> bool:
        """Keeps the group for this token, unless something has passed it or a newer state is here. True if kept."""
        with self._lock:
            if not self._keeps(fill, generation, deadline, now):
                return False
            siblings = self._siblings(fill.handle)
            if any(entry.alive(now) and _age(entry.group) > _age(group) for entry in siblings):
                return False
            for entry in siblings:
                if entry.key == key or not entry.alive(now) or _age(entry.group) < _age(group):
                    self._drop(entry)
            self._insert(fill, key, group, UNTOLD if generation is None else generation, deadline, now)
            return True

    def refuse(self, fill: Fill, key: bytes, generation: int | None, deadline: float, now: float) -> bool:
        """Remembers that this token has no group, by the same rules. True if kept."""
        with self._lock:
            if not self._keeps(fill, generation, deadline, now):
                return False
            answer = Answer(fill, UNTOLD if generation is None else generation, deadline)
            self._refusals.add(key, fill.handle, answer)
            entry = self.entry(key)
            if entry is not None:  # it was good once
                self._drop(entry)
            return True

    def _keeps(self, fill: Fill, generation: int | None, deadline: float, now: float) -> bool:
        lease = self.lease
        if fill.lease is not lease or fill.word & 1 or lease.words[fill.place] != fill.word:
            return False
        if now >= deadline or now >= lease.until:
            return False
        if not self._followed:
            return fill.floor == UNTOLD
        return generation is not None and generation >= fill.floor and self._clears(fill.handle, generation)

    def _clears(self, handle: bytes, generation: int) -> bool:
        return self.history.touched(handle, generation) is False

    # --- forgetting ---------------------------------------------------------------------------------------------------

    def attach(self, words: Sequence[int]) -> None:
        """These are the host's words from now on. Everything is forgotten, and there is no lease until the next poll
        has been learned."""
        with self._lock:
            self._begin_anew(Lease(words))
            self._quiet = None
            self._odd.clear()

    def flush(self) -> None:
        """Forgets everything, and voids every load under way. The lease goes on for what is stored from now on."""
        with self._lock:
            self._begin_anew(Lease(self.lease.words, self.lease.until))

    def evict(self, handle: bytes, generation: int, now: float) -> bool:
        """A bus tells that the group was written to in this generation. True if anything usable was forgotten."""
        with self._lock:
            self.history.note(handle, generation)
            return self._forget(handle, generation, now)

    def ask(self, now: float, quiet: Sequence[int] | None) -> Question:
        """To be called before the store is asked for its changes; ``quiet`` is a copy of the words from before."""
        return Question(now, quiet, self._highest)

    def learn(self, question: Question, changes: Changes, staleness: float) -> Iterator[list[float]]:
        """What the store answered. Evicts the groups that were written to, then renews the lease: ``staleness`` seconds
        from when it was asked. To be run to its end, other work between the steps being welcome; each step gives the
        ages (seconds) of changes that took away what could still be used."""
        with self._lock:
            if question.asked_at < self._asked_at:
                return  # an answer to an older question says nothing new, and may look like a step back
            self._asked_at = question.asked_at
            if not self.history.follows(changes) or changes.generation < question.highest:
                self.history.begin(changes)
                self._highest = UNTOLD
                self._begin_anew(Lease(self.lease.words))
        for first in range(0, len(changes.changes), SLICE):
            with self._lock:
                if question.asked_at != self._asked_at:
                    return  # a newer answer is being learned, on another loop
                ages = [
                    change.age
                    for change in self.history.add(changes.changes[first : first + SLICE])
                    if self._forget(change.handle, change.generation, question.asked_at)
                ]
            yield ages
        with self._lock:
            if question.asked_at == self._asked_at:
                self.history.end(changes)
                self._quiet = question.quiet
                self.lease.until = max(self.lease.until, question.asked_at + staleness)

    def crashed(self, now: float, after: float) -> list[tuple[int, int]]:
        """Places and odd words that were met more than ``after`` seconds ago and stand there still: their writers will
        not come back. To be mended."""
        words, found = self.lease.words, []
        with self._lock:
            for place, (word, met) in list(self._odd.items()):
                if words[place] != word:
                    del self._odd[place]
                elif now - met > after:
                    found.append((place, word))
        return found

    def _begin_anew(self, lease: Lease) -> None:
        self.flushes += len(self._ring) > 0
        self.lease.until = -inf
        self.lease = lease

    def _forget(self, handle: bytes, generation: int, now: float) -> bool:
        """Drops what is older than this generation. True if any of it could still be used."""
        for fill in self._fills.get(handle, ()):
            fill.floor = max(fill.floor, generation)
        self._refusals.drop(handle)
        alive = False
        for entry in self._siblings(handle):
            if entry.generation < generation:
                alive = alive or entry.alive(now)
                self._drop(entry)
        return alive

    # --- the ring -----------------------------------------------------------------------------------------------------

    def _insert(self, fill: Fill, key: bytes, group: UserGroup, generation: int, deadline: float, now: float) -> None:
        self._reap(now)
        if self._ring.full():
            self._make_room(now)
        entry = Entry(fill, generation, deadline, key, group, self._ring.take())
        self._ring.sit(entry)
        self.index[key[ROW_BYTE]][key[TABLE_BYTE]][key] = entry
        self._gather(fill.handle, (*self._siblings(fill.handle), entry))
        self._highest = max(self._highest, generation)

    def _reap(self, now: float) -> None:
        """Looks at one seat and drops what died there: a cache that is used shrinks to what lives, step by step."""
        entry = self._ring.under_hand()
        if entry is not None and self._dead(entry, now):
            self._drop(entry)

    def _make_room(self, now: float) -> None:
        """Frees one seat: the first under the hand that is dead or was not used since, or the one after CHANCES."""
        for chance in range(CHANCES + 1):
            entry = self._ring.under_hand()
            if entry is None:
                return
            if not entry.seen or chance == CHANCES or self._dead(entry, now):
                self._drop(entry)
                return
            entry.seen = False

    def _dead(self, entry: Entry, now: float) -> bool:
        """True for what can never be used again. A lease that ran out may be renewed, and its entries with it."""
        lease = entry.lease
        return lease is not self.lease or now >= entry.deadline or lease.words[entry.place] != entry.word

    def _drop(self, entry: Entry) -> None:
        key, handle = entry.key, entry.group.handle
        del self.index[key[ROW_BYTE]][key[TABLE_BYTE]][key]
        self._ring.leave(entry)
        self._gather(handle, tuple(other for other in self._siblings(handle) if other is not entry))

    # --- the entries of a handle: mostly one, which then stands there without a tuple around it -----------------------

    def _siblings(self, handle: bytes) -> tuple[Entry, ...]:
        found = self._families[_family(handle)].get(handle, ())
        return found if isinstance(found, tuple) else (found,)

    def _gather(self, handle: bytes, entries: tuple[Entry, ...]) -> None:
        family = self._families[_family(handle)]
        if entries:
            family[handle] = entries[0] if len(entries) == 1 else entries
        else:
            del family[handle]


def _family(handle: bytes) -> int:
    return (handle[0] & 1) << 8 | handle[1]


def _age(group: UserGroup) -> tuple[int, int]:
    return group.revision, group.token_version
