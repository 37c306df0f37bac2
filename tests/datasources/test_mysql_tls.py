"""TLS to MariaDB: whom a source speaks to, on a real server with TLS and on one without.

The server's certificate is for ``localhost`` and signed by itself: 127.0.0.1 is another host.
"""

from __future__ import annotations

import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from engines.certificates import self_signed
from engines.mariadb import MariaDB
from tenantry.datasources.engines.mysql_connection import ServerAddress
from tenantry.datasources.url import parse_url
from tenantry.errors import SourceUnavailable
from tests.datasources.conftest import Directory, group

CIPHER = "show session status like 'Ssl_cipher'"


@pytest.fixture
def cipher(directory: Directory, open_sources):
    """Connects to a server by a host name and options, and gives what its connection is encrypted with."""

    async def connect(server: MariaDB, host: str, options: str) -> str:
        directory.registered.clear()
        directory.add(1, f"mysql://root@{host}:{server.port}/mysql?{options}")
        rows = await open_sources(timeout=60, connect_timeout=60).fetch(group(main="ds_1"), "main", CIPHER, {})
        return str(rows[0]["Value"])

    return connect


@pytest.mark.parametrize(
    ("host", "options", "encrypted"),
    [
        ("localhost", "ssl_ca={ca}", True),
        ("localhost", "ssl_ca={ca}&ssl_mode=verify", True),
        ("127.0.0.1", "ssl_mode=required", True),
        ("127.0.0.1", "", True),
        ("127.0.0.1", "ssl_mode=disabled", False),
    ],
)
async def test_a_server_with_tls(host: str, options: str, encrypted: bool, cipher, mariadb_with_tls: MariaDB) -> None:
    """What the URL asks for. Without a mode the machine itself is spoken to in TLS if it can."""
    found = await cipher(mariadb_with_tls, host, options.format(ca=mariadb_with_tls.certificate))
    assert bool(found) is encrypted


@pytest.mark.parametrize(
    ("host", "ca", "options", "message"),
    [
        ("localhost", "another", "ssl_ca={ca}", "is not signed by a CA that ssl_ca"),
        ("localhost", "its own", "ssl_mode=verify", "is not signed by a CA that ssl_ca or this system trusts"),
        ("127.0.0.1", "its own", "ssl_ca={ca}", "is for another host"),
        ("127.0.0.1", "its own", "ssl_ca={ca}&ssl_mode=verify", "is for another host"),
    ],
)
async def test_who_is_not_the_server_is_refused(
    host: str, ca: str, options: str, message: str, cipher, mariadb_with_tls: MariaDB, tmp_path: Path
) -> None:
    """A chain that ends elsewhere and a certificate for another host. Red with ``ssl_ca`` as PyMySQL takes it: it
    connected in each case."""
    authority = mariadb_with_tls.certificate if ca == "its own" else self_signed(tmp_path, "localhost")
    with pytest.raises(SourceUnavailable, match=message) as caught:
        await cipher(mariadb_with_tls, host, options.format(ca=authority))
    assert str(authority) not in str(caught.value)


@pytest.mark.parametrize("options", ["ssl_mode=required", "ssl_mode=verify", "ssl_ca={ca}", "ssl_cert={ca}"])
async def test_a_server_without_tls_is_refused(
    options: str, cipher, mariadb: MariaDB, mariadb_with_tls: MariaDB
) -> None:
    """Red with PyMySQL's own mode where nothing is verified: it goes on in plain text."""
    with pytest.raises(SourceUnavailable, match="the server has no TLS"):
        await cipher(mariadb, "127.0.0.1", options.format(ca=mariadb_with_tls.certificate))


@pytest.mark.parametrize("options", ["", "ssl_mode=disabled"])
async def test_the_machine_itself_may_have_none(options: str, cipher, mariadb: MariaDB) -> None:
    """On a loopback address nobody else listens: a URL that asks for nothing is not refused there."""
    assert await cipher(mariadb, "127.0.0.1", options) == ""


@pytest.mark.parametrize(
    ("url", "tls"),
    [
        ("mysql://u@db.example/d", "required"),
        ("mysql://u@192.0.2.1/d", "required"),
        ("mysql://u@localhost.example/d", "required"),
        ("mysql://u@127.0.0.2/d", "required"),
        ("mysql://u@[::1]/d", "required"),
        ("mysql://u@db.example/d?ssl_mode=disabled", None),
        ("mysql://u@/d?unix_socket=/run/mysqld.sock", None),
    ],
)
def test_what_a_url_asks_for(url: str, tls: str | None) -> None:
    """Another machine is never spoken to in plain text unless the URL says so: such a URL does not fall back."""
    address = ServerAddress(parse_url(url))
    arguments = address.arguments()
    assert ("ssl" in arguments) is (tls is not None)
    falls_back = address.goes_on_without_tls(2026)
    assert falls_back is any(part in url for part in ("127.0.0.2", "::1"))
    assert ("ssl" in address.arguments()) is (tls is not None and not falls_back)


def test_one_context_for_a_source(mariadb_with_tls: MariaDB) -> None:
    """To make one for each connection cost 200 to 540 ms. Red when each call of ``arguments`` made one."""
    address = ServerAddress(parse_url(f"mysql://u@h/d?ssl_ca={mariadb_with_tls.certificate}"))
    context = address.arguments()["ssl"]
    assert address.arguments()["ssl"] is context
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_an_old_pymysql_is_refused() -> None:
    """Before 1.2 it goes on in plain text where TLS is asked for and the server has none. Red without the check."""
    program = (
        "import pymysql; pymysql.VERSION = (1, 1, 3, 'final', 1)\n"
        "from tenantry.datasources import Limits\n"
        "from tenantry.datasources.open_sources import create_source\n"
        "from tenantry.groups import Environment, RegisteredSource, Tag\n"
        "environment = Environment(1, 'production', Tag.CUSTOMER)\n"
        "create_source(RegisteredSource('ds_1', None, environment, 'mysql://u@127.0.0.1/a'), Limits(), {})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert "InvalidSource: the driver PyMySQL 1.2 or newer is not installed: pip install" in done.stderr
