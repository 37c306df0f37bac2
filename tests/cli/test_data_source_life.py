"""A data source moves, gets another password, is counted and is deleted."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal

SERVER = "mysql://reader:s3cret-1@db.example.com/shop"


@pytest.fixture
def shop(ready: Terminal, folder: Path) -> Terminal:
    """The data source ``shop`` with guarded tables, a file with the same tables, and one without."""
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.execute("create table orders (id integer primary key, customer_id text)")
    shutil.copy(folder / "shop.db", folder / "moved.db")
    sqlite3.connect(folder / "empty.db").close()
    (folder / "tables.yaml").write_text("tables: {orders: customer_id}")
    ready("data-source", "create", "shop", "--url", "sqlite:///shop.db", "--tables", "tables.yaml")
    return ready


def url_of(shop: Terminal, name: str) -> str:
    (row,) = [each for each in shop("data-source", "list", "--no-check", "--json").json() if each["name"] == name]
    return str(row["url"])


def test_a_source_moves_after_a_test_of_the_new_address(shop: Terminal) -> None:
    """The declaration stays and is proved there. Red when ``update`` tests the address that it replaces."""
    refused = shop("data-source", "update", "shop", "--url", "sqlite:///empty.db", fails=1)
    assert "orders" in refused.err
    assert "Nothing was changed" in refused.err
    assert url_of(shop, "shop").endswith("/shop.db")
    shop("data-source", "update", "shop", "--url", "sqlite:///moved.db")
    assert url_of(shop, "shop").endswith("/moved.db")
    assert "orders: customer_id" in shop("data-source", "show", "shop").out


def test_a_password_is_replaced(shop: Terminal) -> None:
    """The rest of the URL stays, and neither password is shown."""
    shop("data-source", "create", "server", "--url", SERVER, "--no-check")
    for words, given in ((("--password", "s3cret-2"), ""), (("--password", "-"), "s3cret-3\n")):
        changed = shop("data-source", "update", "server", *words, "--no-check", given=given)
        assert "s3cret" not in changed.out + changed.err
    assert url_of(shop, "server") == "mysql://reader:***@db.example.com/shop"
    refused = shop("data-source", "update", "shop", "--password", "s3cret-2", fails=1)
    assert "takes no password" in refused.err
    assert "s3cret" not in shop("audit").out


def test_a_source_with_groups_is_deleted_after_a_question(shop: Terminal) -> None:
    """Red when 10,000 groups lost their dashboards without a question."""
    for name in ("acme", "bolt"):
        shop("group", "create", name, "--map", "main=shop")
    (row,) = shop("data-source", "list", "--json").json()
    assert row["groups"] == 2
    asked = shop("data-source", "delete", "shop", given="n\n", fails=1)
    assert "2 user groups map to data source 'shop': their queries fail when it is deleted. Delete it?" in asked.err
    shop("data-source", "delete", "shop", "--yes")
    assert shop("data-source", "list", "--json").json() == []
    shop("data-source", "create", "shop", "--url", "sqlite:///shop.db")
    (row,) = shop("data-source", "list", "--json").json()
    assert row["groups"] == 2, "groups map to the name"


def test_a_source_gets_another_name(shop: Terminal) -> None:
    """Groups that map to its id keep their rows; while a group maps to the old name, the command refuses. Red without
    that count: the dashboards of such a group stopped."""
    shop("data-source", "create", "other", "--url", "sqlite:///moved.db")
    shop("group", "create", "acme", "--map", "main=shop")
    refused = shop("data-source", "update", "shop", "--rename", "sales", fails=1).err
    assert "1 user group maps to the old name 'shop': change its mapping to the id 'ds_" in refused
    (row,) = [each for each in shop("data-source", "list", "--json").json() if each["name"] == "shop"]
    shop("group", "update", "acme", "--map", f"main={row['id']}")
    assert "[already_exists]" in shop("data-source", "update", "shop", "--rename", "other", fails=1).err
    assert "must not start with ds_" in shop("data-source", "update", "shop", "--rename", "ds_1", fails=1).err
    assert shop("data-source", "update", "shop", "--rename", "sales").out.strip() == row["id"]
    assert "orders: customer_id" in shop("data-source", "show", "sales").out
    assert "[data_source_not_found]" in shop("data-source", "show", "shop", fails=1).err
    (renamed,) = [each for each in shop("data-source", "list", "--json").json() if each["name"] == "sales"]
    assert (renamed["id"], renamed["groups"]) == (row["id"], 1)


def test_session_variables_are_replaced(shop: Terminal) -> None:
    """All at once. A source on another engine has none. Red when only ``create`` took them."""

    def session() -> object:
        return shop("data-source", "show", "server", "--json").json()["session"]

    tag = "{{ user_group.id }}"
    shop("data-source", "create", "server", "--url", "postgresql://reader@db.example.com/shop", "--no-check")
    words = ("data-source", "update", "server", "--no-check")
    shop(*words, "--session", f"app.tenant={tag}", "--session", "app.plan={{ user_group.properties.plan }}")
    assert session() == {"app.tenant": tag, "app.plan": "{{ user_group.properties.plan }}"}
    shop(*words, "--session", f"app.customer={tag}")
    assert session() == {"app.customer": tag}
    assert "PostgreSQL" in shop(*words, "--url", SERVER, fails=1).err
    assert "not both" in shop(*words, "--session", f"app.tenant={tag}", "--no-session", fails=2).err
    shop(*words, "--no-session")
    assert session() == {}
    assert "need PostgreSQL" in shop("data-source", "update", "shop", "--session", f"app.a={tag}", fails=1).err
    assert "say what to change" in shop(*words, fails=2).err
