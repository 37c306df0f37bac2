"""Formatting changes only white space."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from tenantry.editor.files.formatting import format_query
from tenantry.errors import TemplateError
from tenantry.sql import DIALECTS
from tenantry.sql.inspect import LexemeKind, Source, dialect_named, lex
from tests.editor.served import served_editor

ROOT = Path(__file__).parents[2]
WILD = ROOT / "../shared/corpus/wild_queries/queries.jsonl"
POSTGRESQL = dialect_named("postgresql")


def _formatted(text: str, dialect: str = "postgresql") -> str:
    found = format_query(text, dialect_named(dialect))
    assert found is not None
    return found


def _without_includes(text: str) -> str:
    return re.sub(r"\{\{\s*>[^{}]*\}\}", lambda found: "{{" + "y" * (len(found.group()) - 4) + "}}", text)


def _lexemes(text: str, dialect: str) -> list[str]:
    """The text without the white space of SQL, by the lexer of templates."""
    found = []
    for lexeme in lex(Source(_without_includes(text)), dialect_named(dialect)):
        piece = text[lexeme.start : lexeme.end]
        found += piece.split() if lexeme.kind is LexemeKind.CODE else [piece.rstrip()]
    return ["".join(found)]


def _check(text: str, dialect: str) -> None:
    new = format_query(text, dialect_named(dialect))
    assert new is not None, repr(text)
    assert _lexemes(new, dialect) == _lexemes(text, dialect)
    assert format_query(new, dialect_named(dialect)) == new, new
    assert all(line == line.rstrip() for line in new.splitlines() if "'" not in text and "/*" not in text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("select a from t", "select a\nfrom t\n"),
        (
            "select   a,b  from t left  join u on t.id=u.id where x = 1 and y between 2 and 3 group by 1 limit 5",
            "select a, b\nfrom t\nleft join u on t.id=u.id\nwhere x = 1 and y between 2 and 3\ngroup by 1\nlimit 5\n",
        ),
        (
            "select a from t where true [[ and id = {{ params.id }} ]] [[ and b in {{ params.b }} ]]",
            "select a\nfrom t\nwhere true\n    [[ and id = {{ params.id }} ]]\n    [[ and b in {{ params.b }} ]]\n",
        ),
        (
            "select a from t [[where b = {{ params.b }}]] [[ limit {{ params.n }} ]]",
            "select a\nfrom t\n[[ where b = {{ params.b }} ]]\n[[ limit {{ params.n }} ]]\n",
        ),
        ("select a[b[1]], {{> part }} from t", "select a[b[1]], {{> part }}\nfrom t\n"),
        ("select 'it''s  {{ x }}' -- why\nfrom t", "select 'it''s  {{ x }}' -- why\nfrom t\n"),
        ("-- first\nselect a, -- of a\n b from t", "-- first\nselect\n    a, -- of a\n    b\nfrom t\n"),
        ("select 'a'\n  'b'", "select 'a'\n'b'\n"),
        ("select 1 union all select 2", "select 1\nunion all\nselect 2\n"),
        ("select 1\n\n\nunion all select 2", "select 1\n\nunion all\nselect 2\n"),
        ("select * except a, b from t", "select * except a, b\nfrom t\n"),
        (
            "select extract(year from d), a is distinct from b from t",
            "select extract(year from d), a is distinct from b\nfrom t\n",
        ),
        ("", "\n"),
    ],
)
def test_the_layout(old: str, new: str) -> None:
    """Red when the rules change."""
    assert _formatted(old) == new


def test_long_lines_are_broken() -> None:
    """Red when a list, a subquery, a case or conditions stay on one line of more than WIDTH characters."""
    columns = ", ".join(f"column_number_{number}" for number in range(8))
    conditions = " and ".join(f"column_number_{number} = {number}" for number in range(6))
    case = " ".join(f"when a = {number} then 'number {number}'" for number in range(6))
    text = f"select {columns}, case {case} else 'x' end as c from (select {columns} from t where {conditions}) s"
    new = _formatted(text)
    assert max(map(len, new.splitlines())) < 60
    assert "    case\n        when a = 0 then 'number 0'\n" in new
    assert "from (\n    select\n        column_number_0,\n" in new
    assert "        and column_number_1 = 1\n" in new


def _wild() -> Iterator[tuple[str, str]]:
    if not WILD.is_file():
        assert os.environ.get("CI") != "true"
        pytest.skip("the corpus is not on this machine")
    for line in WILD.read_text().splitlines():
        found = json.loads(line)
        yield found["sql"], {"mssql": "tsql"}.get(found["dialect"], found["dialect"])


def _ours() -> Iterator[tuple[str, str]]:
    for folder in ("src/tenantry/demo/queries", "examples", "docs"):
        for file in sorted((ROOT / folder).rglob("*.sql")):
            yield file.read_text(), "postgresql"


def _written_in_tests() -> Iterator[tuple[str, str]]:
    """Each string of the tests of templates that begins as a query does."""
    for file in sorted((ROOT / "tests/sql").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if re.match(r"\s*(?:select|with|--|/\*)\s", text, re.IGNORECASE) and len(text) < 5_000 and "\r" not in text:
                yield from ((text, dialect) for dialect in ("postgresql", "mysql", "clickhouse"))


@pytest.mark.parametrize("texts", [_wild, _ours, _written_in_tests])
def test_only_white_space_changes_and_only_once(texts: object) -> None:
    """Red when a lexeme is lost, moved, split or joined, or the second layout differs from the first."""
    assert callable(texts)
    count = 0
    for text, dialect in texts():
        try:
            lex(Source(_without_includes(text)), dialect_named(dialect))
        except TemplateError:
            continue
        count += 1
        _check(text, dialect)
    assert count > 20


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_dialect(dialect: str) -> None:
    """Red when the lexer of one dialect is used for all."""
    _check("select a, b from t where c = {{ c }} and d = 'x' /* y */ order by 1 -- z", dialect)


def test_between_keeps_its_and() -> None:
    """Red when a line is broken before each `and`."""
    new = _formatted("select a from t where " + " and ".join(f"column_{n} between {n} and {n}" for n in range(5)))
    assert new.splitlines()[2:4] == ["where column_0 between 0 and 0", "    and column_1 between 1 and 1"]


async def test_the_endpoint(tmp_path: Path) -> None:
    """Red when an error has no place, or a text that would change is replaced."""
    async with served_editor(tmp_path) as site:
        path = "queries/by_day.sql"
        assert await site.ask("format", path=path, text="select a from t") == {"text": "select a\nfrom t\n"}
        assert await site.ask("format", path=path, text="select `a  b`", dialect="mysql") == {"text": "select `a  b`\n"}
        for body, field, message in (
            ({"text": "select 'a"}, "/text", "queries/by_day.sql:1:8"),
            ({"text": "select " + "(" * 5_000}, "/text", "levels"),
            ({"text": "select 1", "dialect": "postgres"}, "/dialect", "postgresql"),
            ({"text": "title: x", "path": "dashboards/flights.yaml"}, "/path", "only a query"),
        ):
            answer = await site.post("format", **{"path": path, **body})
            error = answer.json()["error"]
            assert (answer.status_code, error["field"]) == (422, field), error
            assert message in error["message"]


async def test_long_texts_cannot_keep_the_server_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of formats and added panels. Red without the limit of the length, and when they use the threads of all
    requests."""
    running, most, go_on = 0, 0, Event()

    def format_slowly(text: str, dialect: object, file: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        go_on.wait(60)
        running -= 1
        return text

    async with served_editor(tmp_path) as site:
        panel = {"dashboard": "dashboards/x.yaml", "query": "a", "kind": "table"}
        for endpoint, body in (("format", {"path": "queries/a.sql"}), ("add-panel", panel)):
            answer = await site.post(endpoint, **body, text="#" * 65_537)
            assert (answer.status_code, answer.json()["error"]["field"]) == (422, "/text"), endpoint
        monkeypatch.setattr(sys.modules["tenantry.editor.files.file_routes"], "format_query", format_slowly)
        asked = [asyncio.create_task(site.post("format", path="queries/a.sql", text=f"select {n}")) for n in range(5)]
        async with asyncio.timeout(60):
            while running < 2:
                await asyncio.sleep(0.01)
        await site.ask("files")
        go_on.set()
        assert {each.status_code for each in await asyncio.gather(*asked)} == {200}
        assert most == 2
