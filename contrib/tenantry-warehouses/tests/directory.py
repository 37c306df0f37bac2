"""A directory of data sources, and the group that asks them."""

from __future__ import annotations

from typing import Any

from tenantry.groups import Environment, RegisteredSource, Tag, UserGroup

PRODUCTION = Environment(1, "production", Tag.CUSTOMER)


class Directory:
    """A SourceDirectory in a dict."""

    def __init__(self) -> None:
        self.sources = self
        self._sources: dict[str, RegisteredSource] = {}

    def add(self, number: int, url: str, **fields: Any) -> RegisteredSource:
        source = RegisteredSource(f"ds_{number}", f"own_{number}", PRODUCTION, url, **fields)
        self._sources[source.id] = source
        return source

    async def get(self, _environment: Environment, reference: str) -> RegisteredSource | None:
        return self._sources.get(reference)


def group(**mapping: str) -> UserGroup:
    """A group whose schemas are mapped as the keyword arguments say."""
    return UserGroup(
        team_id=1,
        provided_id="acme",
        name="acme",
        environment=PRODUCTION,
        properties={},
        mapping=mapping,
        handle=b"12345678",
        token_version=1,
        revision=1,
    )
