"""The port of ``store.environments``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tenantry.groups import UNNAMED, Author, Environment, Tag


class EnvironmentStore(Protocol):
    """Reads and writes environments, and the hosts whose pages may embed their dashboards."""

    async def create(
        self,
        name: str,
        tag: Tag,
        *,
        external_data_sources: bool = False,
        grace_seconds: int = 0,
        author: Author = UNNAMED,
    ) -> Environment:
        """Raises AlreadyExists."""
        ...

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        """Sets the grace of later rotations; a running grace stays. Raises UnknownEnvironment."""
        ...

    async def get(self, name: str) -> Environment | None:
        """The environment of this name, or None."""
        ...

    async def list(self) -> Sequence[Environment]:
        """All environments, oldest first."""
        ...

    async def set_embedding_hosts(
        self, environment: Environment, hosts: Sequence[str], *, author: Author = UNNAMED
    ) -> tuple[str, ...]:
        """Replaces the origins whose pages may embed, stored exactly as given; at first there are none.
        Raises UnknownEnvironment."""
        ...

    async def embedding_hosts(self) -> Mapping[str, tuple[str, ...]]:
        """The origins of each environment that has any, by its name. Never cached."""
        ...
