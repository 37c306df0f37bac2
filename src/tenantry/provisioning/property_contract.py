from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from tenantry.errors import TenantryError
from tenantry.groups import Record

Properties: TypeAlias = Mapping[str, Any] | Record | None


class PropertyContract(Protocol):
    """Checks properties before they are written. QueryContract is an implementation.

    ``refuses``: whether a write with errors is refused. If not, its errors are only logged."""

    refuses: bool

    def schema_errors(self, environment: str, properties: Properties) -> Iterable[TenantryError]:
        """Return the errors in the properties of a new group."""
        ...

    def errors(self, environment: str, before: Properties, after: Properties) -> Iterable[TenantryError]:
        """Return the errors of the properties ``after``, and of the change from ``before`` to ``after``."""
        ...
