"""Fixtures for all tests. Real engines live in engines/, one module each."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpcore2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from engines.corpus import ABSENT, CORPUS
from tenantry import tracing
from tenantry.backends.sql import SQLStore

pytest.register_assert_rewrite("tenantry.testing.contracts")

pytest_plugins = [
    "engines.memory_folder",
    "engines.postgres",
    "engines.migrated",
    "engines.pgbouncer",
    "engines.mariadb",
    "engines.clickhouse",
    "engines.clickhouse_http",
    "engines.valkey",
    "engines.chromium",
    "engines.first_collection",
    "engines.garbage_collection",
    "engines.hypothesis_profile",
    "engines.reports",
    "engines.samples",
    "engines.together",
    "tests.docs.environments",
]


DEADLINE = 20.0
"""Seconds that a call of an SQLStore may take in a test that gives no deadline of its own: a busy machine must not fail
a test that is about something else. The default for users is a tenth of it."""


@pytest.fixture(scope="session", autouse=True)
def patient_stores() -> Iterator[None]:
    """Every SQLStore of this process waits for ``DEADLINE`` where no deadline is given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(SQLStore)["__init__"].__kwdefaults__, "deadline", DEADLINE)
        yield


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A shell that runs the tests in the background ignores SIGINT for them, and so would each process that they start
    and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """A client of HTTP reads those of the machine when it is made, and so does each ``httpx2.get``: 25 ms of the
    processor each time, also for an address without TLS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", functools.cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tenantry runs on asyncio: its drivers do."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The run folder of all tests and their children: the slots of a test's store do not pile up in the machine's."""
    folder = tmp_path_factory.mktemp("run")
    folder.chmod(0o700)
    before = os.environ.get("TENANTRY_RUN_DIR")
    os.environ["TENANTRY_RUN_DIR"] = str(folder)
    yield folder
    if before is None:
        del os.environ["TENANTRY_RUN_DIR"]
    else:
        os.environ["TENANTRY_RUN_DIR"] = before


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real inputs. Skips where there is none."""
    if not CORPUS.is_dir():
        pytest.skip(ABSENT)
    return CORPUS


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What an SDK would export, kept in memory. The global provider can be set only once in a process, so the tracer is
    exchanged."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "TRACER", provider.get_tracer("tenantry"))
    return exporter
