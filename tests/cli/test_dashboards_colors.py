"""``tenantry dashboards check --groups``: names in ``colors`` that no row has."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from tests.cli.conftest import Terminal
from tests.dashboards.served import write_files

DEALS = """title: Deals
colors: {Won: good, Lsot: bad, "7": 1, count: 2}
rows:
  - {donut: count, by: status, query: deals}
  - {bar: count, by: owner, color: status, query: deals, colors: {Won: 1, Wonn: 2}}
  - {bar: count, by: status, query: deals, colors: {count: accent, cuont: bad}}
  - {bar: count, by: status, color: grade, query: deals}
"""
PER_CONTROL = """title: Deals
controls: {status: {text: , required: true}}
colors: {Lsot: bad}
rows: [{donut: count, by: status, query: chosen}]
"""
FREE = """title: Free
colors: {Lsot: bad}
rows:
  - {donut: count, by: status, query: deals, colors: {Losst: bad}}
  - {vega: {mark: bar}, query: deals, columns: [status]}
  - {line: [count, grade], by: owner, color: status, query: deals, colors: {"Won, Count": bad}}
"""

VEGA = """title: Vega
colors: {Won: good, Lsot: bad}
rows:
  - vega:
      mark: bar
      encoding: {x: {field: status, type: nominal}, color: {field: status, type: nominal}}
    query: deals
    columns: [status]
  - vega: {mark: bar, encoding: {color: {field: count, type: quantitative}}}
    query: deals
    columns: [count]
"""


def test_a_check_notes_names_that_no_row_has(ready: Terminal, folder: Path) -> None:
    """At their places, of the panels and of the dashboard; none where a name may be elsewhere. Red when no rows were
    read: a mistyped name had no colour, and nobody said so."""
    queries = {
        "queries/deals.sql": "select owner, status, grade, count(*) as count from deals group by 1, 2, 3",
        "queries/chosen.sql": "select status, 1 as count from deals where status = {{ params.status }}",
    }
    pages = {"deals": DEALS, "chosen": PER_CONTROL, "free": FREE, "vega": VEGA}
    write_files(folder, {**{f"dashboards/{name}.yaml": text for name, text in pages.items()}, **queries})
    database = sqlite3.connect(folder / "deals.db")
    database.execute("create table deals (owner text, status text, grade integer)")
    database.executemany("insert into deals values ('c4n4ry', ?, 7)", [("Won",), ("Lost",), (None,)])
    database.commit()
    database.close()
    ready("data-source", "create", "warehouse", "--url", f"sqlite:///{folder / 'deals.db'}")
    ready("group", "create", "acme", "--map", "main=warehouse")
    checked = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    found = [each for each in checked["findings"] if each["code"] == "unused-color"]
    assert [(each["file"], each["line"], each["column"]) for each in found] == [
        ("dashboards/deals.yaml", 2, 21),
        ("dashboards/deals.yaml", 5, 75),
        ("dashboards/deals.yaml", 6, 68),
        ("dashboards/free.yaml", 4, 55),
        ("dashboards/vega.yaml", 2, 21),
    ]
    assert found[0]["severity"] == "note"
    assert found[0]["message"] == "the colour of Lsot is not used, because no row that was read has this name"
    assert "c4n4ry" not in json.dumps(checked)
