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

    If ``refuses`` is true, a violation raises its error; otherwise it is only logged.
    """

    refuses: bool

    def schema_errors(self, environment: str, properties: Properties) -> Iterable[TenantryError]:
        """The violations in a new group's properties."""
        ...

    def errors(self, environment: str, before: Properties, after: Properties) -> Iterable[TenantryError]:
        """The violations of an update that changes the properties from ``before`` to ``after``."""
        ...
