# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tenantry.errors import (
    AlreadyExists,
    InvalidSource,
    UnknownDataSource,
    UnknownEnvironment,
)
from tenantry.groups import (
    Environment,
    GroupDraft,
    SourceDraft,
    SourceUpdate,
    Tag,
)
from tenantry.ports import LeasedSources, Store
from tenantry.testing import make_token

NOWHERE = Environment(77, "nowhere", Tag.CUSTOMER)
URL = "postgresql://reader:s3cret@warehouse/sales"
TENANT = {"app.tenant": "{{ user_group.id }}"}
ORDERS = {"tables": {"orders": "customer_id", "notes": "shared"}, "guard": "required", "functions": ["F"]}
ORDERS_STORED = '{"functions":["f"],"guard":"required","tables":{"notes":"shared","orders":"customer_id"}}'
OTHERS = {"tables": {"orders": "tenant", "items": {"order_id": "orders.id"}}, "functions": ["g"]}
OTHERS_STORED = '{"functions":["g"],"tables":{"items":{"order_id":"orders.id"},"orders":"tenant"}}'


class SourceContract:
    async def test_a_data_source_is_found_by_either_id(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.TESTING)
        made = await store.sources.create(production, "ds_1", SourceDraft("warehouse", URL, trusted=True))
        assert (made.id, made.provided_id, made.url, made.trusted) == ("ds_1", "warehouse", URL, True)
        assert made.environment == production
        for reference in ("ds_1", "warehouse"):
            assert await store.sources.get(production, reference) == made
            assert await store.sources.get(other, reference) is None
        assert await store.sources.get(production, "Warehouse") is None
        twin = await store.sources.create(other, "ds_1", SourceDraft("warehouse", URL))
        assert not twin.trusted
        assert list(await store.sources.list(production)) == [made]

    async def test_a_data_source_keeps_its_session_variables(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        given = {"app.tenant": "{{user_group.id}}", "app.plan": "{{ user_group.properties.plan }}"}
        made = await store.sources.create(
            production, "ds_1", SourceDraft("a", "postgresql://u@127.0.0.1:1/d", session=given)
        )
        expected = (("app.tenant", "{{ user_group.id }}"), ("app.plan", "{{ user_group.properties.plan }}"))
        assert made.session == expected
        assert await store.sources.get(production, "a") == made
        if isinstance(store.sources, LeasedSources):
            assert (await store.sources.get_at_snapshot(production, "ds_1")).source == made
        assert list(await store.sources.list(production)) == [made]
        for url, session in (("sqlite:////a.db", given), ("postgresql://u@127.0.0.1:1/d", {"role": "x"})):
            with pytest.raises(InvalidSource):
                await store.sources.create(production, "ds_2", SourceDraft("b", url, session=session))
        plain = await store.sources.create(production, "ds_3", SourceDraft("c", URL))
        assert plain.session == ()
        assert (await store.sources.delete(production, "a")).session == expected
        assert list(await store.sources.list(production)) == [plain]

    async def test_a_data_source_keeps_its_declaration_of_guarded_tables(self, store: Store) -> None:
        pytest.importorskip("sqlglot")
        production = await store.environments.create("production", Tag.CUSTOMER)
        made = await store.sources.create(production, "ds_1", SourceDraft("a", URL, tables=ORDERS))
        assert made.tables == ORDERS_STORED
        assert await store.sources.get(production, "a") == made
        if isinstance(store.sources, LeasedSources):
            assert (await store.sources.get_at_snapshot(production, "ds_1")).source == made
        assert list(await store.sources.list(production)) == [made]
        plain = await store.sources.create(production, "ds_2", SourceDraft("b", URL))
        assert plain.tables == ""
        changed = await store.sources.update(made, SourceUpdate(tables=OTHERS))
        assert changed == replace(made, tables=OTHERS_STORED)
        assert await store.sources.get(production, "a") == changed
        assert await store.sources.get(production, "b") == plain
        assert await store.sources.update(made, SourceUpdate(tables=OTHERS)) is None
        assert await store.sources.update(made, SourceUpdate(url="encrypted")) is None
        assert await store.sources.update(changed, SourceUpdate(tables={})) == replace(made, tables="")
        assert (await store.sources.delete(production, "a")).tables == ""
        assert [entry.details for entry in await store.audit.list() if entry.subject == "ds_1"] == [
            {"provided_id": "a", "added": "functions.f, guard, tables.notes, tables.orders"},
            {
                "provided_id": "a",
                "fields": "tables",
                "added": "functions.g, tables.items",
                "changed": "tables.orders",
                "removed": "functions.f, guard, tables.notes",
            },
            {"provided_id": "a", "fields": "tables", "removed": "functions.g, tables.items, tables.orders"},
            {"provided_id": "a"},
        ]

    async def test_bad_guarded_tables_are_refused(self, store: Store) -> None:
        pytest.importorskip("sqlglot")
        production = await store.environments.create("production", Tag.CUSTOMER)
        made = await store.sources.create(production, "ds_1", SourceDraft("a", URL, tables=ORDERS))
        bad: tuple[dict[str, Any], ...] = (
            {"tables": {"orders": []}},
            {"tables": {}},
            {"guard": "required"},
            {"tabels": {"a": "shared"}},
        )
        for tables in bad:
            with pytest.raises(InvalidSource) as caught:
                await store.sources.create(production, "ds_2", SourceDraft("b", URL, tables=tables))
            assert (caught.value.field or "").startswith("/tables")
            with pytest.raises(InvalidSource):
                await store.sources.update(made, SourceUpdate(tables=tables))
        with pytest.raises(InvalidSource, match="guard: required"):
            await store.sources.update(made, SourceUpdate(tables={}))
        assert list(await store.sources.list(production)) == [made]

    async def test_a_new_declaration_is_listed_as_a_change(self, store: Store) -> None:
        pytest.importorskip("sqlglot")
        if not isinstance(store.sources, LeasedSources):
            pytest.skip("no lease")
        production = await store.environments.create("production", Tag.CUSTOMER)
        made = await store.sources.create(production, "ds_1", SourceDraft("a", URL))
        before = (await store.sources.get_at_snapshot(production, "a")).generation
        assert await store.sources.update(made, SourceUpdate(tables=ORDERS)) is not None
        reading = await store.sources.get_at_snapshot(production, "a")
        assert (reading.source, reading.generation) == (replace(made, tables=ORDERS_STORED), before + 1)

    async def test_both_ids_of_a_data_source_are_unique(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        made = await store.sources.create(production, "ds_1", SourceDraft("a", URL))
        for source_id, provided_id in (("ds_1", "b"), ("ds_2", "a")):
            with pytest.raises(AlreadyExists):
                await store.sources.create(production, source_id, SourceDraft(provided_id, "x://"))
        assert list(await store.sources.list(production)) == [made]
        with pytest.raises(UnknownEnvironment):
            await store.sources.create(NOWHERE, "ds_9", SourceDraft("z", URL))

    async def test_the_url_of_a_data_source_replaces_the_one_that_was_read(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        made = await store.sources.create(production, "ds_1", SourceDraft("a", URL, trusted=True))
        twin = await store.sources.create(other, "ds_1", SourceDraft("a", URL))
        written = await store.sources.update(made, SourceUpdate(url="encrypted"))
        assert written == replace(made, url="encrypted")
        assert await store.sources.get(production, "a") == written
        assert await store.sources.update(made, SourceUpdate(url="late")) is None
        assert await store.sources.get(other, "a") == twin
        await store.sources.delete(production, "a")
        assert await store.sources.update(replace(made, url="encrypted"), SourceUpdate(url="gone")) is None
        assert list(await store.sources.list(production)) == []

    async def test_a_data_source_gets_another_name_and_other_session_variables(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        made = await store.sources.create(production, "ds_1", SourceDraft("a", URL, session=TENANT))
        taken = await store.sources.create(production, "ds_2", SourceDraft("b", "sqlite:////a.db"))
        await store.sources.create(other, "ds_2", SourceDraft("c", URL))
        with pytest.raises(AlreadyExists):
            await store.sources.update(made, SourceUpdate(provided_id="b"))
        with pytest.raises(InvalidSource):
            await store.sources.update(taken, SourceUpdate(session=TENANT))
        renamed = await store.sources.update(made, SourceUpdate(provided_id="c", trusted=True, session={}))
        assert renamed == replace(made, provided_id="c", trusted=True, session=())
        assert await store.sources.get(production, "c") == renamed
        assert await store.sources.get(production, "a") is None
        fields: tuple[dict[str, Any], ...] = ({"provided_id": "d"}, {"trusted": False}, {"session": TENANT})
        for field in fields:
            assert await store.sources.update(made, SourceUpdate(**field)) is None
        again = await store.sources.update(renamed, SourceUpdate(session=TENANT))
        assert again == replace(renamed, session=made.session)
        details = [each.details for each in await store.audit.list() if each.subject == "ds_1"]
        assert details[1:] == [
            {"provided_id": "c", "renamed_from": "a", "fields": "provided_id, trusted, session"},
            {"provided_id": "c", "fields": "session"},
        ]

    async def test_the_groups_of_each_data_source_are_counted(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        mappings: list[dict[str, str] | None] = [{"m": "a"}, {"m": "a"}, {"x": "a", "y": "a"}, {"m": "a", "n": "ö"}]
        for number, (place, mapping) in enumerate([(production, each) for each in (*mappings, None)] + [(other, None)]):
            draft = GroupDraft(f"g{number}", "G", mapping=mapping)
            await store.groups.get_or_create(place, draft, make_token())
        assert dict(await store.sources.count_mapped(production)) == {frozenset("a"): 3, frozenset("aö"): 1}
        assert dict(await store.sources.count_mapped(other)) == {}

    async def test_a_data_source_can_be_deleted_by_either_id(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        for reference in ("ds_1", "a"):
            made = await store.sources.create(production, "ds_1", SourceDraft("a", URL))
            with pytest.raises(UnknownDataSource):
                await store.sources.delete(other, reference)
            assert await store.sources.delete(production, reference) == made
            assert list(await store.sources.list(production)) == []
            with pytest.raises(UnknownDataSource):
                await store.sources.delete(production, reference)
