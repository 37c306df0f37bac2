from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from tenantry.errors import TenantryError
from tenantry.groups import Record

Properties: TypeAlias = Mapping[str, Any] | Record | None


class PropertyContract(Protocol):
    """Rules for properties, checked before properties are written. ``tenantry.sql.checks.contract.QueryContract``
    implements it.

    If ``refuses`` is false, violations are only logged."""

    refuses: bool

    def schema_errors(self, environment: str, properties: Properties) -> Iterable[TenantryError]:
        """Return the errors in a new group's properties."""
        ...

    def errors(self, environment: str, before: Properties, after: Properties) -> Iterable[TenantryError]:
        """Return the errors in an update from ``before`` to ``after``."""
        ...
