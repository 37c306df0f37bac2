"""A process of the race and crash tests: what it does until it has done or is killed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event

from tenantry.backends.sql import SQLStore
from tenantry.dashboards.single_use_codes import Purpose, SingleUseCodes
from tenantry.errors import TokenAlreadyRotated
from tenantry.groups import Environment, GroupDraft, Issued
from tenantry.testing import make_token

Say = Callable[[Mapping[str, object]], None]


async def _create(say: Say, store: SQLStore, environment: Environment) -> None:
    for number in range(20):
        issued = await store.groups.get_or_create(environment, GroupDraft(f"g{number}", "G"), make_token())
        say({"id": issued.group.team_id, "nonce": issued.token.nonce.hex(), "created": issued.created})


async def _rotate_once(store: SQLStore, issued: Issued) -> Issued | None:
    try:
        return await store.groups.rotate(
            issued.group.environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16)
        )
    except TokenAlreadyRotated:
        return None


async def _rotate(say: Say, store: SQLStore, environment: Environment) -> None:
    for _ in range(20):
        seen = await store.groups.get(environment, "acme")
        assert seen is not None
        done = await _rotate_once(store, seen)
        say({"version": seen.token.version + 1, "won": done is not None})


async def _rotate_for_ever(say: Say, store: SQLStore, environment: Environment) -> None:
    current = await store.groups.get(environment, "acme")
    while current is not None:
        current = await _rotate_once(store, current)
        assert current is not None
        say({"version": current.token.version, "nonce": current.token.nonce.hex()})


async def _rotate_own(say: Say, store: SQLStore, environment: Environment) -> None:
    """Rotates a group that nobody else rotates."""
    current = await store.groups.get_or_create(environment, GroupDraft(secrets.token_hex(8), "G"), make_token())
    for _ in range(40):
        done = await _rotate_once(store, current)
        assert done is not None
        current = done
        say({"handle": current.token.handle.hex()})


async def _redeem(say: Say, store: SQLStore, environment: Environment) -> None:
    """Tries each of twenty codes, which all processes know."""
    codes = SingleUseCodes(store.codes)
    for number in range(20):
        say({"payload": await codes.redeem(Purpose.EMBED, f"{number:043}")})


async def _work(pipe: Connection, go: Event, verb: str, url: str) -> None:
    store = SQLStore(url, deadline=30)
    environment = await store.environments.get("production")
    assert environment is not None
    pipe.send("ready")
    await asyncio.to_thread(go.wait)
    await _VERBS[verb](pipe.send, store, environment)
    await store.aclose()


def work(pipe: Connection, go: Event, verb: str, url: str) -> None:
    """Sends a mapping for each step, once there is ``go``."""
    asyncio.run(_work(pipe, go, verb, url))


_VERBS: dict[str, Callable[[Say, SQLStore, Environment], Awaitable[None]]] = {
    "create": _create,
    "redeem": _redeem,
    "rotate": _rotate,
    "rotate-own": _rotate_own,
    "rotate-for-ever": _rotate_for_ever,
}
