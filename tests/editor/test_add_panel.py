"""One more panel in the text of a dashboard."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

import pytest

from tenantry.dashboards.definition import read_dashboard
from tenantry.errors import TemplateError
from tests.editor.served import EditorSite, served_editor

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "../shared/corpus/dashboards"
LINE = "{line: flights, by: day, query: by_day}"
HEAD = "title: T\n"


async def _added(site: EditorSite, text: str, **body: Any) -> str:
    asked = {"kind": "line", "column": "flights", "by": "day", "query": "by_day", **body}
    return str((await site.ask("add-panel", dashboard="dashboards/my_flights.yaml", text=text, **asked))["text"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows:\n  - {figure: a, query: q}\n", f"rows:\n  - {{figure: a, query: q}}\n  - {LINE}\n"),
        ("rows:\n- {figure: a, query: q}", f"rows:\n- {{figure: a, query: q}}\n- {LINE}\n"),
        (
            "rows:\n    - figure: a # one\n      query: q # two\n\n# end\nschema: main\n",
            f"rows:\n    - figure: a # one\n      query: q # two\n    - {LINE}\n\n# end\nschema: main\n",
        ),
        (
            "rows:\n  - {figure: a, query: q}\n\n  - {figure: b, query: q}\n  # - {figure: c}",
            f"rows:\n  - {{figure: a, query: q}}\n\n  - {{figure: b, query: q}}\n  # - {{figure: c}}\n\n  - {LINE}\n",
        ),
        (
            "rows:\n  - figure: a\n    query: {sql: s}\n    title: |\n      x\n      #\n\nschema: m\n",
            f"rows:\n  - figure: a\n    query: {{sql: s}}\n    title: |\n      x\n      #\n\n  - {LINE}\nschema: m\n",
        ),
        ("rows: [{figure: a, query: q}]\n", f"rows: [{{figure: a, query: q}}, {LINE}]\n"),
        ("rows: [{figure: a, query: q}, ]\n", f"rows: [{{figure: a, query: q}}, {LINE} ]\n"),
        (
            "rows: [\n  {figure: a, query: q}, # x, y\n  ]\n",
            f"rows: [\n  {{figure: a, query: q}},\n  {LINE} # x, y\n  ]\n",
        ),
        ("rows: []\n", f"rows: [{LINE}]\n"),
        ("rows:\n", f"rows:\n  - {LINE}\n"),
        ("rows: # panels\n", f"rows: # panels\n  - {LINE}\n"),
        ("# no rows\n", f"rows:\n  - {LINE}\n# no rows\n"),
    ],
)
async def test_nothing_but_a_row_is_added(tmp_path: Path, old: str, new: str) -> None:
    """Red when the file is written anew from its values, or a comment of a row is taken for the end of the rows."""
    async with served_editor(tmp_path) as site:
        assert await _added(site, HEAD + old) == HEAD + new


async def test_an_empty_file_becomes_a_dashboard(tmp_path: Path) -> None:
    """Red when a text without a mapping is refused."""
    async with served_editor(tmp_path) as site:
        for text in ("", "# mine\n"):
            assert await _added(site, text) == f'{text}title: "My flights"\nrows:\n  - {LINE}\n'


@pytest.mark.parametrize(
    ("body", "panel"),
    [
        ({"kind": "figure"}, "{figure: flights, query: by_day}"),
        ({"kind": "bars"}, "{bar: flights, by: day, query: by_day}"),
        ({"kind": "table"}, "{table: by_day}"),
        ({"kind": "table", "columns": ["day", "flights"]}, "{table: by_day, columns: [day, flights]}"),
        ({"query": "queries/sales/by_day.sql"}, "{line: flights, by: day, query: sales/by_day}"),
        ({"column": "count(*)", "by": "on"}, '{line: "count(*)", by: "on", query: by_day}'),
        ({"column": "a: {b}", "by": 'ü "q" #x'}, '{line: "a: {b}", by: "ü \\"q\\" #x", query: by_day}'),
        ({"column": "1", "by": "-"}, '{line: "1", by: "-", query: by_day}'),
    ],
)
async def test_each_kind_of_panel(tmp_path: Path, body: dict[str, Any], panel: str) -> None:
    """Red when a column's name is written without quotes that it needs."""
    async with served_editor(tmp_path) as site:
        text = await _added(site, HEAD, **body)
        assert text == f"{HEAD}rows:\n  - {panel}\n"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"column": None}, "/column"),
        ({"by": None}, "/by"),
        ({"kind": "pie"}, "/kind"),
        ({"query": "../x"}, "/query"),
        ({"dashboard": "queries/by_day.sql"}, "/dashboard"),
        ({"text": "title: [\n"}, "/text"),
        ({"text": "title: T\nrows: &a [*a]\n"}, "/text"),
        ({"text": "title: T\nrows: 1\n"}, "/text"),
        ({"text": "title: T\ntitel: U\n"}, "/text"),
        ({"text": "[" * 100_000}, "/text"),
    ],
)
async def test_a_mistake_names_its_field(tmp_path: Path, body: dict[str, Any], field: str) -> None:
    """Red when the new text is not read as a dashboard before it is returned."""
    asked = {"kind": "line", "column": "flights", "by": "day", "query": "by_day", "text": HEAD}
    async with served_editor(tmp_path) as site:
        answer = await site.post("add-panel", **{"dashboard": "dashboards/flights.yaml", **asked, **body})
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, field), answer.text


def _is_valid(text: str) -> bool:
    try:
        read_dashboard(text, "d")
    except TemplateError:
        return False
    return True


async def test_real_dashboards_keep_all_their_lines(tmp_path: Path) -> None:
    """Red when a dashboard of the corpus, the demo or the examples loses or changes a line."""
    if not CORPUS.is_dir():
        assert os.environ.get("CI") != "true"
        pytest.skip("the corpus is not on this machine")
    folders = [CORPUS, ROOT / "src/tenantry/demo/dashboards", ROOT / "examples/dashboards/dashboards"]
    files = [file for folder in folders for file in sorted(folder.glob("*.yaml")) if _is_valid(file.read_text())]
    assert len(files) > 10
    async with served_editor(tmp_path) as site:
        for file in files:
            old = file.read_text()
            new = await _added(site, old)
            assert len(read_dashboard(new, "d").rows) == len(read_dashboard(old, "d").rows) + 1
            changes = [line for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[0] in "+-"]
            assert len(changes) == 1, (file, changes)
            assert LINE in changes[0]
