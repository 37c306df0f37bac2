"""Guarded tables of a data source on the command line: declare, replace, remove, show and draft."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engines.warm_python import run
from tests.cli.conftest import Terminal

TABLES = """\
# of the shop
tables:
  orders: customer_id
  order_items: {order_id: orders.id}
  countries: shared
functions: [soundex]
"""
SHOWN = """\
tables:
  countries: shared
  order_items: {order_id: orders.id}
  orders: customer_id
functions: [soundex]
"""


@pytest.fixture
def shop(ready: Terminal, folder: Path) -> Terminal:
    """A SQLite file ``shop.db``, and ``tables.yaml`` for it."""
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.execute("create table orders (id integer primary key, customer_id text)")
        connection.execute("create table order_items (order_id integer references orders, label text)")
        connection.execute("create table countries (code text)")
    (folder / "tables.yaml").write_text(TABLES)
    return ready


def create(shop: Terminal, *words: str, fails: int = 0) -> str:
    made = shop("data-source", "create", "shop", "--url", "sqlite:///shop.db", *words, fails=fails)
    return made.err if fails else made.out


def test_a_source_is_created_with_its_guarded_tables(shop: Terminal) -> None:
    """``show`` prints them as YAML that ``update`` takes, ``list`` says that there are some."""
    create(shop, "--tables", "tables.yaml")
    assert shop("data-source", "show", "shop").out.endswith(f"guarded: true\n{SHOWN}")
    (row,) = shop("data-source", "list", "--json").json()
    assert row["guarded"] is True
    shown = shop("data-source", "show", "shop", "--json").json()
    assert shown["declaration"]["tables"]["order_items"] == {"order_id": "orders.id"}
    assert "guarded: false\n" in shop("data-source", "show", register(shop, "plain")).out


def register(shop: Terminal, name: str) -> str:
    return shop("data-source", "create", name, "--url", "sqlite:///shop.db").out.strip()


def test_guarded_tables_are_replaced_and_removed(shop: Terminal, folder: Path) -> None:
    """The audit trail names what changed."""
    made = create(shop)
    assert shop("data-source", "update", "shop", "--tables", "tables.yaml").out == made
    (folder / "tables.yaml").write_text(TABLES.replace("customer_id", "id"))
    shop("data-source", "update", "shop", "--tables", "tables.yaml")
    assert "  orders: id\n" in shop("data-source", "show", "shop").out
    shop("data-source", "update", "shop", "--no-tables")
    assert shop("data-source", "show", "shop").out.endswith("guarded: false\n")
    trail = [each["details"] for each in updates(shop)]
    names = "functions.soundex, tables.countries, tables.order_items, tables.orders"
    assert sorted(trail, key=lambda each: list(each)) == [
        {"provided_id": "shop", "fields": "tables", "added": names},
        {"provided_id": "shop", "fields": "tables", "changed": "tables.orders"},
        {"provided_id": "shop", "fields": "tables", "removed": names},
    ]


def test_an_update_says_what_it_changes(shop: Terminal) -> None:
    create(shop)
    assert "say what to change: --url, " in shop("data-source", "update", "shop", fails=2).err
    both = ("--tables", "tables.yaml", "--no-tables")
    assert "--tables FILE or --no-tables" in shop("data-source", "update", "shop", *both, fails=2).err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("tables:\n  orders: [customer_id]\n", "bad.yaml:2:"),
        ('tables:\n  orders: "{{ params.x }} = owner"\n', "bad.yaml:2:"),
        ("tabels:\n  orders: customer_id\n", "bad.yaml:1:1: "),
        ("tables: {}\n", "bad.yaml: `tables` lists no tables"),
        ("guard: required\n", "bad.yaml: `tables` lists no tables"),
        ("tables: {a: shared, a: id}\n", "bad.yaml:1:"),
    ],
)
def test_a_bad_file_is_refused_at_its_place(shop: Terminal, folder: Path, text: str, place: str) -> None:
    """Before anything is stored, by ``create`` and by ``update``."""
    (folder / "bad.yaml").write_text(text)
    refused = create(shop, "--tables", "bad.yaml", fails=1)
    assert place in refused
    assert "fix: " in refused
    assert shop("data-source", "list", "--json").json() == []
    create(shop, "--tables", "tables.yaml")
    assert place in shop("data-source", "update", "shop", "--tables", "bad.yaml", fails=1).err
    assert shop("data-source", "show", "shop").out.endswith(SHOWN)


def test_a_required_guard_cannot_be_removed(shop: Terminal, folder: Path) -> None:
    """Only another list replaces it. What is lost is said. Red when ``--no-tables`` does not look at the stored list,
    and without the warnings."""
    (folder / "tables.yaml").write_text(f"guard: required\n{TABLES}")
    create(shop, "--tables", "tables.yaml")
    assert "guard: required" in shop("data-source", "update", "shop", "--no-tables", fails=1).err
    assert shop("data-source", "show", "shop").out.endswith(f"guard: required\n{SHOWN}")
    (folder / "tables.yaml").write_text(TABLES)
    replaced = shop("data-source", "update", "shop", "--tables", "tables.yaml")
    assert "Warning: the old declaration had `guard: required`. The new one does not" in replaced.err
    removed = shop("data-source", "update", "shop", "--no-tables")
    assert "Warning: queries of shop may now read all rows" in removed.err
    for words in (("--no-tables",), ("--tables", "tables.yaml")):
        assert "Warning" not in shop("data-source", "update", "shop", *words).err


@pytest.mark.parametrize("text", ["tables: {orders: custmer_id}", "tables: {ordres: customer_id}"])
def test_a_list_is_tested_on_the_source(shop: Terminal, folder: Path, text: str) -> None:
    """A wrong name is found before anything is stored. Red when ``check_connection`` asks only for an answer."""
    (folder / "wrong.yaml").write_text(text)
    refused = create(shop, "--tables", "wrong.yaml", fails=1)
    assert "Nothing was registered" in refused
    create(shop, "--tables", "tables.yaml")
    refused = shop("data-source", "update", "shop", "--tables", "wrong.yaml", fails=1).err
    assert "the guarded tables of data source shop (ds_" in refused
    assert "Nothing was changed: correct wrong.yaml, or" in refused
    assert "No query runs" not in refused
    assert shop("data-source", "show", "shop").out.endswith(SHOWN)
    shop("data-source", "update", "shop", "--tables", "wrong.yaml", "--no-check")


def test_a_new_url_is_tested_with_the_stored_list(shop: Terminal, folder: Path) -> None:
    """Its database may lack a table. Red when the message takes the absent option for a file ("correct None")."""
    create(shop, "--tables", "tables.yaml")
    sqlite3.connect(folder / "empty.db").close()
    refused = shop("data-source", "update", "shop", "--url", "sqlite:///empty.db", fails=1).err
    assert "Nothing was changed: correct the stored declaration, with --tables, or use --no-check" in refused


def test_a_sync_file_declares_guarded_tables(shop: Terminal, folder: Path) -> None:
    """The declaration is part of the file of groups, is tested on the source before anything is written, and the same
    file again changes nothing. Red when the dry run writes, or when ``group sync`` writes without the test."""
    create(shop)
    file = folder / "groups.yaml"
    written = "groups: {acme: {}}\ndata_sources:\n  shop: {tables: {orders: OWNER, countries: shared}}\n"

    def sync(owner: str, *words: str, fails: int = 0) -> str:
        file.write_text(written.replace("OWNER", owner))
        done = shop("group", "sync", "groups.yaml", *words, fails=fails)
        return done.err if fails else done.out

    first = '~ data source shop  tables.orders: "id", new; tables.countries: "shared", new\n+ acme\n'
    assert sync("id", "--dry-run") == first
    assert "guarded: false\n" in shop("data-source", "show", "shop").out
    assert sync("id") == first
    assert shop("data-source", "show", "shop").out.endswith(
        "guarded: true\ntables:\n  countries: shared\n  orders: id\n"
    )
    assert sync("id") == ""
    refused = sync("custmer_id", fails=1)
    assert "Nothing was changed: correct groups.yaml:3, or use --no-check" in refused
    changed = {"tables.orders": {"from": "id", "to": "customer_id"}}
    document = json.loads(sync("customer_id", "--json"))
    assert document["data_sources"] == [{"id": "shop", "fields": changed}]
    assert [each["details"]["fields"] for each in updates(shop)] == ["tables", "tables"]
    assert "tables.orders" in sync("custmer_id", "--no-check")
    file.write_text("groups: {}\ndata_sources: {shpo: {tables: {orders: id}}}\n")
    unknown = shop("group", "sync", "groups.yaml", fails=1).err
    assert "groups.yaml:2: environment 'production' has no data source 'shpo': register it" in unknown


def test_a_sync_file_moves_a_source(shop: Terminal, folder: Path) -> None:
    """A changed address is tested first, and a password in the file is refused at its line. A password that another
    command set stays while the address is the same. Red when the file with the same address dropped the password."""
    create(shop)
    shutil.copy(folder / "shop.db", folder / "moved.db")
    sqlite3.connect(folder / "empty.db").close()
    file = folder / "groups.yaml"

    def sync(source: str, *words: str, fails: int = 0) -> str:
        file.write_text(f"groups: {{acme: {{}}}}\ndata_sources:\n  {source}\n")
        done = shop("group", "sync", "groups.yaml", *words, fails=fails)
        return done.err if fails else done.out

    assert sync("shop: {url: 'sqlite:///shop.db'}").splitlines() == ["+ acme"]
    assert "Nothing was changed" in sync("shop: {url: 'sqlite:///absent.db'}", fails=1)
    tried = shop("group", "sync", "groups.yaml", "--dry-run", "--no-check").err
    assert tried.endswith("1 unchanged, 1 data source to change\n"), "red when only groups are counted"
    (changed,) = sync("shop: {url: 'sqlite:///moved.db'}").splitlines()
    assert changed.startswith('~ data source shop  url: "sqlite:///')
    assert changed.endswith('/moved.db"')
    assert updates(shop)[-1]["details"]["fields"] == "url"

    url = "postgresql://reader@db.example.com/shop"
    tag = "{{ user_group.id }}"
    shop("data-source", "create", "server", "--url", url.replace("@", ":s3cret@"), "--no-check")
    assert sync(f"server: {{url: '{url}'}}") == ""
    assert ":***@" in shop("data-source", "show", "server").out
    refused = sync("server: {url: 'postgresql://reader:s3cret@db.example.com/shop'}", fails=1)
    assert "groups.yaml:3:17: url: this file must not contain a password" in refused
    refused += sync("server: {url: 'postgresql://reader:s3cret@db.example.com:port/shop'}", fails=1)
    assert "s3cret" not in refused
    assert "groups.yaml:3:21: session: " in sync("server: {session: {role: x}}", fails=1)
    assert "groups.yaml:3:17: url: this must be a string" in sync("server: {url: 5}", fails=1)
    assert "s3cret" not in sync("server: {url: ['mysql://a:s3cret@b/c']}", fails=1)
    assert "sale.example.com" in sync(
        f"server: {{url: '{url.replace('db.', 'sale.')}', session: {{app.tenant: '{tag}'}}}}", "--no-check"
    )
    shown = shop("data-source", "show", "server", "--json").json()
    assert (shown["url"], shown["session"]) == (url.replace("db.", "sale."), {"app.tenant": tag})
    assert sync("server: {session: }", "--no-check") == "~ data source server  session.app.tenant: removed\n"


def test_a_sync_without_the_test_asks_once(shop: Terminal, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whether a new address reads the store's own tables. Red when the write asks again, and when the warning names no
    source."""
    for name in ("one", "two"):
        shop("data-source", "create", name, "--url", "postgresql://reader@127.0.0.1:1/old", "--no-check")
    caplog.clear()
    lines = "".join(f"  {name}: {{url: 'postgresql://reader@127.0.0.1:1/new'}}\n" for name in ("one", "two"))
    (folder / "groups.yaml").write_text(f"groups: {{}}\ndata_sources:\n{lines}")
    shop("group", "sync", "groups.yaml", "--no-check")
    warned = [each.getMessage() for each in caplog.records if "can read Tenantry's own tables" in each.getMessage()]
    assert [each.partition("data source ")[2].partition(" can")[0] for each in warned] == ["'one'", "'two'"]
    (folder / "groups.yaml").write_text(
        f"groups: {{}}\ndata_sources: {{one: {{url: 'sqlite:///{folder}/tenantry.db'}}}}"
    )
    refused = shop("group", "sync", "groups.yaml", "--no-check", fails=1).err
    assert "this SQLite file is a store of Tenantry" in refused


def updates(shop: Terminal) -> list[dict[str, Any]]:
    return [each for each in shop("audit", "--json").json() if each["action"] == "data_source.updated"]


def test_a_wrong_list_is_printed_once(shop: Terminal, folder: Path) -> None:
    """Red when the log of the error went to stderr too. In a process of its own, which has no handler for logs."""
    (folder / "wrong.yaml").write_text("tables: {orders: custmer_id}")
    create(shop)
    command = [sys.executable, "-m", "tenantry", "data-source", "update", "shop", "--tables", "wrong.yaml"]
    done = run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("custmer_id") == 1


def test_render_reads_the_list_of_the_data_source(shop: Terminal, folder: Path) -> None:
    """Where no file is next to the query; a group of two lists is told to choose. Red when the SQL was printed without
    guards, as no data source runs it."""
    create(shop, "--tables", "tables.yaml")
    (folder / "tables.yaml").rename(folder / "other.yaml")
    (folder / "orders.sql").write_text("select id from orders")
    shop("group", "create", "acme", "--map", "main=shop")
    done = shop("sql", "render", "orders.sql", "--group", "acme", "--dialect", "sqlite")
    assert done.out.startswith("select id from (select * from orders where ? = orders.customer_id")
    assert done.err == "guarded by the tables that data source shop declares\n"
    register(shop, "plain")
    shop("group", "update", "acme", "--map", "archive=plain")
    done = shop("sql", "render", "orders.sql", "--group", "acme")
    assert done.out == "select id from orders\n"
    assert "no table is guarded here, because the data sources shop, plain declare different tables" in done.err


def test_a_draft_is_made_of_the_catalogue(shop: Terminal, folder: Path) -> None:
    """It can be registered as it is."""
    create(shop)
    drafted = shop("data-source", "tables", "shop").out
    assert "  orders: customer_id  # a guess: 1 of 3 tables" in drafted
    assert "  order_items: {order_id: orders.id}  # a guess: its foreign key" in drafted
    assert "  # countries:  # shared or guarded? columns: code\n" in drafted
    (folder / "draft.yaml").write_text(drafted)
    shop("data-source", "update", "shop", "--tables", "draft.yaml")
    assert "[data_source_not_found]" in shop("data-source", "tables", "absent", fails=1).err
