"""S5: of many who rotate one token one wins; of many who create one group one creates."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.faults.postgres import PostgresServer
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.errors import TokenAlreadyRotated
from tenantry.groups import Environment, GroupDraft, Issued, Tag
from tenantry.testing import make_token

_STORES = 4
_LANES = 10


async def race(url: str, rounds: int, run: Path) -> int:
    """The wrong outcomes of so many rounds, half of each kind, between stores that share nothing but the database."""
    stores = [SQLStore(url, deadline=60, run_dir=run) for _ in range(_STORES)]
    environment = await stores[0].environments.create("production", Tag.CUSTOMER)
    lanes = [_lane(stores, environment, f"lane-{lane}", rounds // 2 // _LANES) for lane in range(_LANES)]
    wrong = sum(await asyncio.gather(*lanes))
    for store in stores:
        await store.aclose()
    return wrong


async def _lane(stores: Sequence[SQLStore], environment: Environment, name: str, rounds: int) -> int:
    """One group's rotations, each followed by the creation of another group."""
    issued = await stores[0].groups.get_or_create(environment, GroupDraft(name, "Race"), make_token())
    wrong = 0
    for number in range(rounds):
        won = await asyncio.gather(*(_rotate(store, environment, issued) for store in stores))
        winners = [each for each in won if each is not None]
        kept = await stores[number % _STORES].groups.get(environment, name)
        if kept is None or len(winners) != 1 or kept.token != winners[0].token:
            return rounds - number  # all that would have come after it
        wrong += kept.token.version != issued.token.version + 1
        issued = kept
        wrong += await _create(stores, environment, f"{name}-{number}")
    return wrong


async def _rotate(store: SQLStore, environment: Environment, issued: Issued) -> Issued | None:
    try:
        return await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    except TokenAlreadyRotated:
        return None


async def _create(stores: Sequence[SQLStore], environment: Environment, name: str) -> bool:
    made = await asyncio.gather(
        *(store.groups.get_or_create(environment, GroupDraft(name, "Race"), make_token()) for store in stores)
    )
    return sum(each.created for each in made) != 1 or len({each.token for each in made}) != 1


def measure(effort: Effort) -> Measured:
    """Both stores."""
    plan = {"SQLite": effort.pick(9_000, 25_000), "PostgreSQL": effort.pick(1_000, 5_000)}
    wrong = 0
    with TemporaryDirectory(prefix="tenantry-races-") as name, PostgresServer() as postgres:
        urls = {"SQLite": f"sqlite:///{name}/t.db", "PostgreSQL": postgres.create_database()}
        for engine, url in urls.items():
            migrate(url)
            wrong += asyncio.run(race(url, plan[engine], Path(name)))
            effort.say(f"{engine}: {plan[engine]:,} rounds, {wrong} wrong so far")
    rounds = sum(plan.values())
    return Measured(f"{wrong} in {rounds:,} rounds of {_STORES}", wrong == 0, {"wrong": wrong, "rounds": rounds})


CHECKS = (Check("S5", "Races of rotation and creation: wrong outcomes", "0 in 10,000 rounds", measure, (120, 300)),)
