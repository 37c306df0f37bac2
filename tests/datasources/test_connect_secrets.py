"""Queries on a source whose password is not in its URL: on a server that checks it."""

from __future__ import annotations

import logging
import secrets
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from engines.mariadb import MariaDB
from tenantry import SigningKeys
from tenantry.datasources import check_connection, encrypt_url
from tenantry.errors import SecretUnavailable, SourceUnavailable
from tenantry.tokens.keys import create_key_file
from tests.datasources.conftest import PRODUCTION, Directory, group

pytestmark = pytest.mark.anyio
SQL = "select 1 as one"
ROWS = [{"one": 1}]


@pytest.fixture
def url(mariadb: MariaDB) -> str:
    """Of a user with a password."""
    return mariadb.create_user(mariadb.create_database(), "select")


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    create_key_file(tmp_path / "my.keys")
    return tmp_path / "my.keys"


async def test_an_encrypted_url_is_opened_by_the_keys(url: str, key_file: Path, directory: Directory, open_sources):
    """Given as a ring or as their file. Red when the driver got what is stored."""
    ring = SigningKeys.from_file(key_file)
    source = directory.add(1, encrypt_url(url, ring, PRODUCTION, "ds_1"))
    assert make_url(url).password not in source.url
    for keys in (ring, key_file, str(key_file)):
        assert await open_sources(keys=keys).fetch(group(main="ds_1"), "main", SQL) == ROWS
        await check_connection(source, keys=keys, seconds=60)


async def test_the_key_file_of_the_settings_is_read_when_it_is_needed(
    url: str,
    key_file: Path,
    directory: Directory,
    open_sources,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog,
) -> None:
    """And not before: a source without secrets needs none. Where it is missing, the operator is told its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TENANTRY_KEYS", raising=False)
    directory.add(1, encrypt_url(url, SigningKeys.from_file(key_file), PRODUCTION, "ds_1"))
    directory.add(2, url)
    sources = open_sources()
    assert await sources.fetch(group(main="ds_2"), "main", SQL) == ROWS
    with pytest.raises(SecretUnavailable, match=r"there is no signing-key file tenantry.keys: .* set TENANTRY_KEYS"):
        await sources.fetch(group(main="ds_1"), "main", SQL)
    assert "set TENANTRY_KEYS to the path of one" in caplog.text
    monkeypatch.setenv("TENANTRY_KEYS", str(key_file))
    assert await sources.fetch(group(main="ds_1"), "main", SQL) == ROWS


async def test_a_moved_row_gets_no_rows(url: str, key_file: Path, directory: Directory, open_sources, caplog) -> None:
    """The URL of one source in the row of another: an error, and nobody is connected to."""
    caplog.set_level(logging.DEBUG)
    moved = directory.add(2, encrypt_url(url, SigningKeys.from_file(key_file), PRODUCTION, "ds_1"))
    with pytest.raises(SecretUnavailable, match="copied from another row"):
        await open_sources(keys=key_file).fetch(group(main="ds_2"), "main", SQL)
    assert make_url(url).password not in caplog.text
    assert moved.url not in caplog.text


async def test_the_key_of_results_is_that_of_the_plain_url(
    url: str, key_file: Path, directory: Directory, open_sources
) -> None:
    """Encrypting a URL in place does not empty a shared cache."""
    sources = open_sources(keys=key_file)
    plain = directory.add(1, url)
    before = await sources.fingerprint(group(main="ds_1"), "main", SQL)
    encrypted = encrypt_url(url, SigningKeys.from_file(key_file), PRODUCTION, "ds_1")
    directory.registered[0] = replace(plain, url=encrypted)
    assert await sources.fingerprint(group(main="ds_1"), "main", SQL) == before


async def test_a_changed_file_is_followed(
    url: str, mariadb: MariaDB, directory: Directory, open_sources, tmp_path: Path
):
    """The password is changed at the server, then in the file: the next query has a new connection, and none fails.

    Red when the reference is read once: the query on a new connection failed until the process was restarted.
    """
    parsed = make_url(url)
    file = tmp_path / "password"
    file.write_text(f"{parsed.password}\n")
    directory.add(1, f"mysql://{parsed.username}:file:{file}@127.0.0.1:{mariadb.port}/{parsed.database}")
    sources = open_sources()
    assert await sources.fetch(group(main="ds_1"), "main", SQL) == ROWS
    after = secrets.token_hex(8)
    mariadb.execute(f"alter user `{parsed.username}`@`127.0.0.1` identified by '{after}'")
    assert await sources.fetch(group(main="ds_1"), "main", SQL) == ROWS
    for row in mariadb.execute("select id from information_schema.processlist where user = %s", (parsed.username,)):
        mariadb.execute(f"kill {row[0]}")
    with pytest.raises(SourceUnavailable):
        await sources.fetch(group(main="ds_1"), "main", SQL)
    file.write_text(f"{after}\n")
    assert await sources.fetch(group(main="ds_1"), "main", SQL) == ROWS
    file.unlink()
    with pytest.raises(SecretUnavailable, match=f"file {file}, which cannot be read"):
        await sources.fetch(group(main="ds_1"), "main", SQL)
