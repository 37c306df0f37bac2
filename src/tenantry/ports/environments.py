from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tenantry.groups import UNNAMED, Author, Environment, Tag


class EnvironmentStore(Protocol):
    """Stores environments."""

    async def create(
        self,
        name: str,
        tag: Tag,
        *,
        external_data_sources: bool = False,
        grace_seconds: int = 0,
        author: Author = UNNAMED,
    ) -> Environment:
        """Raises AlreadyExists (the name)."""
        ...

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        """Set the default grace for later rotations. Raises UnknownEnvironment."""
        ...

    async def get(self, name: str) -> Environment | None: ...

    async def list(self) -> Sequence[Environment]:
        """Oldest first."""
        ...

    async def set_embedding_hosts(
        self, environment: Environment, hosts: Sequence[str], *, author: Author = UNNAMED
    ) -> tuple[str, ...]:
        """Replace the origins whose pages may embed dashboards. Raises UnknownEnvironment."""
        ...

    async def embedding_hosts(self) -> Mapping[str, tuple[str, ...]]:
        """Read the origins of all environments that have any, by environment name."""
        ...
