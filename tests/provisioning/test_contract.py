"""What properties have to satisfy before they are written: refused, reported or rehearsed."""

from __future__ import annotations

import logging

import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import BreaksSavedQuery, InvalidProperties, UnknownGroup
from tenantry.groups import Environment, GroupChanges, GroupDraft, Tag
from tenantry.groups.property_schema import PropertySchema
from tenantry.provisioning import Provisioner
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.contract import QueryContract
from tenantry.tokens import KeyRing, SigningKey

QUERIES = {"by_region": SQLTemplate("select 1 from t where region = {{ region }}")}
SCHEMAS = {"production": PropertySchema({"properties": {"seats": {"type": "integer"}}})}
KEYS = KeyRing([SigningKey("k1", b"1" * 32)])


async def make(*, refuses: bool) -> tuple[MemoryStore, Environment, Provisioner]:
    """A store with the group acme, and a provisioner with the contract."""
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.CUSTOMER)
    await Provisioner(store, KEYS).get_or_create(environment, GroupDraft("acme", "Acme", {"region": "eu"}))
    return store, environment, Provisioner(store, KEYS, contract=QueryContract(QUERIES, SCHEMAS, refuses=refuses))


async def test_an_update_that_breaks_a_query_is_refused_and_nothing_is_written() -> None:
    """Red when the check comes after the write, or is left out."""
    store, environment, provisioner = await make(refuses=True)
    with pytest.raises(BreaksSavedQuery):
        await provisioner.update(environment, "acme", GroupChanges(properties={"regoin": "eu"}))
    with pytest.raises(InvalidProperties):
        await provisioner.update(environment, "acme", GroupChanges(properties={"region": "us", "seats": "x"}))
    with pytest.raises(BreaksSavedQuery):
        await provisioner.update(environment, "acme", GroupChanges(name="New", properties=None))
    issued = await store.groups.get(environment, "acme")
    assert issued is not None
    assert (issued.group.properties, issued.group.name, issued.group.revision) == ({"region": "eu"}, "Acme", 1)
    changed = await provisioner.update(environment, "acme", GroupChanges(name="New"))
    assert changed.group.name == "New", "an update of something else is not held to it"
    changed = await provisioner.update(environment, "acme", GroupChanges(properties={"region": "us", "seats": 3}))
    assert changed.group.properties == {"region": "us", "seats": 3}


async def test_a_new_group_is_held_to_the_schema_and_not_to_the_queries() -> None:
    """Get-or-create sends an id alone. Red when no group can be made without all that the queries need."""
    _, environment, provisioner = await make(refuses=True)
    assert (await provisioner.get_or_create(environment, GroupDraft("globex", "Globex"))).created
    assert (await provisioner.get_or_create(environment, GroupDraft("hooli", "Hooli", {"plan": "x"}))).created
    with pytest.raises(InvalidProperties):
        await provisioner.get_or_create(environment, GroupDraft("initech", "Initech", {"seats": "many"}))
    assert await provisioner.get(environment, "initech") is None


async def test_where_it_only_reports_the_log_says_it(caplog: pytest.LogCaptureFixture) -> None:
    """The write goes on; the log names the group and the query, and no value. Red when a report refuses."""
    _, environment, provisioner = await make(refuses=False)
    with caplog.at_level(logging.WARNING, "tenantry.provisioning"):
        changed = await provisioner.update(environment, "acme", GroupChanges(properties={"seats": "secret"}))
    assert changed.group.properties == {"seats": "secret"}
    assert [record.getMessage().rpartition("[")[2] for record in caplog.records] == [
        "invalid_properties]",
        "breaks_saved_query]",
    ]
    assert "user group acme of production: " in caplog.text
    assert "by_region needs region" in caplog.text
    assert "secret" not in caplog.text


async def test_a_rehearsal_writes_nothing() -> None:
    """It gives all errors, whether the contract refuses or not. Red when it stops at the first, or writes."""
    store, environment, provisioner = await make(refuses=False)
    errors = await provisioner.rehearse(environment, "acme", GroupChanges(properties={"seats": "x"}))
    assert [type(each) for each in errors] == [InvalidProperties, BreaksSavedQuery]
    assert await provisioner.rehearse(environment, "acme", GroupChanges(properties={"region": "us"})) == ()
    assert await provisioner.rehearse(environment, "acme", GroupChanges(name="New")) == ()
    assert await Provisioner(store, KEYS).rehearse(environment, "acme", GroupChanges(properties=None)) == ()
    with pytest.raises(UnknownGroup):
        await provisioner.rehearse(environment, "nobody", GroupChanges(properties=None))
    issued = await store.groups.get(environment, "acme")
    assert issued is not None
    assert issued.group.revision == 1
