"""A model of a fleet: one store, two hosts with slots, three workers with real caches, and what can go wrong between
them. Whatever a worker answers is held against what the store of record held, and when.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tenantry.cache import GroupCache
from tenantry.groups import UserGroup
from tenantry.testing import make_group
from tests.cache.parts import GROUPS, SLOTS, Ask, Host, Load, State, Store, Worker, Write, handle_of, key_of
from tests.cache.promises import STALENESS, Promises


class Fleet(Promises):
    """The whole of it. Each public method is one step; numbers that it is given are taken modulo what there is."""

    looks_again = True
    """A writer looks after its commit which table is there. False, as ``waits``: a control."""

    waits = True
    """A writer that finds a table younger than a lease returns when it is as old."""

    def __init__(self, cache: type[GroupCache] = GroupCache, seed: int = 0) -> None:
        self.random = Random(seed)
        self.now = 100.0
        self.store = Store()
        self.hosts = [Host(self.now - STALENESS) for _ in range(2)]
        self.cache = cache
        self.workers = [Worker(host, cache) for host in (0, 0, 1)]
        self.writes: list[Write] = []
        self.waiting: list[Write] = []
        self.near: dict[int, tuple[UserGroup | None, int]] = {}
        self.late: list[tuple[int, tuple[UserGroup | None, int]]] = []
        self.floors: dict[tuple[int, int], int] = {}
        self.served = 0
        for number in range(GROUPS):
            self.store.past[number] = []
            self.store.past[number].append(State(0, self.now, self._group(number, 1, 1)))

    # --- writers ------------------------------------------------------------------------------------------------------

    def write(self, host: int, number: int, kind: int) -> None:
        """A write that goes well, at once."""
        self.announce(host, number, kind)
        self._commit(self.writes[-1])
        self._finish(self.writes.pop())

    def announce(self, host: int, number: int, kind: int) -> None:
        write = Write(host % 2, number % GROUPS, kind % 8, self.hosts[host % 2].open(self.now))
        write.table.versions[write.number % SLOTS] = self._new_version() | 1
        self.writes.append(write)

    def commit(self, which: int, _b: int, _c: int) -> None:
        if self.writes:
            self._commit(self.writes[which % len(self.writes)])

    def finish(self, which: int, crashes: int, _c: int) -> None:
        """The writer returns; or it dies at that point, and never returns."""
        if not self.writes:
            return
        write = self.writes[which % len(self.writes)]
        if crashes % 3 == 0 or write.state is not None:
            self.writes.remove(write)
            if crashes % 3:
                self._finish(write)

    def _commit(self, write: Write) -> None:
        if write.state is not None or not self.store.alive:
            return
        before = self.store.now(write.number).group
        if before is None:
            return  # deleted: its handle is never used again
        rotates = write.kind % 2
        after = None if write.kind == 7 else self._group(
            write.number, before.revision + 1, before.token_version + rotates
        )  # fmt: skip
        write.state = self.store.commit(write.number, after, self.now)
        for worker in self.workers:
            worker.inbox.append((handle_of(write.number), self.store.generation))

    def _finish(self, write: Write) -> None:
        write.table.versions[write.number % SLOTS] = self._new_version()
        table = self.hosts[write.host].open(self.now) if self.looks_again else write.table
        if table is not write.table:
            table.versions[write.number % SLOTS] = self._new_version()
        if self.waits:
            write.returns_at = table.made_at + STALENESS
        self.waiting.append(write)
        self._return()

    def _return(self) -> None:
        """Writes whose wait is over have returned."""
        for write in [write for write in self.waiting if write.returns_at <= self.now]:
            self.waiting.remove(write)
            if write.state is not None:
                owner = write.host, write.number
                self.floors[owner] = max(self.floors.get(owner, 0), write.state.number)

    # --- requests -----------------------------------------------------------------------------------------------------

    def request(self, who: int, number: int, back: int) -> None:
        """A request that is answered at once."""
        load = self._ask(self.workers[who % 3], number % GROUPS, back % 3)
        while load is not None:
            self._read(load)
            load = self._answer(self.workers[who % 3], load)

    def ask(self, who: int, number: int, back: int) -> None:
        """A request whose load takes its time."""
        self._ask(self.workers[who % 3], number % GROUPS, back % 3)

    def read(self, who: int, which: int, _c: int) -> None:
        """The snapshot of a load is taken; its answer is on the way."""
        loads = self._loads(self.workers[who % 3])
        if loads:
            self._read(loads[which % len(loads)])

    def answer(self, who: int, which: int, _c: int) -> None:
        worker = self.workers[who % 3]
        loads = self._loads(worker)
        if loads:
            self._answer(worker, loads[which % len(loads)])

    def overtake(self, who: int, number: int, host: int) -> None:
        """A load whose answer is on its way while the group is written to and a poll brings that."""
        self.ask(who, number, 0)
        for load in self._loads(self.workers[who % 3]):
            self._read(load)
        self.write(host, number, host)
        self.poll(who, 0, 0)
        for load in self._loads(self.workers[who % 3]):
            self._answer(self.workers[who % 3], load)

    def lose(self, who: int, number: int, within: int) -> None:
        """The table vanishes before a write to what a worker keeps, or within it, and then the worker makes another."""
        host = self.workers[who % 3].host
        self.poll(who, 0, 0)
        self.request(who, number, 0)
        self.vanish(host, 0, 0)
        if within % 2 == 0:
            self.write(host, number, 0)
        else:
            self.hosts[host].table = self.workers[who % 3].table
            self.announce(host, number, 0)
            self.vanish(host, 0, 0)
            self.poll(who, 0, 0)
            self.request(who, number, 0)
            self._commit(self.writes[-1])
            self._finish(self.writes.pop())
        self.request(who, number, 0)

    def _ask(self, worker: Worker, number: int, back: int) -> Load | None:
        group = self._last(number)
        version = max(1, group.token_version - back)
        key, handle, cache = key_of(number, version), handle_of(number), worker.cache
        ask = Ask(self.now, self.floors.get((worker.host, number), 0))
        entry = cache.entry(key)
        if entry is not None and entry.is_valid(self.now):
            entry.seen = True
            self._check(worker, number, version, entry.group, [ask])
            return None
        known = cache.newest(handle, self.now)
        if (known is not None and version < known.token_version) or cache.refused(key, handle, self.now):
            self._check(worker, number, version, None, [ask])
            return None
        for load in worker.loads.get((number, version), ()):
            if cache.can_join(load.pending, self.now):
                load.waiting.append(ask)
                return None
        pending = cache.begin(handle, self.now)
        fresh = (known is not None and version > known.token_version) or cache.requires_origin(pending, self.now)
        load = Load(number, version, pending, self.now, fresh, [ask])
        worker.loads.setdefault((number, version), []).append(load)
        return load

    def _read(self, load: Load) -> None:
        if load.answer is not None:
            return
        near = None if load.fresh else self.near.get(load.number)
        if near is not None:
            load.answer = near
        elif self.store.alive:
            load.answer = self.store.now(load.number).group, self.store.generation
            self.late.append((load.number, load.answer))  # it will be written to the second-level cache, some time
            del self.late[:-8]

    def _answer(self, worker: Worker, load: Load) -> Load | None:
        """Gives the load again if it has to read once more. A load that took longer than the staleness bound was given
        up."""
        cache = worker.cache
        if load.answer is None or self.now - load.started >= STALENESS:
            self._end(worker, load)
            return None
        found, generation = load.answer
        group = found if found is not None and found.token_version == load.version else None
        if not load.again and self._is_old(cache, load, group, generation):
            cache.end(load.pending)
            load.pending, load.fresh, load.answer = cache.begin(handle_of(load.number), self.now), True, None
            load.again = True
            return load
        key = key_of(load.number, load.version)
        if group is None:
            cache.refuse(load.pending, key, generation, load.started + 1.0, self.now)
        else:
            cache.store(load.pending, key, group, generation, 1e9, self.now)
        self._end(worker, load)
        self._check(worker, load.number, load.version, group, load.waiting)
        return None

    def _is_old(self, cache: GroupCache, load: Load, group: UserGroup | None, generation: int) -> bool:
        handle = handle_of(load.number)
        if not load.fresh and (group is None or not cache.may_use(handle, generation, self.now)):
            return True
        known = cache.newest(handle, self.now)
        return group is not None and known is not None and group.revision < known.revision

    def _end(self, worker: Worker, load: Load) -> None:
        worker.cache.end(load.pending)
        worker.loads[load.number, load.version].remove(load)

    def _loads(self, worker: Worker) -> list[Load]:
        return [load for loads in worker.loads.values() for load in loads]

    # --- polls, buses, the second-level cache -------------------------------------------------------------------------

    def poll(self, who: int, _b: int, _c: int) -> None:
        """A poll that goes well, at once."""
        worker = self.workers[who % 3]
        worker.snapshot = worker.changes = worker.lesson = None
        self.poll_asks(who, 0, 0)
        self.poll_reads(who, 0, 0)
        self.poll_learns(who, 1, 0)

    def poll_asks(self, who: int, _b: int, _c: int) -> None:
        worker = self.workers[who % 3]
        if worker.snapshot is None:
            versions = None if worker.table is None else tuple(worker.table.versions)
            worker.snapshot = worker.cache.begin_poll(self.now, versions)
            worker.changes = worker.lesson = None

    def poll_reads(self, who: int, _b: int, _c: int) -> None:
        worker = self.workers[who % 3]
        if worker.snapshot is not None and worker.changes is None and self.store.alive:
            worker.changes = self.store.changes(worker.cache.change_log.known)
            worker.found = self.hosts[worker.host].open(self.now)

    def poll_learns(self, who: int, completely: int, _c: int) -> None:
        """The answer comes, and is learned: to the end, or one step of it. Without an answer the poll has failed."""
        worker = self.workers[who % 3]
        if worker.snapshot is None or worker.changes is None:
            worker.snapshot = None
            return
        if worker.lesson is None:
            if worker.found is not None and worker.found is not worker.table:
                worker.table = worker.found
                worker.cache.attach(worker.table.versions)
                worker.snapshot = replace(worker.snapshot, versions_at_poll=None)
            worker.lesson = worker.cache.apply_changes(worker.snapshot, worker.changes, STALENESS)
        for _ in worker.lesson:
            if completely % 2 == 0:
                return
        worker.snapshot = None
        for slot, version in worker.cache.abandoned_writes(self.now, STALENESS):
            if worker.table is not None and worker.table.versions[slot] == version:
                worker.table.versions[slot] = self._new_version()

    def notify(self, who: int, which: int, again: int) -> None:
        """A message of the bus comes: any of those sent, in any order; it is lost, or comes again later."""
        worker = self.workers[who % 3]
        if worker.inbox:
            message = worker.inbox[which % len(worker.inbox)]
            if again % 2:
                worker.inbox.remove(message)
            if again % 3:
                worker.cache.evict(*message, self.now)

    def flush(self, who: int, _b: int, _c: int) -> None:
        self.workers[who % 3].cache.flush()

    def write_near(self, which: int, _b: int, _c: int) -> None:
        """A late writer puts what it read, however long ago, into the second-level cache."""
        if self.late:
            number, answer = self.late.pop(which % len(self.late))
            self.near[number] = answer

    # --- the world ----------------------------------------------------------------------------------------------------

    def wait(self, how: int, _b: int, _c: int) -> None:
        """Time goes by, awake or asleep: the boot clock counts both."""
        self.now += (0.1, 0.5, 1.0, 1.0, 2.4, 4.9, 5.0, 7.0)[how % 8]
        self._return()

    def restart(self, who: int, number: int, polls: int) -> None:
        """A worker ends and another begins, which knows nothing. It may be asked before it has found the table."""
        worker = self.workers[who % 3] = Worker(self.workers[who % 3].host, self.cache)
        if polls % 2:
            self.poll(who, 0, 0)
            return
        self.ask(who, number, 0)
        for load in self._loads(worker):
            self._read(load)
        self.write(worker.host, number, 1)
        self.ask(who, number, 1)

    def vanish(self, host: int, how: int, _c: int) -> None:
        """Somebody deletes the file of a host's table."""
        if how % 3 == 0:
            self.hosts[host % 2].table = None

    def fail(self, _a: int, _b: int, _c: int) -> None:
        """The store dies, or comes back."""
        self.store.alive = not self.store.alive

    def restore(self, sure: int, number: int, _c: int) -> None:
        """The store is another life of itself, as after a restored backup: a group is what it was before."""
        past = self.store.past[number % GROUPS]
        if sure % 4 or len(past) < 2 or past[-2].group is None or past[-1].group is None:
            return
        self.store.store_id += "'"
        self.store.generation = max(0, self.store.generation - 3)
        self.store.log = []
        self.store.restored_at = self.now
        past.append(
            State(
                len(past), self.now, self._group(number % GROUPS, past[-2].group.revision, past[-2].group.token_version)
            )
        )
        self.near.clear()
        self.late.clear()

    def _last(self, number: int) -> UserGroup:
        return next(state.group for state in reversed(self.store.past[number]) if state.group is not None)

    def _group(self, number: int, revision: int, version: int) -> UserGroup:
        state = len(self.store.past[number])
        return make_group(handle=handle_of(number), name=str(state), revision=revision, token_version=version)

    def _new_version(self) -> int:
        return self.random.getrandbits(63) << 1
