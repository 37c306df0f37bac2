# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

from dataclasses import replace

import pytest

from tenantry.errors import (
    AlreadyExists,
    InvalidSource,
    UnknownDataSource,
    UnknownEnvironment,
)
from tenantry.groups import (
    Environment,
    Tag,
)
from tenantry.ports import LeasedSources, Store

NOWHERE = Environment(77, "nowhere", Tag.CUSTOMER)
URL = "postgresql://reader:s3cret@warehouse/sales"


class SourceContract:
    async def test_a_data_source_is_found_by_either_id(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.TESTING)
        made = await store.sources.create(production, source_id="ds_1", provided_id="warehouse", url=URL, trusted=True)
        assert (made.id, made.provided_id, made.url, made.trusted) == ("ds_1", "warehouse", URL, True)
        assert made.environment == production
        for reference in ("ds_1", "warehouse"):
            assert await store.sources.get(production, reference) == made
            assert await store.sources.get(other, reference) is None
        assert await store.sources.get(production, "Warehouse") is None
        twin = await store.sources.create(other, source_id="ds_1", provided_id="warehouse", url=URL)
        assert not twin.trusted
        assert list(await store.sources.list(production)) == [made]

    async def test_a_data_source_keeps_its_session_variables(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        given = {"app.tenant": "{{user_group.id}}", "app.plan": "{{ user_group.properties.plan }}"}
        made = await store.sources.create(
            production, source_id="ds_1", provided_id="a", url="postgresql://u@127.0.0.1:1/d", session=given
        )
        expected = (("app.tenant", "{{ user_group.id }}"), ("app.plan", "{{ user_group.properties.plan }}"))
        assert made.session == expected
        assert await store.sources.get(production, "a") == made
        if isinstance(store, LeasedSources):
            assert (await store.sources.get_at_snapshot(production, "ds_1")).source == made
        assert list(await store.sources.list(production)) == [made]
        for url, session in (("sqlite:////a.db", given), ("postgresql://u@127.0.0.1:1/d", {"role": "x"})):
            with pytest.raises(InvalidSource):
                await store.sources.create(production, source_id="ds_2", provided_id="b", url=url, session=session)
        plain = await store.sources.create(production, source_id="ds_3", provided_id="c", url=URL)
        assert plain.session == ()
        assert (await store.sources.delete(production, "a")).session == expected
        assert list(await store.sources.list(production)) == [plain]

    async def test_both_ids_of_a_data_source_are_unique(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        made = await store.sources.create(production, source_id="ds_1", provided_id="a", url=URL)
        for source_id, provided_id in (("ds_1", "b"), ("ds_2", "a")):
            with pytest.raises(AlreadyExists):
                await store.sources.create(production, source_id=source_id, provided_id=provided_id, url="x://")
        assert list(await store.sources.list(production)) == [made]
        with pytest.raises(UnknownEnvironment):
            await store.sources.create(NOWHERE, source_id="ds_9", provided_id="z", url=URL)

    async def test_the_url_of_a_data_source_replaces_the_one_that_was_read(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        made = await store.sources.create(production, source_id="ds_1", provided_id="a", url=URL, trusted=True)
        twin = await store.sources.create(other, source_id="ds_1", provided_id="a", url=URL)
        written = await store.sources.set_url(made, "encrypted")
        assert written == replace(made, url="encrypted")
        assert await store.sources.get(production, "a") == written
        assert await store.sources.set_url(made, "late") is None
        assert await store.sources.get(other, "a") == twin
        await store.sources.delete(production, "a")
        assert await store.sources.set_url(replace(made, url="encrypted"), "gone") is None
        assert list(await store.sources.list(production)) == []

    async def test_a_data_source_can_be_deleted_by_either_id(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        for reference in ("ds_1", "a"):
            made = await store.sources.create(production, source_id="ds_1", provided_id="a", url=URL)
            with pytest.raises(UnknownDataSource):
                await store.sources.delete(other, reference)
            assert await store.sources.delete(production, reference) == made
            assert list(await store.sources.list(production)) == []
            with pytest.raises(UnknownDataSource):
                await store.sources.delete(production, reference)
