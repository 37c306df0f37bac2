"""Host: one machine of the fleet, simulated by a run folder of its own; its dashboards and its server."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.acceptance.fleet.child import START_SECONDS, Child, free_port
from benchmarks.acceptance.fleet.dashboard import Plan
from benchmarks.acceptance.fleet.line import Answer, Line, show

_APP: Final = "benchmarks.acceptance.fleet.dashboard:create"


class Worker:
    """One process of a dashboard, and an open connection to it alone."""

    def __init__(self, process: int, path: Path) -> None:
        self.process = process
        self.line = Line(path)

    def show(self, token: str) -> Answer:
        """What it answers to this user group token."""
        self.line.send(show(token))
        return self.line.receive()


@dataclass(frozen=True)
class Dashboards:
    """How the dashboards of a host are set up. ``supervised``: one ``uvicorn --workers``, else a process each.
    ``deadline``: seconds that their store may take."""

    database: str
    workers: int = 2
    supervised: bool = False
    staleness: float = 5.0
    redis: str | None = None
    buses: tuple[str, ...] = ()
    without: str | None = None
    listen: str | None = None
    deadline: float = 2.0


class Host:
    """A context manager; it ends what it started. Its files are in ``folder``, short enough for Unix sockets."""

    def __init__(self, folder: Path, keys: Path, run: Path | None = None) -> None:
        self.folder = folder
        self.keys = keys
        self.run = run or folder / "run"
        self.children: list[Child] = []
        self.workers: list[Worker] = []
        self.server: Server | None = None
        self.port = 0
        """Where ``uvicorn --workers`` listens."""

        for each in (folder, self.run, folder / "sockets"):
            each.mkdir(mode=0o700, exist_ok=True)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def environment(self) -> dict[str, str]:
        """The variables that all its processes share."""
        return {"TENANTRY_RUN_DIR": str(self.run)}

    def start(self, how: Dashboards) -> None:
        """Starts the dashboards and waits until every worker answers by itself."""
        plan = Plan(
            how.database,
            str(self.keys),
            str(self.folder / "sockets"),
            how.staleness,
            how.redis,
            how.buses,
            how.without,
            how.listen,
            how.deadline,
        )
        count = 1 if how.supervised else how.workers
        for _ in range(count):
            number = len(self.children)
            words = ["uvicorn", "--factory", _APP, "--log-level", "warning", "--no-access-log"]
            words += ["--timeout-keep-alive", "600"]  # a write may keep those who ask waiting for the staleness bound
            if how.supervised:
                self.port = free_port()
                words += ["--port", str(self.port), "--workers", str(how.workers)]
                words += ["--timeout-worker-healthcheck", "600"]  # a worker that waits for the processor is not dead
            else:
                words += ["--uds", str(self.front(number))]
            environment = {**self.environment, **plan.environment()}
            self.children.append(Child(words, log=self.folder / f"dashboard-{number}.log", env=environment))
        self.children[-1].wait_until(lambda: len(self._sockets()) >= how.workers or not self._all_alive())
        if not self._all_alive():
            raise RuntimeError("\n".join(child.printed()[-2_000:] for child in self.children))
        self.workers = [Worker(int(path.stem), path) for path in self._sockets()]
        for worker in self.workers:
            _until_it_answers(worker)

    def front(self, number: int) -> Path:
        """The Unix socket on which uvicorn serves this one of the dashboards that are not supervised."""
        return self.folder / f"d{number}.sock"

    @property
    def failpoint(self) -> Path:
        """The file that says how its server fails next (benchmarks.acceptance.fleet.failpoint)."""
        return self.folder / "failpoint"

    def serve(
        self, database: str, *, redis: str | None = None, failing: bool = False, path: Path | None = None
    ) -> Server:
        """Starts ``tenantry serve`` on this host and waits until it answers. ``failing``: with its failpoints.
        ``path``: a folder of more packages for it."""
        program = "benchmarks.acceptance.fleet.failpoint" if failing else "tenantry"
        self.server = Server(self, database, redis=redis, program=program, path=path)
        self.server.start()
        return self.server

    def child_of(self, worker: Worker) -> Child:
        """The process of a worker that is not supervised."""
        return next(child for child in self.children if child.pid == worker.process)

    def close(self) -> None:
        """Ends everything of this host."""
        for worker in self.workers:
            worker.line.close()
        children = [*self.children, *([self.server.child] if self.server is not None and self.server.child else [])]
        for child in children:
            child.request_stop()
        for child in children:
            child.stop()

    def printed(self) -> str:
        """What its dashboards have printed."""
        return "\n".join(child.printed() for child in self.children)

    def _sockets(self) -> list[Path]:
        return sorted((self.folder / "sockets").glob("*.sock"))

    def _all_alive(self) -> bool:
        return all(child.alive for child in self.children)


class Server:
    """``tenantry serve``: its address stays the same through restarts."""

    def __init__(
        self,
        host: Host,
        database: str,
        *,
        redis: str | None = None,
        program: str = "tenantry",
        path: Path | None = None,
    ) -> None:
        self.port = free_port()
        self._database = database
        self._host = host
        self._program = program
        self._environment = {**host.environment, "FAILPOINT": str(host.failpoint)}
        if redis is not None:
            self._environment["TENANTRY_REDIS"] = redis
        if path is not None:
            self._environment["PYTHONPATH"] = str(path)
        self.child: Child | None = None

    def start(self) -> None:
        """Starts it and waits until it answers."""
        words = [self._program, "serve", "--database", self._database, "--keys", str(self._host.keys), "--port"]
        log = self._host.folder / "serve.log"
        self.child = Child([*words, str(self.port)], log=log, env=self._environment)
        self.child.wait_until(self._answers)

    def kill(self) -> None:
        """kill -9."""
        if self.child is not None:
            self.child.kill()

    def stop(self) -> int:
        """SIGTERM; its exit code."""
        return 0 if self.child is None else self.child.stop()

    def _answers(self) -> bool:
        with suppress(OSError), Line(self.port, patience=2) as line:
            return line.ask("GET", "/healthz").status == 200
        return False


class Caller:
    """Somebody who provisions over HTTP, on one connection."""

    def __init__(self, port: int, secret: str) -> None:
        self.line = Line(port)
        self._headers = {"authorization": f"Token {secret}"}

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self.line.close()

    def get(self, group: str, properties: object = None) -> Answer:
        """Get or create."""
        return self.line.ask("GET", "/api/user", self._headers, {"user_group_id": group, "properties": properties})

    def put(self, group: str, properties: object) -> Answer:
        """Update."""
        return self.line.ask("PUT", "/api/user", self._headers, {"user_group_id": group, "properties": properties})

    def rotate(self, token: str, key: str | None = None) -> Answer:
        """Rotate, with an Idempotency-Key if there is one."""
        headers = self._headers if key is None else {**self._headers, "idempotency-key": key}
        return self.line.ask("POST", "/api/user", headers, {"current_token": token})


def _until_it_answers(worker: Worker) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            worker.line.ask("GET", "/")
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
