"""Operator: somebody with the store at hand, in this process, who makes groups and rotates their tokens."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import Environment, GroupChanges, GroupDraft, Tag
from tenantry.provisioning import Provisioner, issue_api_token
from tenantry.tokens.keys import SigningKeys, create_key_file

T = TypeVar("T")


class Operator:
    """Writes as a process of the host with this run folder does. A context manager. Plain calls, no event loop needed.

    ``secret`` is an API token for ``/api/user`` in the environment that it made.
    """

    def __init__(self, database: str, keys: Path, run: Path) -> None:
        self._runner = asyncio.Runner()
        self.database = database
        self.keys = SigningKeys.from_file(keys)
        self.store = SQLStore(database, deadline=60, run_dir=run)
        self.provisioner = Provisioner(self.store, self.keys)
        self.environment: Environment
        self.secret = ""
        self._announced: list[Any] = []

    def __enter__(self) -> Operator:
        self.environment = self.do(self._environment())
        self.secret, _ = self.do(issue_api_token(self.store.api_tokens, self.environment, label="fleet"))
        return self

    def __exit__(self, *_: object) -> None:
        for bus in self._announced:
            self.do(bus.aclose())
        self.do(self.store.aclose())
        self._runner.close()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs it to its end."""
        return self._runner.run(work)

    def announce_on(self, bus: Any) -> None:
        """A bus that hears of each write."""
        self.store.subscribe(bus)
        self._announced.append(bus)

    def create(self, group: str | None = None) -> str:
        """A new group's token."""
        draft = GroupDraft(group or f"g-{secrets.token_hex(6)}", "Group", {"n": 0})
        return self.do(self.provisioner.get_or_create(self.environment, draft)).token

    def rotate(self, token: str, grace: int | None = None) -> str:
        """The token after this one."""
        options: dict[str, Any] = {} if grace is None else {"grace_seconds": grace}
        return self.do(self.provisioner.rotate(self.environment, token, **options)).token

    def update(self, group: str, number: int) -> None:
        """Gives the group the property ``n``."""
        self.do(self.provisioner.update(self.environment, group, GroupChanges(properties={"n": number})))

    def delete(self, group: str) -> None:
        """Deletes the group."""
        self.do(self.provisioner.delete(self.environment, group))

    def live(self, group: str) -> str | None:
        """The token that the store holds for this group."""
        found = self.do(self.provisioner.get(self.environment, group))
        return None if found is None else found.token

    def version(self, token: str) -> int:
        """The version that a token says it is."""
        return self.keys.read(token.encode()).version

    async def _environment(self) -> Environment:
        found = await self.store.environments.get("production")
        return found or await self.store.environments.create("production", Tag.CUSTOMER)


def prepare(database: str, keys: Path) -> None:
    """Makes the tables, and the signing keys if there are none."""
    migrate(database)
    if not keys.exists():
        create_key_file(keys)
