"""``tenantry dashboards``: a start that works, what a check finds, and a server for the author alone."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import jsonschema
import pytest
import yaml

from tests.cli.conftest import Terminal
from tests.dashboards.served import write_files

GOOD = {
    "dashboards/sales.yaml": """title: Sales of {{ company }}
controls: {region: {text: }}
rows: [{table: orders, title: "In {{ currency_name }}"}]
""",
    "queries/orders.sql": "select * from orders where owner = {{ owner }} [[ and region = {{ params.region }} ]]",
}


def test_a_new_dashboard_works_and_is_never_overwritten(terminal: Terminal, folder: Path) -> None:
    """It passes the check and the schema. Red when a second ``new`` writes over the first."""
    made = terminal("dashboards", "new", "orders")
    assert made.out.splitlines() == ["dashboards/orders.yaml", "queries/orders.sql"]
    checked = terminal("dashboards", "check", "dashboards")
    assert (checked.out, checked.err) == ("", "1 dashboard, 3 queries: nothing found\n")
    schema = json.loads(terminal("dashboards", "schema").out)
    jsonschema.validate(yaml.safe_load((folder / "dashboards/orders.yaml").read_text()), schema)
    (folder / "queries/orders.sql").write_text("select 1 as mine")
    again = terminal("dashboards", "new", "orders", fails=1)
    assert "dashboards/orders.yaml is there already" in again.err
    assert (folder / "queries/orders.sql").read_text() == "select 1 as mine"
    terminal("dashboards", "new", "../orders", fails=2)


def test_a_check_names_every_file_that_cannot_be_used(terminal: Terminal, folder: Path) -> None:
    """With line, column and fix, as text and as JSON. Red when the first file ends the check."""
    write_files(
        folder,
        {**GOOD, "dashboards/a.yaml": "title: 1\nrows: []", "dashboards/b.yaml": "title: b\nrows: [{table: ordres}]"},
    )
    checked = terminal("dashboards", "check", "dashboards", fails=1)
    lines = checked.out.splitlines()
    assert lines[0].startswith("dashboards/a.yaml:1:8: error template-error: this is a text")
    assert lines[2].startswith("dashboards/b.yaml:2:16: error template-error: there is no query ordres")
    assert "did you mean orders?" in lines[3]
    document = terminal("dashboards", "check", "dashboards", "--format", "json", fails=1).json()
    assert [(each["file"], each["line"]) for each in document["findings"]] == [
        ("dashboards/a.yaml", 1),
        ("dashboards/b.yaml", 2),
    ]


def test_a_check_looks_into_the_queries(terminal: Terminal, folder: Path) -> None:
    """A control that nothing reads is a warning, and a warning fails nothing; what a viewer can drop is a note."""
    idle = GOOD["dashboards/sales.yaml"].replace("{region: {text: }}", "{region: {text: }, idle: {text: }}")
    query = GOOD["queries/orders.sql"].replace(
        "{{ params.region }} ]]", "{{ params.region }} * {{ rate | not_a_filter }} ]]"
    )
    write_files(folder, GOOD | {"dashboards/sales.yaml": idle, "queries/orders.sql": query})
    found = [line.split(": ")[1] for line in terminal("dashboards", "check", "dashboards").out.splitlines()[::2]]
    assert found == ["warning unused-control", "note droppable"]


def test_a_check_compares_with_every_group(ready: Terminal, folder: Path) -> None:
    """Variables of titles and of queries, with how many groups lack each. Red when only queries are looked at."""
    write_files(folder, GOOD)
    for group, properties in {"a": ("company", "owner", "currency_name"), "b": ("company",), "c": ("owner",)}.items():
        options = [word for name in properties for word in ("--property", f"{name}=x")]
        ready("group", "create", group, *options)
    checked = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    assert checked["groups"] == 3
    found = {(each["file"], each["variable"]): (each["groups"], each["named"]) for each in checked["findings"]}
    assert found == {
        ("dashboards/sales.yaml", "company"): (1, ["c"]),
        ("dashboards/sales.yaml", "currency_name"): (2, ["b", "c"]),
        ("queries/orders.sql", "owner"): (1, ["b"]),
    }


# --- the server -------------------------------------------------------------------------------------------------------

SOON = 60.0


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """``tenantry dashboards serve dashboards``, and its address."""
    log = folder / "serve.log"
    command = [sys.executable, "-m", "tenantry", "dashboards", "serve", "dashboards", "--port", "0", *options]
    with log.open("w") as stderr:
        process = subprocess.Popen(command, cwd=folder, stderr=stderr, text=True)
    try:
        ends = time.monotonic() + SOON
        while not (found := re.search(r"http://[^/]+", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < ends
            time.sleep(0.05)
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(SOON)


def rows_of(url: str, name: str) -> list[list[list[object]]]:
    answer = httpx2.post(f"{url}/dashboards/{name}/-/panels", json={}, timeout=SOON)
    assert answer.status_code == 200, answer.text
    lines = [json.loads(line) for line in answer.text.splitlines()]
    return [line["rows"] for line in sorted(lines[:-1], key=lambda line: line["panel"])]


def test_a_folder_is_shown_without_any_store_and_follows_its_files(terminal: Terminal, folder: Path) -> None:
    """As a sample group. A change counts at once; a mistake is shown with its place, until it is corrected. Only its
    own name leads to it: red without the check of the host, when a page whose name leads to this machine gets rows."""
    terminal("dashboards", "new", "orders")
    with serving(folder) as url:
        assert rows_of(url, "orders")[2][0] == ["Vienna", 210, 14100.0]
        query = folder / "queries/orders.sql"
        query.write_text(query.read_text().replace("'Vienna' as city, 210", "'Wien' as city, 211"))
        assert rows_of(url, "orders")[2][0] == ["Wien", 211, 14100.0]
        file = folder / "dashboards/orders.yaml"
        text = file.read_text()
        file.write_text(text.replace("bar: orders", "baar: orders"))
        wrong = httpx2.post(f"{url}/dashboards/orders/-/panels", json={}, timeout=SOON)
        assert wrong.status_code == 500
        assert "orders.yaml:8:5" in wrong.json()["error"]["message"]
        file.write_text(text)
        assert len(rows_of(url, "orders")) == 4
        other = httpx2.post(
            f"{url}/dashboards/orders/-/panels", json={}, headers={"Host": "evil.example"}, timeout=SOON
        )
        assert other.status_code == 400
    assert not (folder / "tenantry.db").exists()


@pytest.mark.parametrize("stored", [False, True])
def test_a_folder_is_shown_as_a_group(ready: Terminal, folder: Path, stored: bool) -> None:
    """Of the store, or a sample with properties and a data source. Red when the group is another one."""
    write_files(folder, GOOD)
    database = sqlite3.connect(folder / "orders.db")
    database.execute("create table orders (id integer, owner text, region text)")
    database.execute("insert into orders values (1, 'me', 'eu'), (2, 'you', 'eu')")
    database.commit()
    database.close()
    source = f"sqlite:///{folder / 'orders.db'}"
    properties = [word for name in ("company", "currency_name") for word in ("--property", f"{name}=x")]
    properties += ["--property", "owner=me"]
    if stored:
        ready("data-source", "create", "warehouse", "--url", source)
        ready("group", "create", "acme", "--map", "main=warehouse", *properties)
    with serving(folder, *(["--group", "acme"] if stored else [*properties, "--source", source])) as url:
        assert rows_of(url, "sales") == [[[1, "me", "eu"]]]


def test_wrong_usage_of_the_server_ends_before_it_listens(ready: Terminal, folder: Path) -> None:
    """A group that is not there; options of the sample for a group of the store."""
    write_files(folder, GOOD)
    ready("dashboards", "serve", "dashboards", "--group", "a", "--source", "sqlite:///a.db", fails=2)
    ready("dashboards", "serve", "nothing", fails=2)
