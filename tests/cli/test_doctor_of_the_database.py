"""What an administrator changed in the database of the store, and ``tenantry doctor`` finds."""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from textwrap import dedent

import psycopg
import pytest

from engines.postgres import Postgres
from tenantry.database.migrations import migrate
from tests.cli.conftest import Terminal
from tests.cli.test_doctor import found

GUIDE = Path(__file__).parents[2] / "docs" / "operating.md"


def shown(name: str) -> str:
    """A script of the guide, by its title."""
    pattern = rf'^( *)```sql title="{re.escape(name)}"\n(.*?)^ *```$'
    block = re.search(pattern, GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None, name
    return dedent(block[2])


def run_on_sqlite(script: str) -> None:
    with closing(sqlite3.connect("tenantry.db")) as file:
        file.executescript(script)


def keep_a_year(ready: Terminal, run: Callable[[str], None], kind: str) -> None:
    for number in range(3):
        ready("group", "create", f"g{number}")
    head = ready("audit", "head").out.strip()
    ready("group", "create", "later")
    run(shown(f"keep-a-year.{kind}.sql").replace("4711", head.partition("-")[0]))
    assert len(ready("audit", "--json").json()) == 1
    ready("audit", "verify", "--from", head)
    assert found(ready, fails=0)["audit trail"]["state"] == "ok"
    with pytest.raises((psycopg.Error, sqlite3.Error), match="append-only"):
        run("delete from audit")


def test_a_year_of_the_audit_trail_is_kept(ready: Terminal) -> None:
    """As the guide says, on SQLite. Red when its script leaves out the trigger, and when doctor looks at none."""
    keep_a_year(ready, run_on_sqlite, "sqlite")
    for name in ("deleted", "updated", "replaced"):
        run_on_sqlite(f"drop trigger audit_is_not_{name}")
        trail = found(ready, fails=0)["audit trail"]
        assert (trail["state"], f"audit_is_not_{name}" in trail["found"]) == ("warning", True)
    run_on_sqlite(shown("triggers.sqlite.sql"))
    assert found(ready, fails=0)["audit trail"]["state"] == "ok"


@pytest.fixture
def database(terminal: Terminal, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    database = postgres.create_database()
    monkeypatch.setenv("TENANTRY_DATABASE", database)
    migrate(database)
    terminal("keys", "new")
    terminal("environment", "create", "production", "--tag", "Customer")
    return database


def test_a_year_is_kept_on_postgresql(terminal: Terminal, postgres: Postgres, database: str) -> None:
    """Red as above, and when a trigger that is switched off counts."""

    def run(script: str) -> None:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(script.encode())

    keep_a_year(terminal, run, "postgresql")
    for change in ("alter table audit disable trigger all", "drop trigger audit_is_append_only on audit"):
        run(change)
        assert found(terminal, fails=0)["audit trail"]["state"] == "warning"
    run(shown("triggers.postgresql.sql"))
    assert found(terminal, fails=0)["audit trail"]["state"] == "ok"


def test_missing_rights(terminal: Terminal, postgres: Postgres, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statements of the fix are enough. Red when only a write of the generation is tried: doctor was content, and
    each new group failed. A role that may not write groups at all is that of an app."""
    role = f"Serve{secrets.token_hex(4)}"
    grants = f'''
        create role "{role}" login;
        grant select, insert, update, delete on all tables in schema public to "{role}";
        grant usage on all sequences in schema public to "{role}"'''
    postgres.execute(grants, url=database)
    monkeypatch.setenv("TENANTRY_DATABASE", database.replace("postgres@", f"{role}@", 1))
    assert found(terminal, fails=0)["store"]["state"] == "ok"
    postgres.execute(f'revoke insert on user_groups, api_tokens from "{role}"', url=database)
    store = found(terminal)["store"]
    wanted = [f'grant insert on {table} to "{role}"' for table in ("api_tokens", "user_groups")]
    assert (store["state"], store["fix"]) == ("failed", f"Run as the owner of the tables: {'; '.join(wanted)}")
    postgres.execute("; ".join(wanted), url=database)
    assert found(terminal, fails=0)["store"]["state"] == "ok"
    postgres.execute(f'revoke usage on all sequences in schema public from "{role}"', url=database)
    fix = found(terminal)["store"]["fix"].partition(": ")[2]
    assert "usage on sequence" in fix
    postgres.execute(fix, url=database)
    terminal("group", "create", "acme")
    everything = "delete, insert, update on audit, user_groups, environments, api_tokens, data_sources"
    postgres.execute(f'revoke {everything} from "{role}"', url=database)
    assert found(terminal, fails=0)["store"]["state"] == "ok"
