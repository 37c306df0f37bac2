"""PropertyContract: what the properties of groups have to satisfy before they are written, as a Provisioner asks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from tenantry.errors import TenantryError
from tenantry.groups import Record

Properties: TypeAlias = Mapping[str, Any] | Record | None
"""The properties of a group; None: it has none."""


class PropertyContract(Protocol):
    """What the properties of groups have to satisfy: ``tenantry.sql.checks.contract.QueryContract`` is one.

    ``refuses``: what breaks it is refused; else it is logged and written all the same.
    """

    refuses: bool

    def schema_errors(self, environment: str, properties: Properties) -> Iterable[TenantryError]:
        """What is wrong with the properties of a new group, in the environment of this name."""
        ...

    def errors(self, environment: str, before: Properties, after: Properties) -> Iterable[TenantryError]:
        """What is wrong with an update of properties."""
        ...
