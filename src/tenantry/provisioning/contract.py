"""PropertyContract: rules that properties have to satisfy before a Provisioner writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from tenantry.errors import TenantryError
from tenantry.groups import Record

Properties: TypeAlias = Mapping[str, Any] | Record | None
"""The properties of a group; None: it has none."""


class PropertyContract(Protocol):
    """Rules for properties: ``tenantry.sql.checks.contract.QueryContract`` is one.

    ``refuses``: violations are refused; else they are logged.
    """

    refuses: bool

    def schema_errors(self, environment: str, properties: Properties) -> Iterable[TenantryError]:
        """The errors in the properties of a new group, in this environment."""
        ...

    def errors(self, environment: str, before: Properties, after: Properties) -> Iterable[TenantryError]:
        """The errors in an update of properties."""
        ...
