"""A server that cannot be reached: the message says why and where, for a store and for a data source, without the
password. On a PostgreSQL that checks passwords, behind a PgBouncer, and on a MariaDB."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

from benchmarks.acceptance.faults.postgres import PostgresServer
from engines.certificates import self_signed
from engines.debian_packages import require
from engines.mariadb import MariaDB
from engines.pgbouncer import PACKAGES, pooled
from engines.ports import free_port
from tenantry.backends.sql import SQLStore
from tenantry.datasources import DataSources
from tenantry.errors import SourceUnavailable, StoreUnavailable
from tests.datasources.conftest import Directory, group

SECRET = "s3cr3t"
WRONG = "the user or the password is wrong"


@dataclass
class Servers:
    """``direct``: the port of a PostgreSQL whose role ``app`` has the password SECRET. ``pooler``: a PgBouncer that
    asks clients for it too. ``stale``: one that has an old password for the server. ``tls``: one with a certificate."""

    direct: int
    pooler: int
    stale: int
    tls: int


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    require(*PACKAGES)
    folder = Path(tempfile.mkdtemp(prefix="tenantry-diagnoses-"))
    folder.chmod(0o755)
    users = folder / "users"
    users.write_text(f'"app" "{SECRET}"\n"crowd" "{SECRET}"\n')
    users.chmod(0o644)
    certificate = self_signed(folder, "127.0.0.1")
    certificate.chmod(0o644)
    with PostgresServer() as server, ExitStack() as started:
        _check_passwords(server)

        def pool(login: str, *settings: str) -> int:
            behind = f"postgresql://{login}127.0.0.1:{server.port}"
            return started.enter_context(pooled(behind, "session", "server_login_retry = 1", *settings)).port

        tls = ("client_tls_sslmode = require", f"client_tls_key_file = {certificate}")
        yield Servers(
            direct=server.port,
            pooler=pool("", "auth_type = scram-sha-256", f"auth_file = {users}"),
            stale=pool("app:before@"),
            tls=pool(f"app:{SECRET}@", *tls, f"client_tls_cert_file = {certificate}"),
        )
    shutil.rmtree(folder)


def _check_passwords(server: PostgresServer) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for role in (f"app login password '{SECRET}'", f"crowd login connection limit 0 password '{SECRET}'"):
            connection.execute(f"create role {role}")
        found = connection.execute("show hba_file").fetchone()
        assert found is not None
        rules = ("host all postgres 127.0.0.1/32 trust", "host postgres all 127.0.0.1/32 scram-sha-256")
        Path(found[0]).write_text("\n".join(rules) + "\n")
        connection.execute("select pg_reload_conf()")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            psycopg.connect(f"postgresql://app:wrong@127.0.0.1:{server.port}/postgres").close()
        except psycopg.OperationalError:
            return
    raise AssertionError("the server does not read its new rules")


CASES: dict[str, tuple[str, str]] = {
    "wrong password": ("postgresql://app:{secret}x@127.0.0.1:{direct}/postgres", WRONG),
    "no password": (
        "postgresql://app@127.0.0.1:{direct}/postgres",
        "the server wants a password, and the URL has none",
    ),
    "no rule": ("postgresql://app:{secret}@127.0.0.1:{direct}/template1", "pg_hba.conf of the server has no entry"),
    "wrong password at the pooler": ("postgresql://app:{secret}x@127.0.0.1:{pooler}/postgres", WRONG),
    "wrong password of the pooler": ("postgresql://app@127.0.0.1:{stale}/postgres", WRONG),
    "role full": ("postgresql://crowd:{secret}@127.0.0.1:{direct}/postgres", "the role has reached its limit"),
    "role full at the pooler": ("postgresql://crowd:{secret}@127.0.0.1:{pooler}/postgres", "the role has reached its"),
    "DNS": ("postgresql://app:{secret}@nowhere.invalid/postgres", "no address found for the host nowhere.invalid"),
    "closed port": (
        "postgresql://app:{secret}@127.0.0.1:{closed}/postgres",
        "connection refused by 127.0.0.1:{closed}",
    ),
    "socket": (
        "postgresql://app:{secret}@/postgres?host=/nowhere",
        "no server listens at the socket /nowhere/.s.PGSQL",
    ),
    "no CA file": (
        "postgresql://app:{secret}@127.0.0.1:{tls}/postgres?sslmode=verify-full",
        "TLS: no CA file can be read: add sslrootcert=",
    ),
    "no TLS": ("postgresql://app:{secret}@127.0.0.1:{direct}/postgres?sslmode=require", "TLS: the server has no TLS"),
}


@pytest.mark.parametrize("case", CASES)
async def test_postgresql(
    case: str, servers: Servers, directory: Directory, open_sources: Callable[..., DataSources], monkeypatch: Any
) -> None:
    """Red for each when its line is taken from the table of problems: "does not answer", or the type of an error."""
    monkeypatch.setenv("PGSSLROOTCERT", "/nowhere/ca.pem")  # the machine may have one
    places = {"secret": SECRET, "closed": free_port(), **asdict(servers)}
    url, reason = (text.format(**places) for text in CASES[case])
    directory.add(1, url)
    store = SQLStore(url, deadline=60)
    with pytest.raises(StoreUnavailable) as of_store:
        await store.ready()
    await store.aclose()
    with pytest.raises(SourceUnavailable) as of_source:
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    for error in (of_store.value, of_source.value):
        assert reason in error.message
        assert SECRET not in f"{error.message} {error.public_message}"
        assert reason not in error.public_message  # it names hosts, and is for the operator


MARIADB: dict[str, tuple[str, str]] = {
    "wrong password": ("mysql://{user}:{secret}@127.0.0.1:{port}/{database}", f"{WRONG} (1045)"),
    "database": ("mysql://{user}:{password}@127.0.0.1:{port}/nothing", "the user may not use this database (1044)"),
    "DNS": ("mysql://{user}:{secret}@nowhere.invalid/a", "no address found for the host nowhere.invalid: check its"),
    "closed port": (
        "mysql://{user}:{secret}@127.0.0.1:{closed}/a",
        "connection refused by 127.0.0.1:{closed}: nothing",
    ),
}


@pytest.mark.parametrize("case", MARIADB)
async def test_mariadb(
    case: str, mariadb: MariaDB, directory: Directory, open_sources: Callable[..., DataSources]
) -> None:
    """Red for a closed port without the cause of PyMySQL's error: "OperationalError (2003)"."""
    known = make_url(mariadb.create_user(mariadb.create_database(), "select"))
    places: dict[str, Any] = {
        "secret": SECRET,
        "closed": free_port(),
        "user": known.username,
        "password": known.password,
    }
    places |= {"port": known.port, "database": known.database}
    url, reason = (text.format(**places) for text in MARIADB[case])
    directory.add(1, url)
    with pytest.raises(SourceUnavailable) as caught:
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    assert reason in caught.value.message
    assert SECRET not in caught.value.message


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("nowhere.invalid:8123", "no address found for the host nowhere.invalid"),
        ("127.0.0.1:{closed}", "connection refused by 127.0.0.1:{closed}"),
    ],
)
async def test_clickhouse(
    place: str, reason: str, directory: Directory, open_sources: Callable[..., DataSources]
) -> None:
    """Red without the causes of urllib3's error: "OperationalError"."""
    closed = free_port()
    directory.add(1, f"clickhouse://u:{SECRET}@{place.format(closed=closed)}/a?ssl_mode=disabled")
    with pytest.raises(SourceUnavailable) as caught:
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    assert reason.format(closed=closed) in caught.value.message
    assert SECRET not in caught.value.message
