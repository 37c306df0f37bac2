"""Findings of texts while they are typed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engines.postgres import Postgres
from tenantry.datasources.checks import EngineCheck
from tenantry.editor import EditorAuthor, Right
from tenantry.editor.language import checks, group_properties
from tenantry.editor.language.findings_on_page import shown_findings
from tenantry.groups import GroupChanges
from tenantry.sql.checks import Finding, Severity
from tests.datasources.databases import create_database
from tests.editor.served import ENVIRONMENT, FILES, EditorSite, served_editor

PATH = "queries/by_day.sql"
GROUP = {"environment": ENVIRONMENT, "group": "ua", "schema": "main"}
TABLES = {"tables": {"flights": {"carrier": "{{ user_group.properties.carrier }}"}}}
CREATE = ["create table flights (day text, carrier text)"]
ENGINES = ["sqlite", "postgresql"]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines, and the reading of groups, have a minute: the machine may be busy."""
    monkeypatch.setattr(group_properties, "FIRST_WAIT", 60.0)
    monkeypatch.setattr(checks, "EXPLAIN_LIMITS", replace(checks.EXPLAIN_LIMITS, timeout=60.0, connect_timeout=60.0))


@asynccontextmanager
async def on_engine(engine: str, folder: Path, request: pytest.FixtureRequest) -> AsyncIterator[EditorSite]:
    async with served_editor(folder, url=create_database(engine, CREATE, folder, request)) as site:
        (folder / "tables.yaml").unlink()
        yield site


async def check(site: EditorSite, text: str, path: str = PATH, **body: Any) -> list[dict[str, Any]]:
    answer = await site.ask("check", path=path, text=text, **body)
    assert isinstance(answer["findings"], list)
    return answer["findings"]


def corrected(text: str, finding: Mapping[str, Any]) -> str:
    """The text with the correction of a finding, made as the page makes it."""
    units, edit = text.encode("utf-16-le"), finding["edit"]
    before, after = units[: 2 * edit["from"]], units[2 * edit["to"] :]
    return before.decode("utf-16-le") + edit["insert"] + after.decode("utf-16-le")


async def test_a_misspelt_variable_is_found_among_the_properties_of_all_groups(tmp_path: Path) -> None:
    """Red when Checks passes no properties to the checks."""
    text = "select '\U0001f600' as a from flights where carrier = {{ user_group.properties.carier }}"
    async with served_editor(tmp_path, tables=TABLES) as site:
        (finding,) = await check(site, text, **GROUP)
        assert (finding["code"], finding["severity"]) == ("unknown-variable", "error")
        at = slice(2 * finding["from"], 2 * finding["to"])
        assert text.encode("utf-16-le")[at].decode("utf-16-le") == "{{ user_group.properties.carier }}"
        assert await check(site, corrected(text, finding), **GROUP) == []
        assert await check(site, text, environment=ENVIRONMENT) == [finding], "no group is chosen"


async def test_coverage_counts_the_groups_that_lack_a_property(tmp_path: Path) -> None:
    """Red when Checks passes no coverage."""
    async with served_editor(tmp_path, tables=TABLES) as site:
        environment = await site.store.environments.get(ENVIRONMENT)
        assert environment is not None
        changes = GroupChanges(properties={"carrier": "UA", "fleet": 3})
        await site.store.groups.update(environment, "ua", changes)
        text = "select day from flights where delay < {{ user_group.properties.fleet }}"
        answer = await site.ask("check", path=PATH, text=text, **GROUP)
        found = {each["code"]: each["message"] for each in answer["findings"]}
        assert "in 1 of 2 groups: ha" in found["missing-property"]
        assert answer["groups"] == 2


@pytest.mark.parametrize("engine", ENGINES)
async def test_the_engine_of_the_group_explains_the_query(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Red when _explained returns nothing, and when it places the finding in another file."""
    async with on_engine(engine, tmp_path, request) as site:
        text = "select dya from flights where carrier = {{ user_group.properties.carrier }}"
        (found,) = [each for each in await check(site, text, **GROUP) if each["code"] == "query-refused"]
        assert "the data source refuses the query" in found["message"]
        assert text[found["from"] : found["to"]] == "dya"
        assert "tab Bound SQL" in found["fix"]
        right = text.replace("dya", "day")
        answer = await site.ask("check", path=PATH, text=right, **GROUP)
        assert answer["dialect"] == engine
        assert "query-refused" not in {each["code"] for each in answer["findings"]}


async def test_a_refused_name_is_corrected_by_the_known_catalogue(tmp_path: Path) -> None:
    """Red when the check gets no names from Catalogues."""
    async with served_editor(tmp_path) as site:
        (tmp_path / "tables.yaml").unlink()
        await site.ask("catalogue", **GROUP)
        text = "select carier from flights where carrier = {{ user_group.properties.carrier }}"
        (found,) = await check(site, text, **GROUP)
        assert found["fix"] == "did you mean carrier?"
        assert await check(site, corrected(text, found), **GROUP) == []


async def test_an_engine_explains_no_long_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when _explained does not look at the length."""
    async with served_editor(tmp_path) as site:
        (tmp_path / "tables.yaml").unlink()
        text = "select dya from flights where carrier = {{ user_group.properties.carrier }}"
        assert "query-refused" in {each["code"] for each in await check(site, text, **GROUP)}
        monkeypatch.setattr(checks, "MAX_EXPLAINED", 10)
        assert "query-refused" not in {each["code"] for each in await check(site, text, **GROUP)}


async def test_an_engine_that_runs_subqueries_to_explain_is_not_asked(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Red when plans_without_running is not asked: a check is not in the audit trail."""
    create = ["create table flights (day text, carrier text)"]
    url = create_database("mariadb", create, tmp_path, request, scheme="mariadb")
    async with served_editor(tmp_path, url=url) as site:
        (tmp_path / "tables.yaml").unlink()
        text = "select dya from flights where carrier = {{ user_group.properties.carrier }}"
        assert await check(site, text, **GROUP) == []
        dashboard = "title: A\nrows:\n  - {line: nothing, by: day, query: by_day}\n"
        assert await check(site, dashboard, "dashboards/flights.yaml", **GROUP) == []


async def test_findings_name_no_path_of_the_server(tmp_path: Path) -> None:
    """Red when shown_findings gets no roots."""
    async with served_editor(tmp_path) as site:
        (found,) = await check(site, "select a from nothing_like_it")
        assert "tables.yaml" in found["fix"]
        assert str(tmp_path) not in repr(found)


async def test_only_an_author_who_may_run_asks_the_engine(tmp_path: Path) -> None:
    """Red when Checks does not look at the author's rights: MySQL and MariaDB run subqueries to explain a query."""
    async with served_editor(tmp_path) as site:
        (tmp_path / "tables.yaml").unlink()
        site.author = EditorAuthor("eve", frozenset({Right.VIEW}))
        text = "select dya from flights where carrier = {{ user_group.properties.carrier }}"
        assert await check(site, text, **GROUP) == []


async def test_a_locked_table_delays_no_check(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red without ``lock_timeout`` (the check waits for an hour), and when the timeout becomes a finding."""
    monkeypatch.setattr(checks, "EXPLAIN_LIMITS", replace(checks.EXPLAIN_LIMITS, timeout=3_600.0))
    url = create_database("postgresql", CREATE, tmp_path, request)
    async with served_editor(tmp_path, url=url) as site:
        with psycopg.connect(url) as connection:
            connection.execute("lock table flights in access exclusive mode")
            text = "select day from flights where carrier = {{ user_group.properties.carrier }}"
            async with asyncio.timeout(60):
                assert await check(site, text, **GROUP) == []


async def test_a_dropped_check_stops_at_the_engine(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red without ``while_connected``: the engine waits for the lock until the end of the test."""
    monkeypatch.setattr(checks, "EXPLAIN_LIMITS", replace(checks.EXPLAIN_LIMITS, timeout=3_600.0, lock_timeout=None))
    url = create_database("postgresql", CREATE, tmp_path, request)
    postgres: Postgres = request.getfixturevalue("postgres")
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%from flights%'"
    async with served_editor(tmp_path, url=url) as site, asyncio.timeout(120):
        with psycopg.connect(url) as connection:
            connection.execute("lock table flights in access exclusive mode")
            text = "select day from flights where carrier = {{ user_group.properties.carrier }}"
            async with site.reading("check", path=PATH, text=text, **GROUP):
                while int(postgres.execute(waiting)) != 1:  # the engine tells nobody
                    await asyncio.sleep(0.05)
            while int(postgres.execute(waiting)) != 0:
                await asyncio.sleep(0.05)


async def test_guarded_tables_count_as_in_a_run(tmp_path: Path) -> None:
    """Red when _tables_check does not add the source's declaration."""
    async with served_editor(tmp_path, tables=TABLES) as site:
        (tmp_path / "tables.yaml").unlink()
        text = "select day from flihgts"
        (found,) = await check(site, text, **GROUP)
        assert (found["code"], text[found["from"] : found["to"]]) == ("unguarded", "flihgts")
        assert corrected(text, found) == "select day from flights"
        (without,) = await check(site, text)  # no declaration: nothing is guarded
        assert without["code"] == "every-customer"


async def test_drafts_of_included_files_count(tmp_path: Path) -> None:
    """Red when ``drafts`` do not reach the compiler, and when findings of an included file are lost."""
    text = "select day from flights where true and ({{> open }}) -- carier"
    async with served_editor(tmp_path) as site:
        (missing,) = await check(site, text)
        assert "open" in missing["message"]
        wrong = {"queries/open.sql": "carrier = {{ user_group.properties.carier }}"}
        found = [each for each in await check(site, text, drafts=wrong, **GROUP) if each["code"] == "unknown-variable"]
        assert [text[each["from"] : each["to"]] for each in found] == ["{{> open }}"]
        assert found[0]["message"].startswith("queries/open.sql: ")
        assert "edit" not in found[0]  # it would change this file


@pytest.mark.parametrize(
    ("text", "at", "after"),
    [
        ("title: A\nrows:\n  - {line: flights, by: day, query: by_dya}\n", "by_dya", "by_day"),
        ("title: A\nrows:\n  - {line: flights, by: day, qeury: by_day}\n", "qeury", "query"),
        ("title: A\nrows:\n  - {lines: flights, by: day, query: by_day}\n", "{", "line"),
        (
            "title: A\nrows:\n  - {text: 'Of {{ user_group.properties.carier }}'}\n",
            "{{ user_group.properties.carier }}",
            "carrier",
        ),
        ("title: Of {{ user_group.nam }}\nrows:\n  - {text: Hi}\n", "{{ user_group.nam }}", "user_group.name"),
    ],
)
async def test_a_dashboard_is_checked_with_located_corrections(text: str, at: str, after: str, tmp_path: Path) -> None:
    """Red when dashboard_findings drops the findings of the typed file, when an error has no ``edit``, and when texts
    may name fields that user_group lacks."""
    async with served_editor(tmp_path) as site:
        (found,) = await check(site, text, "dashboards/flights.yaml", **GROUP)
        assert text[found["from"] : found["to"]] == at
        assert found["edit"]["insert"] == after
        assert await check(site, corrected(text, found), "dashboards/flights.yaml", **GROUP) == []


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_column_that_the_query_does_not_return_is_found(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when PanelColumns is not asked, and when it asks the engine again although no query changed."""
    text = "title: A\nrows:\n  - {line: flihgts, by: day, query: by_day}\n"
    path = "dashboards/flights.yaml"
    async with on_engine(engine, tmp_path, request) as site:
        (found,) = await check(site, text, path, **GROUP)
        assert (found["code"], text[found["from"] : found["to"]]) == ("unknown-column", "flihgts")
        asked = []
        run = EngineCheck.run
        monkeypatch.setattr(EngineCheck, "run", lambda self, sources: asked.append(1) or run(self, sources))
        assert await check(site, corrected(text, found), path, **GROUP) == []
        assert asked == []
        drafts = {PATH: "select day, count(*) as n from flights where carrier = {{ user_group.id }} group by day"}
        (found,) = await check(site, corrected(text, found), path, drafts=drafts, **GROUP)
        assert (found["code"], asked) == ("unknown-column", [1])
        site.author = EditorAuthor("eve", frozenset({Right.VIEW}))
        assert await check(site, text, path, **GROUP) == []


async def test_a_broken_query_is_shown_at_its_panel(tmp_path: Path) -> None:
    """Red when errors of queries are left out, also those of the files that they include."""
    text = "title: A\nrows:\n  - {line: flights, by: day, query: by_day}\n"
    async with served_editor(tmp_path) as site:
        for broken in ("select {{ params.x | nope }} as a", "select a from t where true and ({{> part }})"):
            drafts = {PATH: broken, "queries/part.sql": "a = {{ nope"}
            (found,) = await check(site, text, "dashboards/flights.yaml", drafts=drafts)
            assert text[found["from"] : found["to"]] == "by_day"
            assert found["message"].startswith(f"queries/{'part' if 'part' in broken else 'by_day'}.sql:1:")
            assert "edit" not in found


async def test_an_unused_control_is_found_in_the_draft_of_a_dashboard(tmp_path: Path) -> None:
    """Red when DashboardFolder.findings is not asked."""
    text = "title: A\ncontrols:\n  since: {range: last 30 days}\nrows:\n  - {line: flights, by: day, query: by_day}\n"
    async with served_editor(tmp_path) as site:
        found = await check(site, text, "dashboards/new.yaml")
        assert [(each["code"], text[each["from"] : each["to"]]) for each in found] == [("unused-control", "since")]


async def test_a_declaration_of_tables_is_checked(tmp_path: Path) -> None:
    """Red when _tables_findings returns nothing."""
    async with served_editor(tmp_path) as site:
        text = "tables:\n  flights: shared\nfunction: [f]\n"
        (found,) = await check(site, text, "tables.yaml")
        assert found["from"] == text.index("function")
        assert await check(site, "tables:\n  flights: shared\n", "tables.yaml") == []


async def test_a_click_may_open_every_dashboard_of_the_folder(tmp_path: Path) -> None:
    """Red when the correction knows only the typed dashboard."""
    text = "title: A\nrows:\n  - {bar: flights, by: day, query: by_day, click: {open: flihgts}}\n"
    async with served_editor(tmp_path) as site:
        (found,) = await check(site, text, "dashboards/new.yaml", **GROUP)
        assert found["fix"] == "did you mean flights? The dashboards: flights, new"
        assert found["edit"]["insert"] == "flights"


async def test_only_groups_of_the_author_are_read(tmp_path: Path) -> None:
    """Red when Checks does not call find_environment."""
    async with served_editor(tmp_path) as site:
        site.author = EditorAuthor("eve", frozenset({Right.VIEW}), frozenset({"staging"}))
        for body in (GROUP, {"environment": ENVIRONMENT}):
            answer = await site.post("check", path=PATH, text="select 1", **body)
            assert (answer.status_code, answer.json()["error"]["field"]) == (403, "/environment")
        assert (await site.post("check", path="../secret.sql", text="select 1")).status_code == 422


@pytest.mark.parametrize("text", ["\ud800", "select '\x00'", "{{", "/* ---\n", "select 1;;", "'" * 200, "\ufeff"])
async def test_no_text_breaks_the_check(text: str, tmp_path: Path) -> None:
    """Red when an error of the lexer or of the JSON encoder reaches the page."""
    async with served_editor(tmp_path) as site:
        for path in (PATH, "dashboards/flights.yaml", "tables.yaml"):
            body = json.dumps({"path": path, "text": text, **GROUP})  # httpx2 itself refuses lone surrogates
            headers = {"X-Tenantry-Editor": "1", "Content-Type": "application/json"}
            answer = await site.client.post("/editor/-/check", content=body, headers=headers)
            assert answer.status_code == 200, answer.text


def test_findings_of_other_files_are_left_out() -> None:
    """Red when index_in accepts every file."""
    own = Finding("a", Severity.NOTE, 1, 8, "own", "", file="q.sql")
    other = Finding("b", Severity.NOTE, 1, 1, "other", "", file="data source warehouse")
    assert [each["code"] for each in shown_findings([own, other], "q.sql", "select abc")] == ["a"]


def test_a_finding_at_the_end_of_the_text_marks_nothing() -> None:
    """Red when the character at the end is read: there is none."""
    at_end = Finding("a", Severity.NOTE, 1, 11, "own", "", file="q.sql")
    (found,) = shown_findings([at_end], "q.sql", "select abc")
    assert (found["from"], found["to"]) == (10, 10)


async def test_a_private_name_of_the_engine_is_marked(tmp_path: Path) -> None:
    """While typing, and not only when the query runs. Red with the place and the fix of another refusal."""
    files = {name: text for name, text in FILES.items() if name != "tables.yaml"}
    text = "select day, sqlite_compileoption_get(0) as a from flights where carrier = {{ carrier }}"
    async with served_editor(tmp_path, files) as site:
        answer = await site.ask("check", path="queries/a.sql", text=text, environment=ENVIRONMENT, group="ha")
        (finding,) = [each for each in answer["findings"] if each["code"] == "private-name"]
        assert text[finding["from"] : finding["to"]] == "sqlite_compileoption_get"
        assert finding["message"].startswith("authors may not use sqlite_compileoption_get")
        assert finding["fix"] == "query the tables that have the data"


DASHBOARD = """title: A
controls:
  since: {date: 2024-01-01}
  kind: {choices: {a: First, b: Second}, default: a}
rows:
  - {line: flights, by: day, query: by_day}
"""
CONTROLLED = "select day, count(*) as flights, {{ params.kind | one_of(a: 1, b: 2) }} as kind from flights\n"
CONTROLLED += "where carrier = {{ user_group.properties.carrier }} and day >= {{ params.since }} group by day"


async def test_a_query_is_checked_run_and_explained_with_the_controls_of_its_dashboard(tmp_path: Path) -> None:
    """Red when check, variables, meaning or run compile the typed text alone."""
    body = {"path": PATH, "text": CONTROLLED, "drafts": {"dashboards/flights.yaml": DASHBOARD}, **GROUP}
    async with served_editor(tmp_path, tables=TABLES) as site:
        assert (await site.ask("check", **body))["findings"] == []
        found = await site.ask("variables", **body, viewer=None)
        assert found["dashboards"] == [{"name": "flights", "schema": "main"}]
        assert found["params"] == [
            {"name": "kind", "type": "choice", "choices": ["a", "b"], "labels": ["First", "Second"], "default": "a"},
            {"name": "since", "type": "date", "default": "2024-01-01"},
        ]
        tags = (await site.ask("meaning", **body, viewer=None))["placeholders"]
        assert {"params.since": "2024-01-01"}.items() <= {each["path"]: each["value"] for each in tags}.items()
        lines = await site.lines("run", **body)
        assert "done" in lines[-1], lines
        other = DASHBOARD.replace("default: a", "default: b").replace("title: A", "title: B")
        drafts = {"dashboards/flights.yaml": DASHBOARD, "dashboards/other.yaml": other}
        found = await site.ask("variables", **body | {"drafts": drafts, "dashboard": "other"}, viewer=None)
        assert [each["name"] for each in found["dashboards"]] == ["flights", "other"]
        assert found["params"][0]["default"] == "b"


async def test_a_control_that_the_query_does_not_accept_is_a_finding(tmp_path: Path) -> None:
    """Red when an error in the dashboard's file is lost."""
    wrong = DASHBOARD.replace("{choices: {a: First, b: Second}, default: a}", "{choices: [c], default: c}")
    async with served_editor(tmp_path, tables=TABLES) as site:
        found = await check(site, CONTROLLED, drafts={"dashboards/flights.yaml": wrong}, **GROUP)
        assert [each["code"] for each in found] == ["template-error"]


async def test_an_error_at_the_control_is_shown_at_the_begin_of_the_query(tmp_path: Path) -> None:
    """The query declares the control's parameter as another type. Red when an error in the dashboard's file is lost."""
    text = f"/* ---\nparams: {{since: integer}}\n--- */\n{CONTROLLED}"
    async with served_editor(tmp_path, tables=TABLES) as site:
        (found,) = await check(site, text, drafts={"dashboards/flights.yaml": DASHBOARD}, **GROUP)
        assert found["from"] == 0
        assert found["message"].startswith("dashboards/flights.yaml: a query declares params.since")
