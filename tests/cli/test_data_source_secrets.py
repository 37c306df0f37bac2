"""Passwords of data sources at rest: what a stolen store shows, and what a rotation of the keys does to them."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engines.postgres import Postgres
from engines.warm_python import run
from tests.cli.conftest import CommandResult, Terminal

PASSWORD = "s3cr3t-c4n4ry"
URL = f"postgresql://reader:{PASSWORD}@127.0.0.1:1/sales?sslmode=disable"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store of the commands that follow."""
    url = f"sqlite:///{folder / 'tenantry.db'}"
    if request.param == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.create_database()
    monkeypatch.setenv("TENANTRY_DATABASE", url)
    return url


def stolen(database: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """All that is in the store: its files, or every row of every table."""
    if database.startswith("sqlite"):
        return "".join(path.read_bytes().decode("latin-1") for path in folder.glob("tenantry.db*"))
    postgres: Postgres = request.getfixturevalue("postgres")
    names = postgres.execute("select tablename from pg_tables where schemaname = 'public'", url=database).split()
    return "".join(postgres.execute(f"select t::text from {name} t", url=database) for name in names)


def register(ready: Terminal, name: str, url: str = URL) -> str:
    return ready("data-source", "create", name, "--no-check", "--url", url).out.strip()


def secrets_of(ready: Terminal) -> dict[str, str]:
    rows = ready("data-source", "list", "--no-check", "--json").json()
    return {row["name"]: row["secrets"] for row in rows}


def write_plain(folder: Path, name: str, url: str = URL) -> None:
    """As a version from before did."""
    with closing(sqlite3.connect(folder / "tenantry.db")) as store, store:
        store.execute("update data_sources set url = ? where provided_id = ?", (url, name))


def key_ids(folder: Path) -> list[set[str]]:
    with closing(sqlite3.connect(folder / "tenantry.db")) as store:
        urls = [row[0] for row in store.execute("select url from data_sources order by provided_id")]
    return [{copy[:2] for copy in url.partition("=v1~")[2].split("~")} for url in urls]


def test_a_stolen_store_shows_no_password(
    database: str, ready: Terminal, folder: Path, request: pytest.FixtureRequest
) -> None:
    """Nor does the list, the audit trail, or anything that a rotation, a removal and a deletion leave behind.

    The host is found, so the search reads the right bytes. Red when ``create`` stored the URL that it was given.
    """
    printed: list[CommandResult] = [ready("data-source", "create", "a", "--no-check", "--url", "-", given=URL)]
    register(ready, "b", f"snowflake://u:{PASSWORD}@account/db?token={PASSWORD}")
    assert PASSWORD not in stolen(database, folder, request)
    printed += [ready("keys", "rotate"), ready("keys", "remove", "k1"), ready("data-source", "list", "--no-check")]
    printed += [ready("data-source", "test", "a", fails=1), ready("data-source", "delete", "b"), ready("audit")]
    left = stolen(database, folder, request)
    assert "127.0.0.1:1/sales" in left
    assert PASSWORD not in left
    assert all(PASSWORD not in each.out + each.err for each in printed)
    assert "data_source.updated" in printed[-1].out


def test_the_list_says_how_each_password_is_kept(ready: Terminal, folder: Path) -> None:
    """And warns of those in plain text, which still work; a rotation encrypts them."""
    register(ready, "encrypted")
    register(ready, "none", "sqlite:///a.db")
    register(ready, "old")
    register(ready, "reference", "mysql://u:env:SALES_PASSWORD@h/d")
    write_plain(folder, "old")
    assert secrets_of(ready) == {"encrypted": "encrypted", "none": None, "old": "plain", "reference": "reference"}
    listed = ready("data-source", "list", "--no-check")
    assert "plain text: `tenantry keys rotate` encrypts them" in listed.err
    assert "mysql://u:env:SALES_PASSWORD@h/d" in listed.out
    assert "Encrypted the URLs of 2 data sources." in ready("keys", "rotate").err
    assert secrets_of(ready)["old"] == "encrypted"
    assert "plain" not in ready("data-source", "list", "--no-check").err


def test_a_password_needs_the_key_file_and_a_reference_does_not(ready: Terminal, folder: Path) -> None:
    """Red when it was stored in plain text without one."""
    (folder / "tenantry.keys").unlink()
    refused = ready("data-source", "create", "a", "--no-check", "--url", URL, fails=1)
    assert "there is no signing-key file tenantry.keys: run `tenantry keys new`" in refused.err
    assert "env:NAME or file:/path" in refused.err
    assert PASSWORD not in refused.err
    register(ready, "b", "mysql://u:env:SALES_PASSWORD@h/d")
    assert secrets_of(ready) == {"b": "reference"}


def test_a_reference_is_tried_when_it_is_registered(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its variable is named, its value is not."""
    words = ("data-source", "create", "a", "--url", "mysql://u:env:SALES_PASSWORD@127.0.0.1:1/d")
    assert "environment variable SALES_PASSWORD, which is not set" in ready(*words, fails=1).err
    monkeypatch.setenv("SALES_PASSWORD", PASSWORD)
    refused = ready(*words, fails=1).err
    assert "data source a cannot be reached" in refused
    assert PASSWORD not in refused


def test_a_key_goes_when_no_url_needs_it(ready: Terminal, folder: Path) -> None:
    """Rotation adds the new key to each URL, removal leaves the others; a URL that is in the way is named.

    Red when the key was removed first: its URLs could never be opened again.
    """
    register(ready, "a")
    assert key_ids(folder) == [{"k1"}]
    ready("keys", "rotate")
    assert key_ids(folder) == [{"k1", "k2"}]
    register(ready, "b")
    assert key_ids(folder) == [{"k1", "k2"}] * 2
    with closing(sqlite3.connect(folder / "tenantry.db")) as store, store:
        store.execute("update data_sources set url = replace(url, '127.0.0.1', '127.0.0.2') where provided_id = 'b'")
    refused = ready("keys", "remove", "k1", fails=1)
    assert "k1 is not removed: the URL of data source 'b' in environment 'production'" in refused.err
    assert len(ready("keys", "list", "--json").json()) == 2
    assert "Warning: the URL of 'b' was not encrypted with the new key" in ready("keys", "rotate").err
    ready("data-source", "delete", "b")
    ready("keys", "remove", "k1")
    assert key_ids(folder) == [{"k2", "k3"}]
    ready("data-source", "test", "a", fails=1)
    ready("keys", "remove", "k3", fails=1)  # it is the active one
    assert key_ids(folder) == [{"k2", "k3"}]


def test_no_key_is_added_where_the_run_folder_cannot_be_used(
    ready: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for root, if the folder belongs to the user of a service. Red when the folder is opened after the key file has
    changed: each attempt would add a key for which no password is encrypted."""
    register(ready, "a")
    (folder / "of another").mkdir()
    (folder / "of another").chmod(0o777)
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(folder / "of another"))
    assert "can be written to by others" in ready("keys", "rotate", fails=3).err
    assert [row["id"] for row in ready("keys", "list", "--json").json()] == ["k1"]


def test_a_key_stays_where_its_store_is_not_found(ready: Terminal, folder: Path) -> None:
    """Its URLs may be encrypted with it alone. A rotation needs no store."""
    (folder / "tenantry.db").unlink()
    assert "There is no store yet" in ready("keys", "rotate").err
    assert "k1 is not removed, because Tenantry could not check" in ready("keys", "remove", "k1", fails=3).err
    assert len(ready("keys", "list", "--json").json()) == 2


KILLED = """
import os, signal, sys
from tenantry.backends.sql.sources import SQLSources
from tenantry.cli import main

write, left = SQLSources.update, [int(sys.argv.pop(1))]

async def counted(*arguments, **named):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return await write(*arguments, **named)

SQLSources.update = counted
main()
"""


@pytest.mark.parametrize("words", [("keys", "rotate"), ("keys", "remove", "k1")])
@pytest.mark.parametrize("writes", [0, 2])
def test_a_rotation_that_is_killed_loses_nothing_and_is_run_again(
    ready: Terminal, folder: Path, words: tuple[str, ...], writes: int
) -> None:
    """By SIGKILL, before the first and after the second of five URLs. At every moment the key file opens each.

    Red when ``remove`` takes the key out of the file before the URLs are written: three could not be opened.
    """
    for number in range(5):
        register(ready, f"s{number}")
    if words[1] == "remove":
        ready("keys", "rotate")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}  # the same code, from another folder
    command = [sys.executable, "-c", KILLED, str(writes), *words]
    done = run(command, cwd=folder, env=environment, check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    for row in ready("data-source", "list", "--json").json():
        assert "cannot be reached" in row["health"]  # it was opened: nobody listens there
    ready(*words)
    ids = {row["id"] for row in ready("keys", "list", "--json").json()}
    assert key_ids(folder) == [ids] * 5
    assert ("k1" in ids) == (words[1] == "rotate")
