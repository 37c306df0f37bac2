"""The methods for data sources, from threads and from asyncio."""

from __future__ import annotations

import uuid

import pytest

from tenantry.client import AsyncClient, Client
from tenantry.client.answers import ListedSource, Reply
from tenantry.client.calls import NoReply, RetryLimits
from tenantry.client.methods import ApiCalls
from tenantry.errors import AlreadyExists, DataSourceNotFound, InvalidSource, SourceInUse
from tests.client.conftest import Live

URL = "mysql://reader@db.example.com/shop"
TABLES = {"tables": {"orders": "customer_id"}}


def new_name() -> str:
    return f"warehouse-{uuid.uuid4()}"


def test_the_life_of_a_data_source(live: Live) -> None:
    """Red when a field is not sent, or None of ``tables`` is taken for an absent one."""
    name = new_name()
    with Client(live.url, live.reader) as client, Client(live.url, live.caller) as owner:
        rehearsed = client.create_data_source(name, URL, test=False, dry_run=True)
        assert (rehearsed.name, client.data_source(name)) == (name, None)
        made = client.create_data_source(name, URL, password="s3cret", tables=TABLES, test=False)
        assert isinstance(made, ListedSource)
        assert (made.engine, made.url, made.secrets) == ("mysql", URL.replace("@", ":***@"), "encrypted")
        assert (made.tables, made.groups, made.session, made.trusted) == (TABLES, 0, {}, False)
        assert client.data_source(made.id) == client.data_source(name) == made
        with pytest.raises(AlreadyExists):
            client.create_data_source(name, URL, test=False)
        with pytest.raises(InvalidSource):
            client.update_data_source(name, url="postgresql://u@elsewhere/x")
        assert client.update_data_source(name, url=URL, test=False).secrets is None
        assert client.update_data_source(name, tables=None).tables is None
        renamed = client.update_data_source(name, new_name=f"{name}-2", test=False)
        assert (renamed.id, renamed.name) == (made.id, f"{name}-2")
        assert client.update_data_source(made.id, new_name=name, session=None).name == name
        group = owner.get_or_create(new_name(), mapping={"main": name})
        with pytest.raises(SourceInUse):
            client.delete_data_source(name)
        gone = client.delete_data_source(name, force=True)
        assert gone is not None
        assert gone.groups == 1
        owner.delete(group.provided_id)
        with pytest.raises(DataSourceNotFound):
            client.delete_data_source(name)


async def test_pages_from_asyncio(live: Live) -> None:
    names = sorted(new_name() for _ in range(3))
    async with AsyncClient(live.url, live.reader) as client:
        for name in names:
            await client.create_data_source(name, URL, test=False)
        seen = [each.name async for each in client.data_sources(page_size=2)]
        assert [name for name in seen if name in names] == names
        found = await client.data_source(names[0])
        assert found is not None
        assert (await client.update_data_source(names[0], tables=TABLES, test=False)).tables == TABLES
        for name in names:
            assert await client.delete_data_source(name) is not None
    with Client(live.url, live.reader) as again:
        assert not {each.name for each in again.data_sources()} & set(names)


def test_a_deletion_whose_answer_was_lost() -> None:
    """The second attempt finds nothing, because the first one deleted it: that is no error."""
    call = ApiCalls("http://tenantry.test", "ugkc_x", limits=RetryLimits(2, 0), get_method="GET").delete_data_source(
        "w", force=True, dry_run=False
    )
    sent = next(call)
    assert sent.target == "/api/data-sources?name=w&force=true"
    call.send(NoReply("reset"))
    call.send(None)
    missing = b'{"success":0,"error":{"code":"data_source_not_found","message":"none"},"request_id":"r"}'
    with pytest.raises(StopIteration) as done:
        call.send(Reply(404, missing))
    assert done.value.value is None
