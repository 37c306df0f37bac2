"""What each tag and each guarded table of a typed query becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.datasources.databases import create_database
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor

GROUP: dict[str, Any] = {"environment": ENVIRONMENT, "group": "ua", "viewer": None, "schema": "main"}
CREATE = ["create table flights (day text, carrier text)", "create table airports (code text)"]
TABLES = {"tables": {"flights": {"carrier": "{{ user_group.properties.carrier }}"}, "airports": "shared"}}
PATH = "queries/by_day.sql"


async def meaning(site: EditorSite, text: str, **body: Any) -> Any:
    return await site.ask("meaning", **{**GROUP, "path": PATH, "params": {}, **body}, text=text)


def cut(text: str, each: dict[str, Any]) -> str:
    return text.encode("utf-16-le")[2 * each["from"] : 2 * each["to"]].decode("utf-16-le")


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_each_tag_has_its_placeholder_value_and_origin(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Red when tags that share a placeholder are matched only by their offset, and when offsets count characters."""
    text = (
        "select '\U0001f600' as a, {{ user_group.properties.carrier }} as b from flights\n"
        "where carrier = {{ user_group.properties.carrier }} and day >= {{ params.since }}"
    ).replace("as b", "|| 'x' as b")
    url = create_database(engine, CREATE, tmp_path, request)
    async with served_editor(tmp_path, url=url) as site:
        found = await meaning(site, text, params={"since": "2024-01-01"})
        tags = found["placeholders"]
        assert [cut(text, each) for each in tags] == [
            "{{ user_group.properties.carrier }}",
            "{{ user_group.properties.carrier }}",
            "{{ params.since }}",
        ]
        assert [each["value"] for each in tags] == ["UA", "UA", "2024-01-01"]
        assert [each["origin"] for each in tags] == ["property carrier", "property carrier", "viewer"]
        assert {each["type"] for each in tags} == {"text"}
        shared = ["$1", "$1", "$2"] if engine == "postgresql" else ["?", "?", "?"]
        assert [each["placeholder"] for each in tags] == shared
        assert all(each["placeholder"] in found["sql"] for each in tags)
        assert (found["source"]["name"], found["engine"]) == ("warehouse", engine)


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_each_declared_table_has_the_sql_in_its_place(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Red when ``tables`` reads the guards of another dialect, or the place of the replaced SQL."""
    text = "select f.day from flights f join airports on code = f.day join FLIGHTS g on g.day = f.day"
    url = create_database(engine, CREATE, tmp_path, request)
    async with served_editor(tmp_path, url=url, tables=TABLES) as site:
        found = await meaning(site, text)
        assert [(cut(text, each), each["name"], each["kind"]) for each in found["tables"]] == [
            ("flights", "flights", "guarded"),
            ("airports", "airports", "shared"),
            ("FLIGHTS", "flights", "guarded"),
        ]
        assert "{{ user_group.properties.carrier }}" in found["tables"][0]["sql"]
        assert found["tables"][1]["sql"] == "airports"
        assert found["placeholders"] == []  # those of guards are not typed


async def test_a_clause_that_is_left_out_has_no_placeholder(tmp_path: Path) -> None:
    """Red when a tag without a parameter is not listed, or gets the placeholder of another tag."""
    text = "select day from flights where true [[ and day >= {{ params.since }} ]] "
    text += "and carrier like {{ params.x | contains }}"
    async with served_editor(tmp_path) as site:
        found = await meaning(site, text, params={"x": "U"})
        since, like = found["placeholders"]
        assert (since["path"], since["placeholder"], since["origin"]) == ("params.since", None, "default")
        assert (like["path"], like["placeholder"], like["value"]) == ("params.x", "?", "%U%")


async def test_a_list_has_a_placeholder_for_each_item(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Red when only the first parameter of a tag is listed."""
    header = "/* ---\nparams: {carriers: {type: list of text}}\n--- */\n"
    text = header + "select day from flights where carrier in {{ params.carriers }}"
    async with served_editor(tmp_path, url=create_database("postgresql", CREATE, tmp_path, request)) as site:
        tags = (await meaning(site, text, params={"carriers": ["UA", "HA"]}))["placeholders"]
        assert [(each["placeholder"], each["value"]) for each in tags] == [("$1", "UA"), ("$2", "HA")]


async def test_a_range_has_a_placeholder_for_each_end(tmp_path: Path) -> None:
    """Red when only one placeholder of a tag is listed."""
    header = "/* ---\nparams: {period: {type: date range, default: last 30 days}}\n--- */\n"
    text = header + "select day from flights where {{ params.period | within(day) }}"
    async with served_editor(tmp_path) as site:
        found = await meaning(site, text)
        tags = [each for each in found["placeholders"] if each["placeholder"] is not None]
        assert {cut(text, each) for each in tags} == {"{{ params.period | within(day) }}"}
        assert [each["path"] for each in tags] == ["params.period.start", "params.period.end"]
        assert {each["origin"] for each in tags} == {"clock: last 30 days, by default"}


async def test_values_of_the_viewer(tmp_path: Path) -> None:
    """Red when the viewer's values do not reach the variables."""
    text = "select day from flights where carrier = {{ viewer.carrier }}"
    async with served_editor(tmp_path) as site:
        (tag,) = (await meaning(site, text, viewer={"carrier": "XX"}))["placeholders"]
        assert (tag["value"], tag["origin"]) == ("XX", "pass carrier")


async def test_an_included_file_is_shown_at_its_tag(tmp_path: Path) -> None:
    """Red when tags of included files are lost, or are shown at their offset in that file."""
    text = "select day from flights where true and ({{> mine }})"
    drafts = {"queries/mine.sql": "carrier = {{ user_group.properties.carrier }}"}
    async with served_editor(tmp_path) as site:
        (tag,) = (await meaning(site, text, drafts=drafts))["placeholders"]
        assert (cut(text, tag), tag["value"]) == ("{{> mine }}", "UA")


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("select {{ user_group.properties.carier }} || 'x' as a", "missing_variable", "user_group.properties.carier"),
        ("select day from flights where carrier = {{ params.x | nope }}", "template_error", "nope"),
        ("select {{ viewer.id }} || 'x' as a", "missing_variable", "viewer.id"),
    ],
)
async def test_what_cannot_be_bound_says_why_and_where(text: str, code: str, at: str, tmp_path: Path) -> None:
    """Red when an error of binding becomes an error of the request."""
    async with served_editor(tmp_path) as site:
        found = await meaning(site, text)
        assert (found["sql"], found["error"]["code"]) == (None, code)
        assert cut(text, found["error"]) == at
        paths = [each["path"] for each in found["placeholders"]]
        assert paths == ([] if code == "template_error" else [at])


async def test_only_queries_have_a_meaning(tmp_path: Path) -> None:
    """Red when Meanings takes every file of the workspace."""
    async with served_editor(tmp_path) as site:
        answer = await site.post("meaning", **GROUP, path="dashboards/flights.yaml", text="title: A", params={})
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, "/path")
