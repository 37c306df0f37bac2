from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from tenantry.errors import TenantryError
from tenantry.groups import Record

Properties: TypeAlias = Mapping[str, Any] | Record | None
"""The properties of a group, or None."""


class PropertyContract(Protocol):
    """Rules that properties must satisfy before they are written, such as
    ``tenantry.sql.checks.contract.QueryContract``.

    Violations are refused if ``refuses`` is true, and logged otherwise.
    """

    refuses: bool

    def schema_errors(self, environment: str, properties: Properties) -> Iterable[TenantryError]:
        """The errors in a new group's properties."""
        ...

    def errors(self, environment: str, before: Properties, after: Properties) -> Iterable[TenantryError]:
        """The errors in an update of properties."""
        ...
