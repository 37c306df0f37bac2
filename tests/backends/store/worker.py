"""A process of the race and crash tests: ``python -m tests.backends.store.worker VERB URL`` prints JSON lines."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys

from tenantry.backends.sql import SQLStore
from tenantry.dashboards.single_use_codes import Purpose, SingleUseCodes
from tenantry.errors import TokenAlreadyRotated
from tenantry.groups import Environment, GroupDraft, Issued
from tenantry.testing import make_token


def _say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


async def _create(store: SQLStore, environment: Environment) -> None:
    for number in range(20):
        issued = await store.groups.get_or_create(environment, GroupDraft(f"g{number}", "G"), make_token())
        _say(id=issued.group.team_id, nonce=issued.token.nonce.hex(), created=issued.created)


async def _rotate_once(store: SQLStore, issued: Issued) -> Issued | None:
    try:
        return await store.groups.rotate(
            issued.group.environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16)
        )
    except TokenAlreadyRotated:
        return None


async def _rotate(store: SQLStore, environment: Environment) -> None:
    for _ in range(20):
        seen = await store.groups.get(environment, "acme")
        assert seen is not None
        done = await _rotate_once(store, seen)
        _say(version=seen.token.version + 1, won=done is not None)


async def _rotate_for_ever(store: SQLStore, environment: Environment) -> None:
    current = await store.groups.get(environment, "acme")
    while current is not None:
        current = await _rotate_once(store, current)
        assert current is not None
        _say(version=current.token.version, nonce=current.token.nonce.hex())


async def _rotate_own(store: SQLStore, environment: Environment) -> None:
    """Rotates a group that nobody else rotates."""
    current = await store.groups.get_or_create(environment, GroupDraft(secrets.token_hex(8), "G"), make_token())
    for _ in range(40):
        done = await _rotate_once(store, current)
        assert done is not None
        current = done
        _say(handle=current.token.handle.hex())


async def _redeem(store: SQLStore, environment: Environment) -> None:
    """Tries each of twenty codes, which all processes know."""
    codes = SingleUseCodes(store.codes)
    for number in range(20):
        _say(payload=await codes.redeem(Purpose.EMBED, f"{number:043}"))


async def main(verb: str, url: str) -> None:
    store = SQLStore(url, deadline=30)
    environment = await store.environments.get("production")
    assert environment is not None
    _say(ready=True)
    await asyncio.to_thread(sys.stdin.readline)
    await _VERBS[verb](store, environment)
    await store.aclose()


_VERBS = {
    "create": _create,
    "redeem": _redeem,
    "rotate": _rotate,
    "rotate-own": _rotate_own,
    "rotate-for-ever": _rotate_for_ever,
}

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
