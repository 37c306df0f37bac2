"""The tables of a group's data source."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tenantry.datasources import DataSources
from tenantry.editor import EditorAuthor, Right
from tenantry.editor.language import catalogues
from tenantry.groups import SourceUpdate
from tests.datasources.databases import create_database
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor

GROUP: dict[str, Any] = {"environment": ENVIRONMENT, "group": "ua", "viewer": None, "schema": "main"}
CREATE = [
    "create table flights (day text, carrier text)",
    "create table airports (code text)",
    "create table crews (id integer)",
    "create view busy as select * from flights",
]
TABLES = {"tables": {"flights": {"carrier": "{{ user_group.properties.carrier }}"}, "airports": "shared"}}


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reads of catalogues from now on."""
    reads: list[str] = []
    read = DataSources.catalogue

    async def counting(self: DataSources, source: Any) -> Any:
        reads.append(source.id)
        return await read(self, source)

    monkeypatch.setattr(DataSources, "catalogue", counting)
    return reads


async def names(site: EditorSite, **body: Any) -> list[str]:
    answer = await site.ask("catalogue", **{**GROUP, "refresh": False, **body})
    return [each["name"] for each in answer["tables"]]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_tables_are_told_apart_by_the_declaration(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Red when _kind does not look at the declaration, and when views are not told apart."""
    url = create_database(engine, CREATE, tmp_path, request)
    async with served_editor(tmp_path, url=url, tables=TABLES) as site:
        answer = await site.ask("catalogue", **GROUP, refresh=False)
        assert answer["dialect"] == engine
        found = {each["name"]: (each["kind"], each["view"], each["columns"]) for each in answer["tables"]}
        assert found == {
            "airports": ("shared", False, ["code"]),
            "busy": ("unlisted", True, ["day", "carrier"]),
            "crews": ("unlisted", False, ["id"]),
            "flights": ("guarded", False, ["day", "carrier"]),
        }
        assert {"count", "coalesce"} <= set(answer["functions"])


async def test_names_with_a_schema_and_quotes(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Red when Declaration.entry compares only the last part of the name."""
    create = [*CREATE, "create schema old", "create table old.flights (day text)", 'create table "Air Ports" (a text)']
    url = create_database("postgresql", create, tmp_path, request)
    tables = {"tables": {"public.flights": "carrier", '"Air Ports"': "shared"}}
    async with served_editor(tmp_path, url=url, tables=tables) as site:
        answer = await site.ask("catalogue", **GROUP, refresh=False)
        kinds = {each["name"]: each["kind"] for each in answer["tables"]}
        assert kinds["flights"] == "guarded"
        assert kinds["old.flights"] == "unlisted"
        assert kinds['"Air Ports"'] == "shared"


async def test_without_a_declaration_the_file_of_the_folder_counts(tmp_path: Path) -> None:
    """Red when _declared does not look for tables.yaml."""
    async with served_editor(tmp_path) as site:
        answer = await site.ask("catalogue", **GROUP, refresh=False)
        assert [each["kind"] for each in answer["tables"]] == ["guarded"]
        (tmp_path / "tables.yaml").unlink()
        answer = await site.ask("catalogue", **GROUP, refresh=False)
        assert [each["kind"] for each in answer["tables"]] == ["open"]


async def test_the_catalogue_is_read_once_and_again_when_asked(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when nothing is kept, when ``refresh`` is ignored, and when two requests read at the same time."""
    url = create_database("postgresql", CREATE, tmp_path, request)
    async with served_editor(tmp_path, url=url) as site:
        reads = counted(monkeypatch)
        both = await asyncio.gather(names(site), names(site))
        assert both[0] == both[1] == ["airports", "busy", "crews", "flights"]
        assert len(reads) == 1
        request.getfixturevalue("postgres").execute("create table gates (id integer)", url=url)
        assert "gates" not in await names(site)
        assert "gates" in await names(site, refresh=True)
        assert len(reads) == 2


async def test_an_old_catalogue_is_answered_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a request waits for the read of a catalogue that is only old, or when nothing reads it again."""
    async with served_editor(tmp_path) as site:
        await names(site)
        monkeypatch.setattr(catalogues, "MAX_AGE", 0.0)
        released, begun = asyncio.Event(), asyncio.Event()
        read = DataSources.catalogue

        async def slow(self: DataSources, source: Any) -> Any:
            begun.set()
            await released.wait()
            return await read(self, source)

        monkeypatch.setattr(DataSources, "catalogue", slow)
        assert await names(site) == ["flights"]
        await asyncio.wait_for(begun.wait(), 60)
        released.set()


async def test_a_moved_source_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when _read does not compare the registration."""
    async with served_editor(tmp_path) as site:
        reads = counted(monkeypatch)
        await names(site)
        environment = await site.store.environments.get(ENVIRONMENT)
        assert environment is not None
        source = await site.store.sources.get(environment, "warehouse")
        assert source is not None
        await site.store.sources.update(source, SourceUpdate(tables=TABLES))
        assert await names(site) == ["flights"]
        assert len(reads) == 2


async def test_a_source_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    """Red when an error of the read is kept, or answered as an empty catalogue."""
    async with served_editor(tmp_path, url=f"sqlite:///{tmp_path}/missing.db") as site:
        for _ in range(2):
            answer = await site.post("catalogue", **GROUP, refresh=False)
            assert answer.json()["error"]["code"] == "source_unavailable"


async def test_only_groups_of_the_author_are_read(tmp_path: Path) -> None:
    """Red when find_viewed_group is not called."""
    async with served_editor(tmp_path) as site:
        site.author = EditorAuthor("eve", frozenset({Right.VIEW}), frozenset({"staging"}))
        assert (await site.post("catalogue", **GROUP, refresh=False)).status_code == 403
