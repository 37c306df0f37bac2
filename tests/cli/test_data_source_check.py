"""``tenantry data-source``: a source is asked before it is trusted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engines.postgres import Postgres
from tests.cli.conftest import Terminal
from tests.datasources.conftest import sqlite_file


def test_a_source_that_does_not_answer_is_not_registered(ready: Terminal, folder: Path) -> None:
    """Unless that is asked for. Red when ``create`` looked at the text of the URL alone."""
    words = ("data-source", "create", "warehouse", "--url", "sqlite:///none.db")
    refused = ready(*words, fails=1)
    assert refused.out == ""
    assert "the file of data source warehouse does not exist. Nothing was registered: fix this, or" in refused.err
    assert "--no-check" in refused.err
    assert refused.err.endswith("[source_unavailable]\n")
    assert ready("data-source", "list", "--json").json() == []
    assert not (folder / "none.db").exists()
    assert ready(*words, "--no-check").out.startswith("ds_")


def test_a_source_on_a_server_is_asked(ready: Terminal, postgres: Postgres) -> None:
    """With the login of its URL; the password is in no message."""
    good = postgres.create_database()
    assert ready("data-source", "create", "good", "--url", good).out.startswith("ds_")
    away = "postgresql://u:hunter2hunter2@127.0.0.1:1/d"
    refused = ready("data-source", "create", "away", "--url", away, fails=1)
    assert "data source away cannot be reached" in refused.err
    assert "hunter2" not in refused.err


def test_a_missing_driver_is_told_at_registration(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it. Red when it came as a warning after the id."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    refused = ready("data-source", "create", "lake", "--url", "duckdb:///lake.duckdb", fails=1)
    assert "the driver duckdb is not installed: pip install 'tenantry[duckdb]'. Nothing was registered" in refused.err


def test_a_registered_source_is_tested(ready: Terminal, folder: Path) -> None:
    """By either of its ids. It fails from the moment that the file is away."""
    url = sqlite_file(folder / "a.db", "acme")
    made = ready("data-source", "create", "warehouse", "--url", url).out.strip()
    for name in (made, "warehouse"):
        tested = ready("data-source", "test", name, "--json").json()
        assert (tested["id"], tested["health"]) == (made, "ok")
        assert tested["milliseconds"] >= 0
    (folder / "a.db").unlink()
    # Red when each says ``ds_…``, which its operator did not choose.
    assert "the file of data source warehouse does not exist" in ready("data-source", "test", made, fails=1).err
    assert ready("data-source", "list", "--json").json()[0]["health"].startswith("the file of data source warehouse ")
    assert "the file of data source warehouse does" in ready("doctor", fails=1).out
    assert "[data_source_not_found]" in ready("data-source", "test", "nobody", fails=1).err


def test_the_list_shows_the_health_of_each(ready: Terminal, folder: Path) -> None:
    """And none where nobody is to be asked. Red when the first that failed ended the command."""
    ready("data-source", "create", "a", "--no-check", "--url", "sqlite:///none.db")
    ready("data-source", "create", "b", "--url", sqlite_file(folder / "b.db", "acme"))
    rows = ready("data-source", "list", "--json").json()
    assert [row["health"] for row in rows] == ["the file of data source a does not exist", "ok"]
    assert "health" not in ready("data-source", "list", "--no-check", "--json").json()[0]
