"""TLS of PostgreSQL sources: `sslmode` and `sslrootcert` have libpq's meaning, before a server with a certificate.

The server is PgBouncer, for the tests' PostgreSQL has no TLS; to a client it is one.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.certificates import self_signed
from engines.debian_packages import require
from engines.pgbouncer import PACKAGES, pooled
from tenantry.errors import InvalidSource, SourceUnavailable
from tests.datasources.conftest import Directory, group


@dataclass(frozen=True)
class Secured:
    """``good`` is for 127.0.0.1 and what the server shows, ``other`` another one for the same host."""

    url: str
    port: int
    good: Path
    other: Path


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One that the user of PgBouncer reaches too."""
    made = Path(tempfile.mkdtemp(prefix="tenantry-tls-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def _serve(postgres, folder: Path, name: str, host: str) -> Iterator[Secured]:
    require(*PACKAGES)
    mine, other = folder / name, folder / f"{name}-other"
    for each in (mine, other):
        each.mkdir(mode=0o755)
    good, wrong = self_signed(mine, host), self_signed(other, host)
    good.chmod(0o644)
    tls = ("client_tls_sslmode = require", f"client_tls_key_file = {good}", f"client_tls_cert_file = {good}")
    database = postgres.create_database()
    with pooled(postgres.url, "transaction", *tls) as pooler:
        yield Secured(pooler.url(database), pooler.port, good, wrong)


@pytest.fixture(scope="module")
def secured(postgres, folder: Path) -> Iterator[Secured]:
    yield from _serve(postgres, folder, "here", "127.0.0.1")


@pytest.fixture(scope="module")
def elsewhere(postgres, folder: Path) -> Iterator[Secured]:
    """Its certificate is for another host."""
    yield from _serve(postgres, folder, "elsewhere", "db.example.com")


async def ask(url: str, directory: Directory, open_sources) -> list[dict[str, object]]:
    directory.add(1, url)
    rows: list[dict[str, object]] = await open_sources(connect_timeout=60).fetch(
        group(main="ds_1"), "main", "select 1 as one", {}
    )
    return rows


@pytest.mark.parametrize(
    "options",
    ["", "?sslmode=require", "?sslmode=verify-ca&sslrootcert={good}", "?sslmode=verify-full&sslrootcert={good}"],
)
async def test_a_server_with_the_right_certificate(
    options: str, secured: Secured, directory: Directory, open_sources
) -> None:
    """`prefer` is libpq's default. The server refuses whoever does not encrypt."""
    url = secured.url + options.format(good=secured.good)
    assert await ask(url, directory, open_sources) == [{"one": 1}]
    directory.registered.clear()
    with pytest.raises(SourceUnavailable):
        await ask(secured.url + "?sslmode=disable", directory, open_sources)


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
async def test_a_wrong_ca_is_refused(mode: str, secured: Secured, directory: Directory, open_sources) -> None:
    """The message says what it is, and shows neither host nor path."""
    with pytest.raises(SourceUnavailable, match=r"not signed by the given CA") as caught:
        await ask(f"{secured.url}?sslmode={mode}&sslrootcert={secured.other}", directory, open_sources)
    assert not any(word in str(caught.value) for word in ("127.0.0.1", str(secured.other)))


async def test_a_wrong_host_is_refused_where_it_is_asked_for(
    elsewhere: Secured, directory: Directory, open_sources
) -> None:
    """`verify-full` looks at the name, `verify-ca` does not."""
    with pytest.raises(SourceUnavailable, match=r"is for another host"):
        await ask(f"{elsewhere.url}?sslmode=verify-full&sslrootcert={elsewhere.good}", directory, open_sources)
    directory.registered.clear()
    rows = await ask(f"{elsewhere.url}?sslmode=verify-ca&sslrootcert={elsewhere.good}", directory, open_sources)
    assert rows == [{"one": 1}]


async def test_the_host_of_the_url_is_what_is_verified(secured: Secured, directory: Directory, open_sources) -> None:
    """Its addresses are looked up before libpq is asked; the certificate is still held to the name. Red when the
    address took the place of the host."""
    url = secured.url.replace("127.0.0.1", "localhost")
    with pytest.raises(SourceUnavailable, match=r"is for another host"):
        await ask(f"{url}?sslmode=verify-full&sslrootcert={secured.good}", directory, open_sources)


async def test_a_server_without_tls_is_refused(postgres, directory: Directory, open_sources) -> None:
    """Where encryption is asked for it is never given up."""
    with pytest.raises(SourceUnavailable, match=r"the server has no TLS"):
        await ask(postgres.create_database() + "?sslmode=require", directory, open_sources)


@pytest.mark.parametrize("option", ["sslmode=sometimes", "ssl_ca=/ca.pem", "search_path=secret"])
async def test_an_option_that_libpq_does_not_know(option: str, postgres, directory: Directory, open_sources) -> None:
    """It is refused and not ignored: a misspelled one could leave out the encryption."""
    with pytest.raises((InvalidSource, SourceUnavailable)) as caught:
        await ask(f"{postgres.create_database()}?{option}", directory, open_sources)
    assert "secret" not in str(caught.value)
