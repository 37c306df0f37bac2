"""Site: everything of one measurement, in a folder that goes with it: the store, the keys, the hosts, an operator."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.acceptance.fleet.host import Dashboards, Host
from benchmarks.acceptance.fleet.operator import Operator, prepare


class Site:
    """A context manager. ``database``: the URL of an empty database; None is a new SQLite file. ``direct`` is how the
    operator reaches it, where the fleet goes through a proxy."""

    def __init__(self, database: str | None = None, *, direct: str | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tnt-", dir="/tmp"))  # short: Unix sockets live in it
        self.database = database or f"sqlite:///{self.folder / 't.db'}"
        self.direct = direct or self.database
        self.keys = self.folder / "keys"
        self._stack = ExitStack()

    def __enter__(self) -> Site:
        prepare(self.direct, self.keys)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._stack.close()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def host(self, name: str = "a", dashboards: Dashboards | None = None, *, run: Path | None = None) -> Host:
        """A new host, with its dashboards if they are given. ``run``: the run folder of another, to be one with it."""
        host = self._stack.enter_context(Host(self.folder / name, self.keys, run))
        if dashboards is not None:
            host.start(dashboards)
        return host

    def operator(self, host: Host, *, direct: bool = True) -> Operator:
        """Somebody on this host with the store at hand."""
        database = self.direct if direct else self.database
        return self._stack.enter_context(Operator(database, self.keys, host.run))
