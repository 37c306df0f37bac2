"""What becomes of a write whose caller is cancelled, whose values are wrong, or whose group is made again."""

import asyncio
import secrets
import traceback

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.errors import UnknownEnvironment
from tenantry.groups import Environment, GroupChanges, GroupDraft, Issued, Tag
from tenantry.testing import make_token
from tests.backends.store.acme import acme, rotate


async def test_a_cancelled_caller_leaves_a_whole_write(url: str) -> None:
    """A write whose caller is cancelled still ends, and the listeners are called after the commit.

    Red when the write is cancelled with its caller, or ``changed`` is called at the cancellation.
    """
    store = SQLStore(url)
    issued = await acme(store)
    committed: list[int | None] = []

    class Listener:
        def changed(self, handle: bytes, generation: int) -> None:
            task = asyncio.ensure_future(store.groups.get(issued.group.environment, "acme"))
            task.add_done_callback(lambda done: committed.append(done.result().token.version))

    store.subscribe(Listener())
    rotating = asyncio.create_task(rotate(store, issued))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    rotating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await rotating
    async with asyncio.timeout(120):
        while not committed:
            await asyncio.sleep(0.005)
    assert committed == [2]
    await store.aclose()


async def test_driver_errors_show_no_values(url: str) -> None:
    """An error of the driver, with all its causes printed, holds neither properties nor nonce.

    Red when the parameters are not hidden: SQLAlchemy writes them into its messages.
    """
    store = SQLStore(url)
    nowhere = Environment(77, "nowhere", Tag.CUSTOMER)
    secret = secrets.token_hex(8)
    token = make_token(nonce=secret.encode())
    with pytest.raises(UnknownEnvironment) as caught:
        await store.groups.get_or_create(nowhere, GroupDraft("acme", "Acme", {"key": secret}), token)
    text = "".join(traceback.format_exception(caught.value))
    assert caught.value.__cause__ is not None
    assert secret not in text
    assert secret.encode().hex() not in text
    await store.aclose()


async def test_a_group_made_again_is_not_hit_by_a_write_to_the_old_one(url: str) -> None:
    """A write announced for one handle never changes the group that has taken the id since: it is announced anew.

    Red when the write does not compare the handle: the listeners would be called for the wrong group.
    """
    store, other = SQLStore(url), SQLStore(url)
    issued = await acme(store)
    environment = issued.group.environment
    again = make_token()
    notified: list[bytes] = []
    swapped = False

    class Listener:
        def changed(self, handle: bytes, generation: int) -> None:
            notified.append(handle)

    read = store.groups._get

    async def read_and_swap(*arguments: object) -> Issued | None:
        nonlocal swapped
        found = await read(*arguments)  # type: ignore[arg-type]  # passed on as they came
        if not swapped:  # the moment between look-up and write
            swapped = True
            await other.groups.delete(environment, "acme")
            await other.groups.get_or_create(environment, GroupDraft("acme", "Acme"), again)
        return found

    store.groups._get = read_and_swap  # type: ignore[method-assign]
    store.subscribe(Listener())
    changed = await store.groups.update(environment, "acme", GroupChanges(name="New"))
    assert (changed.group.handle, changed.group.name) == (again.handle, "New")
    assert notified == [again.handle]
    await store.aclose()
    await other.aclose()
