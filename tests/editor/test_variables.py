"""The variables that a text may name, with the values of a group."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tenantry.editor import EditorAuthor, Right
from tenantry.editor.language import group_properties
from tenantry.groups import GroupChanges, GroupDraft
from tenantry.provisioning import Provisioner
from tenantry.tokens import KeyRing, SigningKey
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor

BODY: dict[str, Any] = {
    "environment": ENVIRONMENT,
    "group": "ua",
    "viewer": None,
    "schema": "main",
    "path": "queries/by_day.sql",
    "text": "select 1 as a",
}
REGION = "user_group.properties.region"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The groups are read within a minute: the machine may be busy."""
    monkeypatch.setattr(group_properties, "FIRST_WAIT", 60.0)


async def variables(site: EditorSite, **body: Any) -> dict[str, dict[str, Any]]:
    answer = await site.ask("variables", **{**BODY, **body})
    return {each["path"]: each for each in answer["variables"]}


async def set_properties(site: EditorSite, group: str, properties: dict[str, Any]) -> None:
    environment = await site.store.environments.get(ENVIRONMENT)
    assert environment is not None
    await site.store.groups.update(environment, group, GroupChanges(properties=properties))


async def until_region(site: EditorSite, **expected: Any) -> None:
    async with asyncio.timeout(60):
        while True:
            found = (await variables(site)).get(REGION, {})
            if expected.items() <= found.items():
                return
            await asyncio.sleep(0.02)


async def test_each_variable_has_the_value_of_the_group_and_its_coverage(tmp_path: Path) -> None:
    """Red when Variables takes the values of another group, or counts null as present."""
    async with served_editor(tmp_path) as site:
        await set_properties(site, "ua", {"carrier": "UA", "region": "west", "plans": {"seats": 4}, "note": "x" * 200})
        await set_properties(site, "ha", {"carrier": "HA", "region": None, "plans": {"seats": "many"}})
        found = await variables(site)
        assert found["user_group.name"]["value"] == "Airline UA"
        assert found[REGION] == {"path": REGION, "type": "text", "value": "west", "present": 1, "total": 2}
        seats = found["user_group.properties.plans.seats"]
        assert (seats["value"], seats["present"]) == (4, 2)
        assert seats["note"] == "integer in 1, text in 1"
        assert found["user_group.properties.note"]["value"] == "x" * 79 + "…"
        assert (await variables(site, group="ha"))[REGION]["value"] is None


async def test_the_values_are_live_and_the_counts_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when GroupProperties never gathers again."""
    monkeypatch.setattr(group_properties, "MAX_AGE", 0.0)
    monkeypatch.setattr(group_properties, "_SHARE", 0)
    async with served_editor(tmp_path) as site:
        await variables(site)
        await set_properties(site, "ua", {"carrier": "UA", "region": "west"})
        await until_region(site, value="west", present=1, total=2)
        environment = await site.store.environments.get(ENVIRONMENT)
        assert environment is not None
        draft = GroupDraft("nw", "Airline NW", {"carrier": "NW", "region": "north"}, {"main": "warehouse"})
        keys = KeyRing([SigningKey("k1", b"k" * 32)])
        await Provisioner(site.store, keys).get_or_create(environment, draft)
        await until_region(site, value="west", present=2, total=3)


async def test_groups_are_read_once_and_not_at_each_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when GroupProperties gathers for each request."""
    async with served_editor(tmp_path) as site:
        read = 0
        listed = site.store.groups.list

        async def counting(*arguments: Any, **options: Any) -> Any:
            nonlocal read
            read += 1
            return await listed(*arguments, **options)

        monkeypatch.setattr(type(site.store.groups), "list", lambda self, *a, **o: counting(*a, **o))
        for _ in range(5):
            await variables(site)
            await site.ask("check", path=BODY["path"], text="select 1", environment=ENVIRONMENT)
        assert read == 2  # one page, and the end


async def test_a_request_does_not_wait_for_a_slow_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when GroupProperties.of awaits the gathering."""
    monkeypatch.setattr(group_properties, "FIRST_WAIT", 0.01)
    async with served_editor(tmp_path) as site:
        released = asyncio.Event()
        listed = site.store.groups.list

        async def slow(*arguments: Any, **options: Any) -> Any:
            await released.wait()
            return await listed(*arguments, **options)

        monkeypatch.setattr(type(site.store.groups), "list", lambda self, *a, **o: slow(*a, **o))
        answer = await site.ask("variables", **BODY)
        assert (answer["groups"], answer["variables"][0]["total"]) == (None, 0)
        assert {"user_group.properties.carrier"}.isdisjoint({each["path"] for each in answer["variables"]})
        released.set()
        async with asyncio.timeout(60):
            while (await site.ask("variables", **BODY))["groups"] is None:
                await asyncio.sleep(0.02)


async def test_values_of_the_viewer_and_declared_names(tmp_path: Path) -> None:
    """Red when _of_viewer, or the schema of the environment, is left out."""
    schema = {
        "type": "object",
        "properties": {"tier": {"type": "string"}},
        "x-viewer": {"type": "object", "properties": {"role": {"type": ["string", "null"]}}},
    }
    async with served_editor(tmp_path) as site:
        from tenantry.groups import schema_file

        file = schema_file(tmp_path / "queries", ENVIRONMENT)
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(schema))
        found = await variables(site, viewer={"id": "v1", "team": "a"})
        assert (found["viewer.id"]["value"], found["viewer.team"]["value"]) == ("v1", "a")
        assert (found["viewer.role"]["type"], found["viewer.role"]["value"]) == ("string or null", None)
        tier = found["user_group.properties.tier"]
        assert (tier["type"], tier["present"], tier["total"]) == ("string", 0, 2)
        misspelt = "select {{ viewer.rol }} as a"
        answer = await site.ask("check", path=BODY["path"], text=misspelt, environment=ENVIRONMENT)
        assert [each["edit"]["insert"] for each in answer["findings"] if "edit" in each] == ["viewer.role"]


async def test_parameters_and_fragments(tmp_path: Path) -> None:
    """Red when _parameters forgets declared or undeclared parameters, or controls, and when drafts are no fragments."""
    async with served_editor(tmp_path) as site:
        declared = "{since: {type: date, default: 2024-01-01}, kind: {type: choice, choices: [a, b]}}"
        text = f"/* ---\nparams: {declared}\n--- */\n"
        text += "select {{ params.since }} as a, {{ params.kind }} as b"
        answer = await site.ask("variables", **{**BODY, "text": text, "drafts": {"queries/open.sql": "true"}})
        assert answer["params"] == [
            {"name": "since", "type": "date", "default": "2024-01-01"},
            {"name": "kind", "type": "choice", "choices": ["a", "b"]},
        ]
        assert answer["fragments"] == ["open"]
        answer = await site.ask("variables", **{**BODY, "text": f"{text} {{{{> missing }}}}"})
        assert [each["type"] for each in answer["params"]] == ["date", "choice"]
        answer = await site.ask("variables", **{**BODY, "text": "select {{ params.until }} from {{"})
        assert answer["params"] == [{"name": "until", "type": None}]
        text = "title: A\ncontrols:\n  period: {range: last-30-days, presets: [last-7-days], label: When}\n"
        text += "  kind: {choices: {query: by_day}}\nrows:\n  - {text: Hello}\n"
        answer = await site.ask("variables", **{**BODY, "path": "dashboards/a.yaml", "text": text})
        period, kind = answer["params"]
        assert (period["name"], period["label"], period["presets"]) == ("period", "When", ["last-7-days"])
        assert (kind["name"], kind["choices_query"]) == ("kind", "by_day")
        assert answer["fragments"] == ["by_day"]


async def test_only_groups_of_the_author_are_shown(tmp_path: Path) -> None:
    """Red when find_viewed_group is not called."""
    async with served_editor(tmp_path) as site:
        site.author = EditorAuthor("eve", frozenset({Right.VIEW}), frozenset({"staging"}))
        assert (await site.post("variables", **BODY)).status_code == 403
