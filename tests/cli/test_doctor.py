"""``tenantry doctor`` names each thing that is broken, and how to fix it. Each is broken for real here."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from engines.ports import free_port
from engines.postgres import Postgres
from engines.valkey import Valkey
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import HEAD, migrate
from tests.cli.conftest import Terminal

SECRET = "s3cr3tword"


def found(terminal: Terminal, *arguments: str, fails: int = 1) -> dict[str, dict[str, str]]:
    """The findings of the command by their check."""
    rows = terminal("doctor", "--json", *arguments, fails=fails).json()
    return {row["check"]: row for row in rows}


def test_nothing_is_wrong(ready: Terminal) -> None:
    """Ends with 0. What is not set up is skipped and no failure. Red when a check that is skipped counts."""
    ready("data-source", "create", "warehouse", "--url", "sqlite:///tenantry.db.copy", "--no-check")
    ready("data-source", "delete", "warehouse")
    states = {name: row["state"] for name, row in found(ready, fails=0).items()}
    assert states == {
        "keys": "ok",
        "store": "ok",
        "migrations": "ok",
        "run folder": "ok",
        "audit trail": "ok",
        "bus": "skipped",
        "clock": "skipped",
        "data sources": "skipped",
        "embedding hosts": "skipped",
    }
    said = ready("doctor")
    assert len(said.out.splitlines()) == 1 + len(states)
    assert said.err == ""


def test_an_empty_folder(terminal: Terminal, folder: Path) -> None:
    """Each line says what to run, and nothing is made."""
    rows = found(terminal)
    assert "`tenantry keys new`" in rows["keys"]["found"]
    assert "`tenantry migrate`" in rows["migrations"]["found"]
    assert rows["data sources"]["state"] == rows["embedding hosts"]["state"] == "skipped"
    assert not (folder / "tenantry.db").exists()
    assert "2 of 8 checks failed." in terminal("doctor", fails=1).err


def _closed_key_file(folder: Path) -> None:
    (folder / "tenantry.keys").chmod(0o644)


def _other_tables(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "tenantry.db")) as file:
        file.execute("update alembic_version set version_num = '0003'")
        file.execute("update generation set compatible = ''")
        file.commit()


def _no_database(folder: Path) -> None:
    for path in folder.glob("tenantry.db-*"):
        path.unlink()
    (folder / "tenantry.db").write_bytes(b"not a database" * 1000)


def _open_run_folder(folder: Path) -> None:
    (folder / "run").mkdir(exist_ok=True)
    (folder / "run").chmod(0o777)


def _key_of_tomorrow(folder: Path) -> None:
    path = folder / "tenantry.keys"
    path.write_text(re.sub(r"\d{4}(-\d\d-\d\dT)", r"2999\1", path.read_text()))


def _wrong_file(folder: Path) -> None:
    (folder / "tenantry.toml").write_text("prot = 8000\n")


BREAKS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "a key file that others may read": (_closed_key_file, "keys", "chmod 600"),
    "old tables": (_other_tables, "migrations", "is at revision 0003, this version needs " + HEAD),
    "a file that is no database": (_no_database, "store", "not a database"),
    "a run folder that others may write to": (_open_run_folder, "run folder", "can be written to by others"),
    "a clock that was set back": (_key_of_tomorrow, "clock", "behind the time in"),
    "a setting": (_wrong_file, "settings", "unknown setting 'prot'"),
}


def test_a_key_file_of_another_store(ready: Terminal, folder: Path) -> None:
    """A fresh file lacks the key of the groups, or has another secret under the same id. Red when only the form of the
    file was checked."""
    keys, spare = folder / "tenantry.keys", folder / "spare.keys"
    ready("keys", "new", "--keys", str(spare))

    def verdict(fails: int) -> str:
        row = found(ready, "--keys", str(spare), fails=fails)["keys"]
        return f"{row['state']}: {row['found']}. {row['fix']}"

    assert "has another key k1 than the one that sealed entry 1 of the audit trail" in verdict(1)
    ready("keys", "rotate")
    ready("environment", "set-grace", "production", "5")
    assert "lacks the key k2, which sealed entry 2 of the audit trail" in verdict(1)
    ready("group", "create", "acme")
    ready("group", "create", "globex")
    said = verdict(1)
    assert f"{spare} lacks keys that signed the tokens of user groups: k2 (2 groups). " in said
    assert "--keys (TENANTRY_KEYS)" in said
    assert "`tenantry group rotate --signed-by k2`" in said
    ready("keys", "rotate")
    ready("keys", "remove", "k2", "--force")
    removed = found(ready)["keys"]["fix"]  # red when it advises to restore a key that leaked
    assert removed == "To give the groups new tokens: `tenantry group rotate --signed-by k2`"
    ready("group", "rotate", "--signed-by", "k2", "--yes")
    spare.write_bytes(keys.read_bytes())
    assert verdict(0).startswith("ok")
    ready("keys", "remove", "k1")
    assert found(ready, fails=0)["keys"]["state"] == "ok"
    *others, active = keys.read_text().rstrip().split(" ")
    spare.write_text(" ".join([*others, active[-2::-1] + active[-1]]))
    assert "has another key k3 than" in verdict(1)


def test_a_key_file_that_is_lost(ready: Terminal, folder: Path) -> None:
    """Red when the advice is a new file, which would lose all tokens and passwords, and when that of the data source is
    to correct the source."""
    url = f"postgresql://u:{SECRET}@127.0.0.1:{free_port()}/x"
    ready("data-source", "create", "mine", "--no-check", "--url", url)
    keys = folder / "tenantry.keys"
    kept = keys.rename(folder / "kept.keys")

    def results() -> tuple[str, dict[str, str]]:
        rows = found(ready)
        return f"{rows['keys']['found']}. {rows['keys']['fix']}", rows["data source mine in production"]

    of_keys, source = results()
    assert "there is no signing-key file tenantry.keys. Name the key file of this store with --keys" in of_keys
    assert "keys new" not in of_keys
    assert source["found"] == "its URL is encrypted: correct the keys first"
    for mode, content in ((0o644, kept.read_text()), (0o600, "")):
        keys.write_text(content)
        keys.chmod(mode)
        assert results()[1]["state"] == "skipped"
    keys.unlink()
    ready("keys", "new")
    of_keys, source = results()
    assert "restore it from a backup" in of_keys
    assert source["state"] == "skipped"
    keys.write_bytes(kept.read_bytes())
    assert "connection refused" in results()[1]["found"]


def test_a_trail_that_cannot_be_checked(ready: Terminal, folder: Path) -> None:
    """The entries before its newest seal were deleted: no reason to fail. Red when the chain is always read from its
    beginning."""
    ready("keys", "rotate")
    for number in range(3):
        ready("group", "create", f"g{number}")
    with closing(sqlite3.connect(folder / "tenantry.db")) as file:
        for (name,) in file.execute(
            "select name from sqlite_master where type = 'trigger' and tbl_name = 'audit'"
        ).fetchall():
            file.execute(f"drop trigger {name}")
        file.execute("delete from audit where number < (select max(number) from audit)")
        file.commit()
    assert found(ready, fails=0)["keys"]["state"] == "ok"
    ready("group", "create", "next")
    assert found(ready, fails=0)["keys"]["state"] == "ok"


@pytest.mark.parametrize("case", BREAKS)
def test_it_is_named(case: str, ready: Terminal, folder: Path) -> None:
    """It alone fails. Red for each when its check returns OK."""
    break_it, name, words = BREAKS[case]
    break_it(folder)
    rows = found(ready)
    assert words in f"{rows[name]['found']} {rows[name]['fix']}"
    assert [check for check, row in rows.items() if row["state"] == "failed"] == [name]


def test_data_sources_and_hosts(ready: Terminal, folder: Path) -> None:
    """A source that cannot be reached fails, another one does not; a host without an address is a warning; no password
    is shown. Red when the password is not masked."""
    port = free_port()
    with closing(sqlite3.connect(folder / "good.db")) as file:
        file.execute("create table t (a)")
    ready("data-source", "create", "good", "--url", f"sqlite:///{folder}/good.db")
    ready("data-source", "create", "bad one", "--no-check", "--url", f"postgresql://u:{SECRET}@127.0.0.1:{port}/x")
    ready("environment", "set-embedding", "production", "https://localhost", "https://app.nowhere.invalid")
    rows = found(ready)
    assert rows["data source good in production"]["state"] == "ok"
    bad = rows["data source bad one in production"]
    assert (bad["state"], f"connection refused by 127.0.0.1:{port}" in bad["found"]) == ("failed", True)
    assert "tenantry data-source update 'bad one' --environment production" in bad["fix"]
    hosts = rows["embedding hosts of production"]
    assert (hosts["state"], "app.nowhere.invalid" in hosts["found"]) == ("warning", True)
    assert SECRET not in str(rows) + ready("doctor", fails=1).out


def test_buses(ready: Terminal, monkeypatch: pytest.MonkeyPatch, valkey: Valkey) -> None:
    """A server that answers, and a port where nothing listens. Red when a bus that is still connecting is OK, and when
    the reason is the name of an exception."""
    monkeypatch.setenv("TENANTRY_REDIS", valkey.url)
    rows = found(ready, fails=0)
    assert (rows["bus"]["state"], rows["clock"]["state"]) == ("ok", "ok")
    assert "Redis" in rows["clock"]["found"]
    port = free_port()
    monkeypatch.setenv("TENANTRY_REDIS", f"redis://u:{SECRET}@127.0.0.1:{port}")
    said = ready("doctor", fails=1)
    assert (
        f"connection refused by Redis 127.0.0.1:{port}: nothing listens on that port. Check TENANTRY_REDIS" in said.out
    )
    assert SECRET not in said.out + said.err


def test_postgresql(terminal: Terminal, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store in a server: a wrong port, a database that is read-only, and a clock that differs."""
    database = postgres.create_database()
    terminal("keys", "new")
    monkeypatch.setenv("TENANTRY_DATABASE", database)
    assert "`tenantry migrate`" in found(terminal)["migrations"]["found"]
    migrate(database)
    assert found(terminal, fails=0)["store"]["state"] == "ok"
    with monkeypatch.context() as patch:
        patch.setattr("tenantry.cli.doctor_servers.time.time", lambda: 0.0)
        clock = found(terminal)["clock"]
        assert "behind that of the PostgreSQL database" in clock["found"]
        assert "NTP" in clock["fix"]
    name = database.rpartition("/")[2].partition("?")[0]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f'alter database "{name}" set default_transaction_read_only = on')
    rows = found(terminal)
    assert (rows["store"]["state"], "is read-only" in rows["store"]["found"]) == ("failed", True)
    assert rows["store"]["fix"] == ""  # red when it is to check the address
    monkeypatch.setenv("TENANTRY_DATABASE", f"{database.partition('?')[0]}?sslmod=require")
    assert 'invalid URI query parameter: "sslmod". ' in terminal("doctor", fails=1).out  # red with a line feed
    monkeypatch.setenv("TENANTRY_DATABASE", f"postgresql://u:{SECRET}@127.0.0.1:{free_port()}/x")
    rows = found(terminal)
    assert "connection refused by 127.0.0.1" in rows["store"]["found"]
    assert rows["data sources"]["state"] == "skipped"
    assert SECRET not in str(rows)


def test_migrate_check(terminal: Terminal, folder: Path) -> None:
    """Ends with 1 while a migration is needed, and changes nothing; then with 0. A store that cannot be used ends with
    3. Red when a missing file counts as unavailable, and when the file is made."""
    said = terminal("migrate", "--check", fails=1)
    assert "[migration_needed]" in said.err
    assert not (folder / "tenantry.db").exists()
    terminal("migrate")
    assert terminal("migrate", "--check").out == ""
    _other_tables(folder)
    assert "revision 0003" in terminal("migrate", "--check", fails=1).err
    _no_database(folder)
    terminal("migrate", "--check", fails=3)


def test_what_it_reads_it_does_not_change(ready: Terminal, folder: Path) -> None:
    """No entry of the audit trail, no group. Red when a check writes through the store."""

    async def entries() -> int:
        store = SQLStore(f"sqlite:///{folder}/tenantry.db")
        try:
            return len(await store.audit.list())
        finally:
            await store.aclose()

    before = asyncio.run(entries())
    ready("doctor")
    assert asyncio.run(entries()) == before
