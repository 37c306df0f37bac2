"""The contract of the saved queries from the command line: refused, reported, rehearsed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal


@pytest.fixture
def queries(ready: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one query and the schema of one environment, and a group that satisfies both."""
    made = folder / "queries"
    (made / "schemas").mkdir(parents=True)
    (made / "plans.sql").write_text("select count(*) from seats where plan = {{ plan }}")
    schema = {"properties": {"seats": {"type": "integer"}}}
    (made / "schemas" / "production.json").write_text(json.dumps(schema))
    ready("group", "create", "acme", "--property", "plan=gold")
    monkeypatch.setenv("TENANTRY_QUERIES", str(made))
    return made


def test_an_update_is_refused_where_the_setting_says_so(
    ready: Terminal, queries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off by default. Red when the command line does not know the contract that the server has."""
    wrong = ("group", "update", "acme", "--replace", "--property", "seats=3")
    monkeypatch.setenv("TENANTRY_QUERY_CONTRACT", "refuse")
    refused = ready(*wrong, fails=1)
    assert "1 saved query could not run: plans needs plan, which is missing [breaks_saved_query]" in refused.err
    assert "seats is of type string" in ready("group", "create", "new", "--property", "seats=x", fails=1).err
    monkeypatch.setenv("TENANTRY_QUERY_CONTRACT", "report")
    assert ready(*wrong).out
    ready("group", "update", "acme", "--property", "plan=gold")
    monkeypatch.delenv("TENANTRY_QUERY_CONTRACT")
    assert ready(*wrong).out


def test_a_dry_run_writes_nothing(ready: Terminal, queries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the folder of queries is known: whatever the setting is; 1 if something would break, else the group as it
    would be. Without the folder it is no error, unless the update would have it. Red when it writes."""
    tried = ("group", "update", "acme", "--property", "seats=x", "--dry-run", "--json")
    rehearsed = ready(*tried, "--replace", fails=1).json()
    assert [each["code"] for each in rehearsed["errors"]] == ["invalid_properties", "breaks_saved_query"]
    merged = ready(*tried, fails=1).json()
    assert [each["code"] for each in merged["errors"]] == ["invalid_properties"], "the plan stays"
    assert ready("group", "update", "acme", "--property", "plan=null", "--dry-run", "--json", fails=1).json()
    free = ("group", "update", "acme", "--property", "plan=free", "--dry-run", "--json")
    assert ready(*free).json()["properties"] == {"plan": "free"}
    assert ready("group", "get", "acme", "--json").json()["properties"] == {"plan": "gold"}
    monkeypatch.delenv("TENANTRY_QUERIES")
    cleared = ("group", "update", "acme", "--clear", "properties", "--dry-run")
    assert ready(*cleared, "--json").json()["properties"] is None
    assert "breaks_saved_query" in ready(*cleared, "--queries", str(queries), fails=1).out
    monkeypatch.setenv("TENANTRY_QUERY_CONTRACT", "report")
    assert "name it with --queries" in ready(*cleared, fails=1).err


def test_a_contract_that_cannot_be_read_is_refused(
    ready: Terminal, queries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is not there, a query that does not compile, a schema that is none. Red when one of them is passed
    over: whoever asked for the contract would not have it."""
    monkeypatch.setenv("TENANTRY_QUERY_CONTRACT", "refuse")
    update = ("group", "update", "acme", "--property", "plan=free")
    monkeypatch.setenv("TENANTRY_QUERIES", "nowhere")
    assert "[invalid_settings]" in ready(*update, fails=1).err
    monkeypatch.delenv("TENANTRY_QUERIES")
    assert "name it with --queries" in ready(*update, fails=1).err
    monkeypatch.setenv("TENANTRY_QUERIES", str(queries))
    schema = queries / "schemas" / "production.json"
    for document, problem in (
        ("{", "is not JSON"),
        ('{"description": "\\ud800"}', "surrogates not allowed"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"oneOf": []}', "is not a supported keyword"),
    ):
        schema.write_text(document)
        refused = ready(*update, fails=1).err
        assert problem in refused
        assert "production.json" in refused
    schema.write_text("{}")
    (queries / "bad.sql").write_text("select {{")
    assert "bad" in ready(*update, fails=1).err
    (queries / "bad.sql").unlink()
    assert ready(*update).out


def test_a_learned_schema_can_be_declared(ready: Terminal, folder: Path) -> None:
    """What it prints is the schema that every group satisfies, and names no value. Red when it prints prose, too."""
    ready("group", "create", "acme", "--property", "plan=gold", "--property", "seats=3")
    ready("group", "create", "globex", "--property", "seats=4")
    learned = ready("environment", "learn-schema", "production").json()
    assert learned["properties"] == {"plan": {"type": "string"}, "seats": {"type": "integer"}}
    assert learned["required"] == ["seats"]
    assert "gold" not in json.dumps(learned)
    assert "nowhere" in ready("environment", "learn-schema", "nowhere", fails=1).err
