"""OneSource: what resolves every reference to the same data source, for a DataSources that is measured alone; and the
groups that ask it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from tenantry.groups import Environment, RegisteredSource, Tag, UserGroup, freeze

ENVIRONMENT: Final = Environment(1, "production", Tag.CUSTOMER)
SCHEMA: Final = "main"
"""The schema that is the one data source to each group."""


class OneSource:
    """A directory of one data source, at ``url``; ``tables`` is its declaration of guarded tables, as JSON."""

    def __init__(self, url: str, tables: str = "") -> None:
        self.sources = self
        self._source = RegisteredSource("ds_1", SCHEMA, ENVIRONMENT, url, tables=tables)

    async def get(self, environment: Environment, reference: str) -> RegisteredSource:
        """Whatever is asked for."""
        return self._source


def group(name: str = "acme", properties: Mapping[str, Any] | None = None) -> UserGroup:
    """A user group that may ask the data source; another name is another group."""
    return UserGroup(
        team_id=1,
        provided_id=name,
        name=name,
        environment=ENVIRONMENT,
        properties=freeze(properties or {}),
        mapping=freeze({SCHEMA: "ds_1"}),
        handle=blake2b(name.encode(), digest_size=8).digest(),
        token_version=1,
        revision=1,
    )
